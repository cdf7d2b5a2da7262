import { describe, expect, it } from 'vitest';
import { readsOnly } from '../../../src/shell/read-only.ts';
import { treeReach } from '../../../src/shell/tree-verbs.ts';

const onDisk = new Set(['src', 'src/a.ts', '.']);
/** What a command does to uncommitted work, as `verb does [untracked] [paths]`; `-` for nothing. */
function reach(command: string): string {
  const [verb = '', ...words] = command.split(' ');
  const found = treeReach(
    { cwd: '/r', verb, words: words.map((word) => (word === '$unknown' ? undefined : word)) },
    {
      isPath: (word) => onDisk.has(word),
      names: (file) => (file === 'list' ? ['src/a.ts', 'b'] : undefined),
      text: (file) =>
        file === 'fix.patch' ? '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-x\n+y\n' : undefined,
      isOn: () => undefined,
    },
  );
  if (found === undefined) return '-';
  const files = found.tracked ? (found.untracked ? 'all' : 'tracked') : found.untracked ? 'untracked' : '';
  const staged = found.stagedOnly ? ['staged'] : [];
  const ignored = found.ignored === false ? [] : [found.ignored === 'only' ? 'ignored-only' : 'ignored'];
  const paths = [...(found.paths ?? []), ...(found.unsure ? ['?'] : [])];
  const some = found.paths?.length === 0 && !found.unsure ? ['none'] : [];
  return [
    found.verb,
    found.does,
    ...(files === '' ? [] : [files]),
    ...staged,
    ...ignored,
    ...some,
    ...paths,
  ].join(' ');
}

