import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import { FILES_IN_TREE } from '../../../../src/guard/checks/of-files.ts';
import { PEER, SELF, oid, refuses, table } from '../../../support/guard-table.ts';

const headOf = (sessions: readonly string[], subject = 'work') => ({
  settings: { headCheck: 'strict' as const },
  git: { head: () => Promise.resolve({ oid: oid(7), sessions, subject, seconds: 0, branch: undefined }) },
});
const write = { tool: { kind: 'write' as const, path: 'src/a.ts', content: '' } };
const refused = (...words: string[]) => [refuses(words, { owners: undefined })];
const concurrent = refused('Concurrent Claude session detected', 'Other session:  bbbbbbbb');

table(FILES_IN_TREE, 'strict-head', [
  ['HEAD is a peer’s commit', { ...write, ...headOf([PEER]) }, concurrent],
  ['its trailer has the short form', { ...write, ...headOf([PEER.slice(0, 8)]) }, concurrent],
  ['HEAD is one’s own commit', { ...write, ...headOf([SELF]) }, []],
  ['it is both sessions’', { ...write, ...headOf([PEER, SELF]) }, []],
  ['it is nobody’s', { ...write, ...headOf([]) }, []],
  [
    'it is another tool’s working copy',
    { ...write, ...headOf([], '[Claude Workspace] x') },
    refused('Temporary workspace detected', 'git revert 000000000000'),
  ],
  ['the branch is unborn', { ...write, ...headOf([]), git: { head: () => Promise.resolve(undefined) } }, []],
  ['the session is alone', { ...write, ...headOf([PEER]), peers: [] }, []],
  ['the setting is another', { ...write, ...headOf([PEER]), settings: { headCheck: 'amend' } }, []],
]);
table(COMMANDS_IN_TREE, 'strict-head', [
  ['a command runs on a peer’s commit', { command: 'make', ...headOf([PEER]) }, concurrent],
  ['the setting is another', { command: 'make', ...headOf([PEER]), settings: { headCheck: 'amend' } }, []],
]);
