import { noteStashOwner } from '../../../../src/snapshot/stash.ts';
import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import {
  NOW,
  PEER,
  SELF,
  THIRD,
  type Situation,
  does,
  oid,
  refuses,
  table,
} from '../../../support/guard-table.ts';

/** A stash with one entry of each maker, newest first. `?` is an unknown maker. */
const stashOf = (command: string, ...makers: string[]): Situation => ({
  command,
  arrange: ({ commonDir }) => {
    for (const [n, maker] of makers.entries())
      if (maker !== '?') noteStashOwner(commonDir, maker as typeof PEER, [oid(n + 1)], NOW);
  },
  git: {
    stash: () =>
      Promise.resolve({
        entries: makers.map((_, index) => ({
          index,
          oid: oid(index + 1),
          at: NOW - 60_000,
          subject: `WIP ${index}`,
        })),
        fresh: [],
        rescues: [],
      }),
  },
});
const keep = does('allowed');
const refused = (words: string[], owners = [PEER]) => [refuses(words, { owners }), keep];

table(COMMANDS_IN_TREE, 'stash', [
  [
    'the newest entry is a peer’s',
    stashOf('git stash pop', PEER),
    refused([
      '`git stash pop` would apply and remove stash@{0}, which session bbbbbbbb made 1 minute ago ("WIP 0"); all worktrees share one stash. Nothing was changed.',
      `git stash apply ${oid(1)}`,
    ]),
  ],
  ['it is applied', stashOf('git stash apply', PEER), refused(['would apply stash@{0}'])],
  ['it becomes a branch', stashOf('git stash branch topic', PEER), refused(['would apply stash@{0}'])],
  [
    'one’s own lies below it',
    stashOf('git stash pop', PEER, SELF),
    refused([`To apply your own newest entry: git stash apply ${oid(2)}`]),
  ],
  [
    'a peer’s is dropped by its number',
    stashOf('git stash drop 1', SELF, PEER),
    refused(['would remove stash@{1}', 'To remove your own newest entry: git stash drop stash@{0}']),
  ],
  ['a peer’s is applied by its number', stashOf('git stash apply 1', SELF, PEER), [keep]],
  ['it is dropped by its number, and its session is over', stashOf('git stash drop 1', SELF, THIRD), [keep]],
  [
    'all are removed',
    stashOf('git stash clear', SELF, PEER, THIRD),
    refused(
      ['would remove an entry, which session bbbbbbbb made', ', and 1 more', 'git stash list'],
      [PEER, THIRD],
    ),
  ],
  [
    'nobody knows whose the newest is',
    stashOf('git stash pop', '?'),
    refused(['which this session did not make'], []),
  ],
  ['the newest is one’s own', stashOf('git stash pop', SELF, PEER), [keep]],
  ['an entry is meant by its commit', stashOf(`git stash drop ${oid(1)}`, PEER), [keep]],
  [
    'one’s own is made first',
    { ...stashOf('git stash && git stash pop', PEER), dirty: ['src/a.ts'] },
    [keep],
  ],
  [
    'there is nothing to make it of',
    { ...stashOf('git stash && git stash pop', PEER), dirty: [] },
    refused(['stash@{0}']),
  ],
  [
    'the command makes the change itself',
    { ...stashOf('echo x >src/a.ts; git stash; git stash pop', PEER), files: { 'src/a.ts': '' }, dirty: [] },
    [keep],
  ],
  ['an entry is made', stashOf('git stash push', PEER), [keep]],
  ['there is none', stashOf('git stash pop'), [keep]],
  ['the list is shown', stashOf('git stash list', PEER), []],
  ['it runs in another repository', stashOf('git -C ../.. stash pop', PEER), []],
  ['it was judged in another worktree', { ...stashOf('git stash pop', PEER), facts: { isFirst: false } }, []],
]);
