import { COMMANDS_ANYWHERE } from '../../../../src/guard/checks/of-commands.ts';
import { refuses, table } from '../../../support/guard-table.ts';

const refused = (words: string) => [refuses([words, 'behind git-handoff'], { owners: undefined })];
const hasRefs = (has: boolean) => ({
  facts: { isOn: false },
  git: { hasRefs: (_: string, prefix: string) => Promise.resolve(has && prefix === 'refs/handoffs/') },
});

table(COMMANDS_ANYWHERE, 'handoff-refs', [
  ...(
    [
      ['git update-ref -d refs/handoffs/main/x', 'refs/handoffs/main/x'],
      ['git update-ref refs/handoffs-local/kept/main/x HEAD', 'refs/handoffs-local/kept/main/x'],
      ['git push . :refs/handoffs-work/main/auth-refresh/x', 'refs/handoffs-work/main/auth-refresh/x'],
      [
        'git update-ref -d refs/handoffs-local/work/main/auth-refresh/x',
        'refs/handoffs-local/work/main/auth-refresh/x',
      ],
      ['git push origin :refs/handoffs-local/x . && git fetch . +refs/heads/*:refs/*', 'refs/*'],
      ['git fetch origin +refs/handoffs/*:refs/handoffs/*', 'refs/handoffs/*'],
      ['git fetch origin +refs/x/*:refs/handoffs/main/*', 'refs/handoffs/main/*'],
    ] as const
  ).map(([command, ref]) => [command, { command }, refused(ref)] as const),
  ...[
    'git fetch origin refs/handoffs/*:refs/handoffs-remote/origin/*',
    'git update-ref refs/handoffsome/x HEAD',
    'git update-ref refs/heads/main HEAD~1',
    'git handoff list',
  ].map((command) => [command, { command }, []] as const),
  [
    'git-handoff is switched off, and there are handoffs',
    { command: 'git update-ref -d refs/handoffs/main/x', ...hasRefs(true) },
    refused('refs/handoffs/main/x'),
  ],
  [
    'git-handoff is switched off, and there are none',
    { command: 'git update-ref -d refs/handoffs/main/x', ...hasRefs(false) },
    [],
  ],
]);
