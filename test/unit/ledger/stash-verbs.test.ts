import { describe, expect, it } from 'vitest';
import { branchMoves, decideStash, stashUse } from '../../../src/shell/git-verbs.ts';
import type { Oid, SessionId } from '../../../src/domain/names.ts';

const call = (command: string) => {
  const [verb = '', ...words] = command.split(' ');
  return { cwd: '/r', verb, words: words.map((word) => (word === '$unknown' ? undefined : word)) };
};
const ME = 'me' as SessionId;
const OTHER = 'other' as SessionId;
const GONE = 'gone' as SessionId;
const entry = (owner: SessionId | undefined, at: number) => ({ oid: `${at}`.repeat(40) as Oid, owner });

/** `-` if the commands may run; otherwise what is refused, and for how many entries. */
function decide(
  commands: readonly string[],
  owners: readonly (SessionId | undefined)[],
  pushes = true,
): string {
  const uses = commands.flatMap((command) => stashUse(call(command)) ?? []);
  const refused = decideStash(
    uses,
    owners.map(entry),
    { own: new Set([ME]), live: new Set([ME, OTHER]) },
    pushes,
  );
  return refused === undefined ? '-' : `${refused.use.action} ${refused.entries.length}`;
}

describe('decideStash', () => {
  it.each<[string, string[], (SessionId | undefined)[], boolean, string]>([
    ['own on top', ['stash pop'], [ME, OTHER], true, '-'],
    ["another's on top", ['stash pop'], [OTHER, ME], true, 'pop 1'],
    ['nobody knows whose', ['stash pop'], [undefined], true, 'pop 1'],
    ['apply takes, too', ['stash apply'], [OTHER], true, 'apply 1'],
    ['an empty list is for git to say', ['stash pop'], [], true, '-'],
    ['pushed in the same command', ['stash', 'stash pop'], [OTHER], true, '-'],
    ['but there was nothing to push', ['stash', 'stash pop'], [OTHER], false, 'pop 1'],
    ['pushed once, popped twice', ['stash', 'stash pop', 'stash pop'], [OTHER], true, 'pop 1'],
    ['own one, then the next', ['stash drop', 'stash drop'], [ME, OTHER], true, 'drop 1'],
    ['clear with others', ['stash clear'], [ME, OTHER, undefined], true, 'clear 2'],
    ['clear of own only', ['stash clear'], [ME, ME], true, '-'],
    ['by place: own', ['stash drop stash@{1}'], [OTHER, ME], true, '-'],
    ["by place: another's, removed", ['stash drop stash@{0}'], [OTHER, ME], true, 'drop 1'],
    ["by place: another's, applied", ['stash apply stash@{0}'], [OTHER, ME], true, '-'],
    ['by place: of a session that is over', ['stash drop stash@{0}'], [GONE], true, '-'],
    ['on top: of a session that is over', ['stash drop'], [GONE], true, 'drop 1'],
    ['by place: not known whose', ['stash pop 0'], [undefined], true, '-'],
    ['refs/stash@{0}', ['stash pop refs/stash@{0}'], [OTHER], true, 'pop 1'],
    ['the bare ref is the newest', ['stash pop stash'], [OTHER], true, 'pop 1'],
    ['by commit', [`stash apply ${'a'.repeat(40)}`], [OTHER], true, '-'],
    ['branch takes and removes', ['stash branch x'], [OTHER], true, 'branch 1'],
    ['options are no entry', ['stash pop --index -q'], [OTHER], true, 'pop 1'],
    ['list and show', ['stash list', 'stash show -p'], [OTHER], true, '-'],
    ['an entry that cannot be told', ['stash pop $unknown'], [OTHER], true, '-'],
  ])('%s', (_, commands, owners, pushes, expected) => {
    expect(decide(commands, owners, pushes)).toBe(expected);
  });
});

describe('branchMoves', () => {
  const moves = (command: string) =>
    branchMoves(call(command))
      .map(({ branch, to }) => `${branch ?? 'HEAD'}>${to ?? ''}`)
      .join(' ');
  it.each([
    ['branch -D x', 'x>'],
    ['branch -d x y', 'x> y>'],
    ['branch --delete --force x', 'x>'],
    ['branch -rD origin/x', ''],
    ['branch -f x main', 'x>main'],
    ['branch -f x', 'x>HEAD'],
    ['branch x main', ''],
    ['branch -m x y', ''],
    ['branch -M y', 'y>HEAD'],
    ['branch -M x y', 'y>x'],
    ['branch -f -c x y', 'y>x'],
    ['update-ref HEAD main', 'HEAD>main'],
    ['reset main --pathspec-from-file=l', ''],
    ['branch --list x', ''],
    ['reset HEAD~1', 'HEAD>HEAD~1'],
    ['reset --hard origin/main', 'HEAD>origin/main'],
    ['reset --hard', ''],
    ['reset HEAD~1 file', ''],
    ['reset HEAD -- file', ''],
    ['reset --soft HEAD~1 --', 'HEAD>HEAD~1'],
    ['reset $unknown', ''],
    ['switch -C x main', 'x>main'],
    ['switch -c x main', ''],
    ['checkout -B x', 'x>HEAD'],
    ['checkout -b x', ''],
    ['update-ref -d refs/heads/x', 'x>'],
    ['update-ref refs/heads/x main', 'x>main'],
    [`update-ref refs/heads/x ${'0'.repeat(40)}`, 'x>'],
    ['update-ref refs/tags/x main', ''],
    ['log x', ''],
  ])('git %s', (command, expected) => {
    expect(moves(command)).toBe(expected);
  });
});
