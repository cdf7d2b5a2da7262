import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import { PEER, SELF, THIRD, type Situation, oid, refuses, table } from '../../../support/guard-table.ts';

const commit = (n: number, session: string) => ({
  oid: oid(n),
  sessions: [session],
  subject: `work ${n}`,
  seconds: 0,
  branch: undefined,
});
/** A command after which the branch would no longer contain these commits, newest first. */
const leaves = (command: string, ...commits: ReturnType<typeof commit>[]): Situation => ({
  command,
  git: { leftBehind: () => Promise.resolve(commits) },
});
const refused = (...words: string[]) => [refuses(words)];
const inUse = { worktrees: { wt: 'topic' }, peers: [{ session: PEER, worktree: 'wt' }] };

table(COMMANDS_IN_TREE, 'branch-move', [
  [
    'a peer’s commit is reset away',
    leaves('git reset --hard HEAD~1', commit(1, PEER)),
    refused(
      'would remove commit 0000000 ("work 1") from this branch. It was made by session bbbbbbbb, which is at work. Nothing was changed.',
      'git worktree add --detach',
    ),
  ],
  [
    'it lies below one’s own',
    leaves('git reset --hard HEAD~2', commit(2, SELF), commit(1, PEER)),
    refused('work 1', 'To undo your own commit: git revert --no-edit 000000000000'),
  ],
  [
    'the files would stay',
    leaves('git reset --soft HEAD~2', commit(2, SELF), commit(1, PEER)),
    refused('To take back your own commits only: git reset --soft 000000000000'),
  ],
  [
    'the branch is moved by name',
    leaves('git branch -f topic HEAD~1', commit(1, PEER)),
    refused('("work 1") from topic. ', 'git handoff sessions'),
  ],
  [
    'it is moved by plumbing',
    leaves('git update-ref refs/heads/topic HEAD~1', commit(1, PEER)),
    refused('from topic. '),
  ],
  ['it is made again', leaves('git switch -C topic HEAD~1', commit(1, PEER)), refused('from topic. ')],
  [
    'it is made again for a new worktree',
    leaves('git worktree add -B topic ../new HEAD~1', commit(1, PEER)),
    refused('from topic. '),
  ],
  ['it is only checked out', leaves('git switch --force topic', commit(1, PEER)), []],
  ['it is deleted', leaves('git branch -D topic', commit(1, PEER)), refused('from topic. ')],
  [
    'a peer’s branch is deleted',
    { ...leaves('git branch -D topic'), ...inUse },
    refused('would delete the branch topic, on which session bbbbbbbb is at work'),
  ],
  ['another branch is', { ...leaves('git branch -D fix'), ...inUse }, []],
  ['only one’s own commits go', leaves('git reset --hard HEAD~1', commit(1, SELF)), []],
  ['the other session is over', leaves('git reset --hard HEAD~1', commit(1, THIRD)), []],
  ['nothing goes', leaves('git reset --hard HEAD'), []],
  ['the index alone is reset', leaves('git reset -- src/a.ts', commit(1, PEER)), []],
  ['it runs in another repository', { ...leaves('git -C ../.. reset --hard HEAD~1', commit(1, PEER)) }, []],
  [
    'it was judged in another worktree',
    { ...leaves('git reset --hard HEAD~1', commit(1, PEER)), facts: { isFirst: false } },
    [],
  ],
  ['nobody else is at work', { ...leaves('git reset --hard HEAD~1', commit(1, PEER)), peers: [] }, []],
]);