describe('treeReach', () => {
  it.each([
    ['switch main', 'switch carry tracked'],
    ['switch -', 'switch carry tracked'],
    ['switch -c new', 'switch carry tracked'],
    ['switch -f main', 'switch destroy tracked'],
    ['switch --discard-changes main', 'switch destroy tracked'],
    ['switch --detach main', 'switch carry tracked'],
    ['switch', '-'],
    ['checkout main', 'switch carry tracked'],
    ['checkout -b new', 'switch carry tracked'],
    ['checkout -B new origin/main', 'switch carry tracked'],
    ['checkout -f main', 'switch destroy tracked'],
    ['checkout -f', 'restore destroy tracked'],
    ['checkout', '-'],
    ['checkout -- src/a.ts', 'restore destroy tracked src/a.ts'],
    ['checkout HEAD -- src/a.ts b', 'restore destroy tracked src/a.ts b'],
    ['checkout HEAD src/a.ts', 'restore destroy tracked src/a.ts'],
    ['checkout src/a.ts', 'restore destroy tracked src/a.ts'],
    ['checkout .', 'restore destroy tracked .'],
    ['checkout -- :/', 'restore destroy tracked :/'],
    ['restore .', 'restore destroy tracked .'],
    ['restore src/a.ts', 'restore destroy tracked src/a.ts'],
    ['restore --source HEAD~1 src', 'restore destroy tracked src'],
    ['restore --staged .', '-'],
    ['restore -S -W .', 'restore destroy tracked .'],
    ['reset --hard', 'reset destroy tracked'],
    ['reset --hard origin/main', 'reset destroy tracked'],
    ['reset --har', 'reset destroy tracked'],
    ['reset', '-'],
    ['reset --soft HEAD~1', '-'],
    ['reset HEAD src/a.ts', '-'],
    ['stash', 'stash carry tracked'],
    ['stash -u', 'stash carry all'],
    ['stash push', 'stash carry tracked'],
    ['stash push --include-untracked -m msg', 'stash carry all'],
    ['stash push -- src/a.ts', 'stash carry tracked src/a.ts'],
    ['stash push src', 'stash carry tracked src'],
    ['stash save work in progress', 'stash carry tracked'],
    ['stash pop', '-'],
    ['stash list', '-'],
    ['stash show -p', '-'],
    ['clean -fd', 'clean destroy untracked .'],
    ['clean -f src', 'clean destroy untracked src'],
    ['clean -n', '-'],
    ['clean -nfd', '-'],
    ['clean -fdx', 'clean destroy untracked ignored .'],
    ['clean -fX', 'clean destroy ignored-only .'],
    ['checkout --pathspec-from-file=list', 'restore destroy tracked src/a.ts b'],
    ['restore --pathspec-from-file=list --pathspec-file-nul', 'restore destroy tracked src/a.ts b'],
    ['restore --pathspec-from-file=-', 'restore destroy tracked :/ ?'],
    ['stash push --pathspec-from-file=gone', 'stash carry tracked :/ ?'],
    ['checkout -- $unknown', 'restore destroy tracked :/ ?'],
    ['checkout -- $unknown .', 'restore destroy tracked :/ . ?'],
    ['checkout $unknown', 'switch carry tracked'],
    ['rm -rf .', 'rm destroy tracked .'],
    ['mv -f src/a.ts b', 'restore destroy tracked b'],
    ['mv src/a.ts b', '-'],
    ['stash push --staged', 'stash carry tracked staged'],
    ['rm -f src/a.ts', 'rm destroy tracked src/a.ts'],
    ['rm -r src', '-'],
    ['rm --cached -f src', '-'],
    ['rebase main', '-'],
    ['rebase --autostash main', 'autostash carry tracked'],
    ['rebase --abort', 'reset destroy tracked'],
    ['rebase --continue', '-'],
    ['pull', '-'],
    ['pull --rebase --autostash', 'autostash carry tracked'],
    ['merge --autostash topic', 'autostash carry tracked'],
    ['merge --abort', 'reset destroy tracked staged'],
    ['cherry-pick --abort', 'reset destroy tracked staged'],
    ['cherry-pick --skip', 'reset destroy tracked staged'],
    ['revert --abort', 'reset destroy tracked staged'],
    ['rebase --skip', 'reset destroy tracked'],
    ['am --skip', 'reset destroy tracked staged'],
    ['am --abort', 'reset destroy tracked staged'],
    ['apply fix.patch', 'restore destroy all src/a.ts :/src/a.ts'],
    ['apply -R --directory=lib fix.patch', 'restore destroy all lib/src/a.ts :/lib/src/a.ts'],
    ['apply -R', 'apply destroy all'],
    ['apply gone.patch', 'apply destroy all'],
    ['apply --check fix.patch', '-'],
    ['bisect start', '-'],
    ['bisect start HEAD v1', 'switch carry tracked'],
    ['bisect good', 'switch carry tracked'],
    ['bisect log', '-'],
    ['read-tree HEAD', '-'],
    ['read-tree -m -u HEAD', 'switch carry tracked'],
    ['read-tree --reset -u HEAD', 'reset destroy tracked'],
    ['checkout-index -a', '-'],
    ['checkout-index -f -a', 'restore destroy tracked .'],
    ['checkout-index -f src/a.ts', 'restore destroy tracked src/a.ts'],
    ['checkout-index -f --stdin', 'restore destroy tracked :/ ?'],
    ['commit -am x', '-'],
    ['status', '-'],
  ])('git %s: %s', (command, expected) => {
    expect(reach(command)).toBe(expected);
  });
});

describe('readsOnly', () => {
  it.each([
    'ls -la src',
    'cat a.txt',
    'git status --short',
    'git diff HEAD~1',
    'git log --oneline -3',
    'rg foo src',
    'pwd',
  ])('nobody looks around %s', (command) => {
    expect(readsOnly(command)).toBe(true);
  });

  it.each([
    'ls; rm x',
    'cat a > b',
    'git diff --output=x',
    'git commit',
    'git stash',
    'env FOO=1 make',
    'make',
    'ls $(x)',
    'cat a | tee b',
    'git -C x status',
    'LS=1 ls',
    'node x',
    'ls\nrm x',
    'find . -delete',
    'sort -o x y',
    '',
  ])('everything else is looked at: %s', (command) => {
    expect(readsOnly(command)).toBe(false);
  });
});
