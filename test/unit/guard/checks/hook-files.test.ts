import type { ToolCall } from '../../../../src/agents/dialect.ts';
import { FILES_ANYWHERE } from '../../../../src/guard/checks/of-files.ts';
import { refuses, table } from '../../../support/guard-table.ts';

const write = (path: string): { tool: ToolCall } => ({ tool: { kind: 'write', path, content: '' } });
const refused = [
  refuses(["keep git-handoff's hooks from judging commits", 'session bbbbbbbb is', 'Nothing was changed']),
];
const nobody = { own: new Set<never>(), foreign: new Set<never>(), live: [] };

table(FILES_ANYWHERE, 'hook-files', [
  ['a hook is written beside a peer', write('.git/hooks/pre-commit'), refused],
  ['what pre-commit keeps of a hook is', write('.git/hooks/commit-msg.legacy'), refused],
  ['the configuration is', write('.git/config'), refused],
  ['a worktree’s configuration is', write('.git/config.worktree'), refused],
  [
    'a hook is, in the folder of core.hooksPath',
    { ...write('.husky/pre-push'), config: [['core.hookspath', '.husky']] },
    refused,
  ],
  [
    'a hook is, but no longer where git looks for it',
    { ...write('.git/hooks/pre-commit'), config: [['core.hookspath', '.husky']] },
    [],
  ],
  [
    'a hook is, by a path through a patch',
    { tool: { kind: 'patch', files: [{ path: '.git/hooks/pre-push', change: 'delete' }] } },
    refused,
  ],
  ['a hook that is none of ours is written', write('.git/hooks/post-merge'), []],
  ['a file is written that only has such a name', write('src/pre-commit'), []],
  [
    'a hook is written where nobody else is at work',
    { ...write('.git/hooks/pre-commit'), git: { people: () => Promise.resolve(nobody) } },
    [],
  ],
]);
