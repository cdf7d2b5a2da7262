import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import {
  PEER,
  SELF,
  THIRD,
  type Row,
  type Situation,
  claim,
  does,
  oid,
  refuses,
  state,
  table,
} from '../../../support/guard-table.ts';

const settle = does('judged');
const refused = (...words: string[]) => [settle, refuses(words)];
const beside = (command: string): Situation => ({ command, ledgers: { [PEER]: ['src/a.ts'] } });
const PATCH = '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-a\n+b\n';
const OTHER = PATCH.replaceAll('a.ts', 'b.ts');
/** The commit contains this state of the peer's file. */
const holding = (n: number) => ({
  git: { filesOf: () => Promise.resolve([{ path: 'src/a.ts', mode: '100644', oid: oid(n) }]) },
});

table(COMMANDS_IN_TREE, 'unnamed-changes', [
  [
    'an archive is unpacked',
    beside('tar xf all.tar'),
    refused(
      'could change uncommitted work of session bbbbbbbb: src/a.ts. Nothing was changed. Name what it may change:',
    ),
  ],
  ['it is unpacked in another folder', { ...beside('tar xf all.tar -C docs'), files: { 'docs/x': '' } }, []],
  ['it is unpacked above', beside('tar xf all.tar -C ..'), refused('`tar` could change')],
  ['it is unpacked outside', { ...beside('tar xf all.tar -C ../wt'), worktrees: { wt: 'topic' } }, []],
  [
    'a patch comes through a pipe',
    beside('curl -s https://example.org | patch -p1'),
    refused('`patch` could change', 'src/a.ts'),
  ],
  [
    'a patch names the peer’s file',
    { ...beside('patch -p1 <fix.patch'), files: { 'fix.patch': PATCH } },
    refused('src/a.ts'),
  ],
  ['a patch names another', { ...beside('patch -p1 <fix.patch'), files: { 'fix.patch': OTHER } }, []],
  [
    'which folders a patch leaves out is not said',
    { ...beside('patch <fix.patch'), files: { 'fix.patch': PATCH } },
    refused('src/a.ts'),
  ],
  [
    'a commit of the whole tree becomes HEAD',
    beside('git update-ref HEAD $(git commit-tree -m x HEAD^{tree})'),
    refused('`git commit-tree` could commit', "git handoff commit -m '<message>'"),
  ],
  [
    'it becomes the branch',
    beside('c=$(git commit-tree -m x HEAD^{tree}); git update-ref refs/heads/main $c'),
    refused('`git commit-tree`'),
  ],
  [
    'it becomes HEAD, with a reason',
    beside('c=$(git commit-tree -m x HEAD^{tree}); git update-ref -m moved HEAD $c'),
    refused('`git commit-tree`'),
  ],
  ...['git history fixup HEAD~1', 'git add -A && git history fixup HEAD~1'].map((command): Row => [
    `what is staged goes into an older commit: ${command}`,
    beside(command),
    refused('`git history fixup` could commit uncommitted work of session bbbbbbbb: src/a.ts'),
  ]),
  ['an older commit gets another message', beside('git history reword HEAD~1'), []],
  [
    'it is reset to',
    beside('c=$(git commit-tree -m x HEAD^{tree}); git reset $c'),
    refused('`git commit-tree`'),
  ],
  [
    'it becomes another branch',
    beside('c=$(git commit-tree -m x HEAD^{tree}); git update-ref refs/heads/topic $c'),
    [],
  ],
  [
    'a commit that holds the peer’s change becomes HEAD',
    { ...beside(`git update-ref HEAD ${oid(9)}`), ...holding(2) },
    refused('`git update-ref` could commit'),
  ],
  ['it holds the file as it was', { ...beside(`git update-ref HEAD ${oid(9)}`), ...holding(1) }, []],
  [
    'the peer has changed it back to that',
    {
      ...holding(1),
      command: `git update-ref HEAD ${oid(9)}`,
      ledgers: { [PEER]: [claim('src/a.ts', { before: state(2), after: state(1) })] },
    },
    [],
  ],
  ['nobody else has changed anything', { command: 'tar xf all.tar', ledgers: { [SELF]: ['src/a.ts'] } }, []],
  ['who has is over', { command: 'tar xf all.tar', ledgers: { [THIRD]: ['src/a.ts'] } }, [settle]],
  [
    'it may have been the peer, or not',
    { command: 'tar xf all.tar', ledgers: { [PEER]: [claim('src/a.ts', { weak: true })] } },
    [settle],
  ],
  ['the session is alone', { ...beside('tar xf all.tar'), peers: [] }, []],
]);
