import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import { PEER, does, refuses, table } from '../../../support/guard-table.ts';

const byPeer = { ledgers: { [PEER]: ['src/a.ts'] } };
const settle = does('judged');
const waiting = [settle, refuses(/src\/a\.ts: session bbbbbbbb changed it.*try again later(?!.*take)/)];
const leaving = [
  settle,
  refuses(/src\/a\.ts: session bbbbbbbb changed it.*Leave it alone until it is committed(?!.*take)/),
];

table(COMMANDS_IN_TREE, 'contention-of-command', [
  ['a command writes what a peer has changed', { command: 'echo x >src/a.ts', ...byPeer }, waiting],
  [
    'it edits it in place',
    { command: "sed -i 's/a/b/' src/a.ts", files: { 'src/a.ts': '' }, ...byPeer },
    waiting,
  ],
  ['it changes its mode', { command: 'chmod +x src/a.ts', ...byPeer }, waiting],
  ['it removes it', { command: 'rm src/a.ts', ...byPeer }, leaving],
  ['it removes the folder around it', { command: 'rm -r src', ...byPeer }, leaving],
  ['it removes the whole worktree', { command: 'rm -rf "$PWD"', ...byPeer }, leaving],
  ['it removes what only begins alike', { command: 'rm -r src/a.ts.orig', ...byPeer }, []],
  ['it writes elsewhere', { command: 'echo x >src/b.ts', ...byPeer }, []],
  [
    'it writes that path of another worktree',
    { command: 'echo x >../wt/src/a.ts', worktrees: { wt: 'topic' }, ...byPeer },
    [],
  ],
  ['it reads', { command: 'cat src/a.ts', ...byPeer }, []],
  ['contention is off', { command: 'echo x >src/a.ts', ...byPeer, settings: { contention: 'off' } }, []],
]);
