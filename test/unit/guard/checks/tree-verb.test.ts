import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import {
  PEER,
  SELF,
  THIRD,
  type Row,
  type Situation,
  asks,
  claim,
  dirty,
  does,
  refuses,
  state,
  table,
  untracked,
} from '../../../support/guard-table.ts';

const settle = does('judged');
const refused = (...words: string[]) => [settle, refuses([...words])];
/** A peer has changed `src/a.ts`, the session `src/b.ts`. */
const both = (command: string): Situation => ({
  command,
  ledgers: { [PEER]: ['src/a.ts'], [SELF]: ['src/b.ts'] },
  files: { 'src/a.ts': '', 'src/b.ts': '' },
});

const patched = (name: string) => `--- a/src/${name}\n+++ b/src/${name}\n@@ -1 +1 @@\n-a\n+b\n`;

table(COMMANDS_IN_TREE, 'tree-verb', [
  [
    'a reset would overwrite a peer’s change',
    both('git reset --hard'),
    refused(
      '`git reset` would overwrite uncommitted work of session bbbbbbbb: src/a.ts. Nothing was changed. Undo only your own changes: git restore --source=HEAD --staged --worktree -- src/b.ts',
    ),
  ],
  ...(
    [
      ['git reset --hard', 'discard'],
      ['git stash', 'stash'],
      ['git switch topic', 'switch'],
      ['git switch -f topic', 'discard'],
      ['git clean -f src', 'discard'],
      ['git pull --rebase --autostash', 'stash'],
    ] as const
  ).map(([command, wish]): Row => [
    `its owner is told of ${command}`,
    { ...both(command), dirty: [command.startsWith('git clean') ? untracked('src/a.ts') : 'src/a.ts'] },
    [settle, refuses('src/a.ts', { asked: asks(wish, 'src/a.ts') })],
  ]),
  [
    'a checkout of everything would',
    both('git checkout -- .'),
    refused('`git checkout` would overwrite', 'src/a.ts'),
  ],
  [
    'a stash would take it away',
    both('git stash'),
    refused(
      '`git stash` would stash away',
      'Stash only your own changes: git stash push --include-untracked -- src/b.ts',
    ),
  ],
  ...['git stash', 'git rebase --autostash topic', 'git pull --rebase --autostash'].map((command): Row => [
    `where files are in conflict, no hint that git would not do: ${command}`,
    { ...both(command), git: { unmerged: () => Promise.resolve(['c.ts']) } },
    refused('Nothing was changed. git cannot do this while files are in conflict; see: git status'),
  ]),
  ...[
    'git checkout -- $(git diff --name-only)',
    'git ls-files -m | xargs git restore',
    'git diff --name-only | while read f; do git checkout -- "$f"; done',
    'git restore --pathspec-from-file=-',
    'git checkout -- src/$(head -n 1 list)',
    'git stash push -- $(git ls-files -m)',
    'git rm -f $(git ls-files)',
  ].map((command): Row => [
    `names that cannot be told may be a peer’s: ${command}`,
    both(command),
    refused(
      ' could ',
      'src/a.ts',
      'Name paths, and only your own. To see who made each change: git handoff status',
    ),
  ]),
  [
    'a switch would carry it along',
    both('git switch topic'),
    refused('would carry to another branch', 'git worktree add ../topic topic'),
  ],
  ['a switch to the branch that is checked out', both('git switch main'), []],
  [
    'a switch that makes a branch',
    both('git switch -c topic'),
    refused('git worktree add -b topic ../topic'),
  ],
  [
    'one that makes a branch without a past: no hint that would reset a branch of that name',
    both('git checkout --orphan topic'),
    refused('git worktree add --detach ../apart'),
  ],
  ...['git switch --detach', 'git switch -d', 'git stash branch topic'].map((command): Row => [
    `so would one that names no other branch: ${command}`,
    both(command),
    refused('would carry to another branch', 'git worktree add --detach ../apart'),
  ]),
  ['a forced switch would throw it away', both('git switch -f topic'), refused('would throw away')],
  [
    'a pull with autostash would put it aside',
    both('git pull --rebase --autostash'),
    refused('stash, and may not bring back', 'git pull --no-rebase --no-autostash --no-edit'),
  ],
  [
    'a rebase with autostash would',
    both('git rebase --autostash topic main'),
    refused('Merge instead', 'git merge --no-autostash --no-edit topic'),
  ],
  [
    'a rebase onto what shares no commit with HEAD: nothing can be merged instead',
    {
      ...both('git rebase --autostash apart'),
      git: { isRelated: (_, name) => Promise.resolve(name !== 'apart') },
    },
    refused('because there is no common ancestor: wait', ': git handoff status'),
  ],
  [
    'a snapshot would commit it',
    both('jj new'),
    refused('`jj new` would commit', "git handoff commit -m '<message>'"),
  ],
  [
    'git clean would delete a new file',
    { ...both('git clean -fd'), dirty: [untracked('src/a.ts'), untracked('src/b.ts')] },
    refused('`git clean` would delete', 'Remove only your own files: rm -- src/b.ts'),
  ],
  ['it leaves tracked files alone', both('git clean -fd'), []],
  ...['git clean -fd -e b.ts', 'git clean -fd -e /a.ts', "git clean -fd -e '!a.ts'"].map((command): Row => [
    `another file is excluded: ${command}`,
    { ...both(command), dirty: [untracked('src/a.ts'), untracked('src/b.ts')] },
    refused('`git clean` would delete', 'src/a.ts'),
  ]),
  ...['git checkout -p', 'git restore --patch'].map((command): Row => [
    `hunks of every file may be discarded: ${command}`,
    both(command),
    refused('would overwrite', 'src/a.ts'),
  ]),
  ...['git reset --merge', 'git am --continue', 'git am -r'].map((command): Row => [
    `what is not staged stays as it is: ${command}`,
    both(command),
    [],
  ]),
  ...['git reset --merge HEAD~1', 'git am --continue', 'git am --resolved'].map((command): Row => [
    `what is staged does not: ${command}`,
    { ...both(command), dirty: [dirty('src/a.ts', { index: state(2) })] },
    refused('src/a.ts', 'Unstage it first, and git will keep it: git reset -q -- src/a.ts'),
  ]),
  ...[
    'git() { command git "$@"; }; git reset --hard',
    'git() { env X=1 git "$@"; }; git status; git reset --hard',
    'git() { echo; }; echo reset --hard | xargs git',
  ].map((command): Row => [
    `a function has the name of the program: ${command}`,
    both(command),
    refused('`git reset` would overwrite', 'src/a.ts'),
  ]),
  [
    'the session has changed nothing',
    { command: 'git reset --hard', ledgers: { [PEER]: ['src/a.ts'] } },
    refused('No narrower form of the command is open to this session', 'git handoff status'),
  ],
  [
    'a patch would overwrite it, and a new file of one’s own',
    {
      command: 'git apply fix.patch',
      files: { 'fix.patch': ['a.ts', 'n.ts', 'b.ts'].map(patched).join('') },
      ledgers: { [PEER]: ['src/a.ts'], [SELF]: ['src/n.ts', 'src/b.ts'] },
      dirty: ['src/a.ts', untracked('src/n.ts'), 'src/b.ts'],
    },
    refused('Undo only your own changes: git restore --source=HEAD --staged --worktree -- src/b.ts'),
  ],
  ...[
    ['git diff src/b.ts | git apply -R', '… | git apply -R --include=src/b.ts'],
    ['git apply "$(head -1 list)"', "'<patch file>' --include=src/b.ts"],
  ].map(([command = '', hint = '']): Row => [
    `a patch that cannot be read could overwrite it: ${command}`,
    both(command),
    refused('src/a.ts', 'Name what the patch may change: ', hint),
  ]),
  [
    'a patch by git is applied in a folder',
    { ...both('cd src && git apply ../fix.patch'), files: { 'src/a.ts': '', 'fix.patch': patched('a.ts') } },
    refused('src/a.ts'),
  ],
  [
    'a patch has a name that git quotes',
    {
      command: 'git apply fix.patch',
      files: { 'fix.patch': '--- "a/\\303\\244.ts"\n+++ "b/\\303\\244.ts"\n@@ -1 +1 @@\n-a\n+b\n' },
      ledgers: { [PEER]: ['ä.ts'] },
    },
    refused('ä.ts'),
  ],
  ['only the help of git stash is asked for', both('git stash -h; git stash --help'), []],
  [
    'it comes back from a folder that a build makes',
    both('npm run build && cd dist && ls && cd .. && git stash'),
    refused('src/a.ts'),
  ],
  ['only one’s own is named', both('git restore src/b.ts'), []],
  ['the peer’s is named', both('git restore src/a.ts'), refused('src/a.ts')],
  ...[
    'git restore "$PWD/src/a.ts"',
    'git checkout -- $PWD/src',
    'cd src && git stash push -- "${PWD%/src}/src/a.ts"',
  ].map((command): Row => [
    `it is named by an absolute path: ${command}`,
    both(command),
    refused('src/a.ts'),
  ]),
  ['only one’s own is named by an absolute path', both('git restore "$PWD/src/b.ts"'), []],
  ['the files stay', both('git reset --soft HEAD~1'), []],
  ['it runs in another worktree', { ...both('git -C ../wt reset --hard'), worktrees: { wt: 'topic' } }, []],
  [
    'it runs in a worktree that the command makes',
    both('git worktree add -q ../new topic && git -C ../new reset --hard HEAD~1'),
    [],
  ],
  ...[
    'd=$(mktemp -d); cd "$d" && git init -q && git checkout -q -b topic && git reset --hard',
    'cd "$(mktemp -d)"; git init -q; git switch -c topic',
    'd=$(mktemp -d /tmp/probe.XXXXXX); git clone -q . "$d/c" && git -C "$d/c" switch topic',
    'd=$(mktemp -d -t probe.XXX); e=$(mktemp -qd); cd "$d"; git stash; cd "$e"; git stash',
  ].map((command): Row => [`it runs in a temporary folder: ${command}`, both(command), []]),
  ...[
    'git clone -q . /tmp/gone/new\ncd /tmp/gone/new\ngit switch topic',
    'git worktree add -q ../new topic; cd ../new; git reset --hard HEAD~1',
  ].map((command): Row => [`it runs in a folder that git makes: ${command}`, both(command), []]),
  [
    'it comes back from a folder that git makes',
    both('git clone -q . ../new && cd ../new && npm test && cd - && git stash'),
    refused('src/a.ts'),
  ],
  ...['cd "$(mktemp -d -p .)"', 'cd "$(mktemp -d x.XXX)"', 'cd "$(mktemp)"'].map((command): Row => [
    `it may run anywhere: ${command}`,
    both(`${command}; git reset --hard`),
    refused('src/a.ts'),
  ]),
  ['the peer has changed it back since', { ...both('git reset --hard'), dirty: [] }, []],
  [
    'it may have been the peer, or not',
    { command: 'git reset --hard', ledgers: { [PEER]: [claim('src/a.ts', { weak: true })] } },
    [settle],
  ],
  [
    'the other session is over',
    { command: 'git reset --hard', ledgers: { [THIRD]: ['src/a.ts'] } },
    [settle],
  ],
  ['the session is alone', { ...both('git reset --hard'), peers: [] }, []],
]);
