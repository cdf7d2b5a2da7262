import { describe, expect, it } from 'vitest';
import { readsOnly } from '../../../src/domain/ledger/read-only.ts';
import { treeReach } from '../../../src/domain/ledger/tree-verbs.ts';

const onDisk = new Set(['src', 'src/a.ts', '.']);
/** `verb does [untracked] [paths]`, or `-` when the command leaves uncommitted work alone. */
function reach(command: string): string {
  const [verb = '', ...words] = command.split(' ');
  const found = treeReach({ cwd: '/r', verb, words }, (word) => onDisk.has(word));
  if (found === undefined) return '-';
  const files = found.tracked ? (found.untracked ? 'all' : 'tracked') : 'untracked';
  return [found.verb, found.does, files, ...(found.paths ?? [])].join(' ');
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
    ['checkout .', 'restore destroy tracked'],
    ['checkout -- :/', 'restore destroy tracked'],
    ['restore .', 'restore destroy tracked'],
    ['restore src/a.ts', 'restore destroy tracked src/a.ts'],
    ['restore --source HEAD~1 src', 'restore destroy tracked src'],
    ['restore --staged .', '-'],
    ['restore -S -W .', 'restore destroy tracked'],
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
    ['clean -fd', 'clean destroy untracked'],
    ['clean -f src', 'clean destroy untracked src'],
    ['clean -n', '-'],
    ['clean -nfd', '-'],
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
