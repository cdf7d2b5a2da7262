import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import { PEER, THIRD, refuses, table } from '../../../support/guard-table.ts';

const ignored = { git: { ignored: () => Promise.resolve(['.env', 'dist/']) } };
const refused = (...words: string[]) => [refuses(words)];
const there = { worktrees: { wt: 'topic' }, peers: [{ session: PEER, worktree: 'wt' }] };

table(COMMANDS_IN_TREE, 'ignored-files', [
  [
    'git clean -x runs beside a peer',
    { command: 'git clean -fdx', ...ignored },
    refused(
      'would delete ignored files here that session bbbbbbbb may be using: .env, dist/. Nothing was changed.',
      'Remove only your own files, by name, for example: rm -r -- dist',
    ),
  ],
  [
    'it names what goes',
    { command: 'git clean -fdx -- dist', ...ignored },
    refused('To remove them, name them: rm -r -- dist .env'),
  ],
  ['git clean -X does', { command: 'git clean -fdX', ...ignored }, refused('.env, dist/')],
  [
    'several peers are at work',
    { command: 'git clean -fdx', ...ignored, peers: [PEER, THIRD] },
    [refuses('session bbbbbbbb, session cccccccc may be', { owners: [PEER, THIRD] })],
  ],
  ['ignored files stay', { command: 'git clean -fd', ...ignored }, []],
  ['it only tells what it would do', { command: 'git clean -ndx', ...ignored }, []],
  ['nothing is ignored', { command: 'git clean -fdx', git: { ignored: () => Promise.resolve([]) } }, []],
  ['the peer works in another worktree', { command: 'git clean -fdx', ...ignored, ...there }, []],
  ['git does not say in time how the tree is', { command: 'git clean -fdx', ...ignored, late: true }, []],
  ['the session is alone', { command: 'git clean -fdx', ...ignored, peers: [] }, []],
]);
