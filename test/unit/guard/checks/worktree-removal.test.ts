import { appendEvents } from '../../../../src/sessions/journal.ts';
import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import { PEER, claim, refuses, table, worktreeIdOf } from '../../../support/guard-table.ts';

const worktrees = { wt: 'topic', other: 'fix' };
const there = { worktrees, peers: [{ session: PEER, worktree: 'wt' }] };
const nested = { worktrees: { 'repo/wt': 'topic' }, peers: [{ session: PEER, worktree: 'wt' }] };
/** A peer that began in the main worktree, and later made a call in `wt`. */
const visiting = {
  worktrees,
  peers: [
    { session: PEER, startedAt: 1 },
    { session: PEER, worktree: 'wt', startedAt: 2 },
  ],
};
const refused = [
  refuses([
    'would remove or move the worktree wt, in which session bbbbbbbb is at work',
    'Nothing was changed',
  ]),
];

table(COMMANDS_IN_TREE, 'worktree-removal', [
  ...[
    'git worktree remove ../wt',
    'git worktree remove --force wt',
    'git worktree move ../wt ../elsewhere',
    'rm -rf ../wt',
    'rm -rf ../wt/.git',
    'rm -rf ../*',
  ].map((command) => [`a peer works there: ${command}`, { command, ...there }, refused] as const),
  ...['git worktree remove ../other', 'git worktree list', 'rm -rf ../wt/src', 'rm -rf ../wt-2'].map(
    (command) => [`no peer’s worktree goes: ${command}`, { command, ...there }, []] as const,
  ),
  ['git clean -ffd goes into a worktree that lies inside', { command: 'git clean -ffd', ...nested }, refused],
  ['with one -f it does not', { command: 'git clean -fd', ...nested }, []],
  ['with -n neither', { command: 'git clean -ffdn', ...nested }, []],
  ['nobody works there', { command: 'rm -rf ../wt', worktrees, peers: [PEER] }, []],
  ['a peer has only touched it', { command: 'rm -rf ../wt', ...visiting }, []],
  [
    'that peer has uncommitted work there',
    {
      command: 'rm -rf ../wt',
      ...visiting,
      arrange: ({ commonDir }) =>
        appendEvents({ commonDir, worktreeId: worktreeIdOf('wt') }, PEER, [claim('src/a.ts')]),
    },
    refused,
  ],
  ['it was judged in another worktree', { command: 'rm -rf ../wt', ...there, facts: { isFirst: false } }, []],
]);
