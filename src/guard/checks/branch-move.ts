import { namedPeer, namesOwn } from '../../domain/ledger/ownership.ts';
import { branchOf, peerName } from '../../domain/names.ts';
import { escapeLine, shellWord } from '../../domain/messages.ts';
import { discoverRepository } from '../../git/discover.ts';
import type { LoggedCommit } from '../../git/log.ts';
import { linkedWorktrees } from '../../git/worktrees.ts';
import { headRef } from '../../git/refs.ts';
import { realPath } from '../../host/disk.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { type BranchMove, branchMoves } from '../../shell/git-verbs.ts';
import { type TreeCall, type Refusal, type Finding, refusedFor } from '../call.ts';
import type { CommandFacts } from '../facts.ts';
import type { People } from '../presence.ts';
import { callsInRepository } from './reach.ts';
import { type Typed, typedAt } from './typed.ts';

/**
 * Refuses a command that would remove another live session's commits from a branch (`git reset HEAD~1`, `git branch -D`),
 * or delete the branch on which another live session works.
 */
export async function branchMove(call: TreeCall, facts: CommandFacts): Promise<readonly Finding[]> {
  const moves = callsInRepository(call, facts.effects).flatMap((gitCall) => branchMoves(gitCall));
  if (moves.length === 0) return [];
  const people = await facts.people();
  if (people.live.length === 0) return [];
  for (const move of moves) {
    const refusal = refuseDeletion(call, move, people) ?? (await refuseLoss(call, move, people, facts));
    if (refusal !== undefined) return [refusal];
  }
  return [];
}

/** Refuses the deletion of a branch on which another live session works, no matter who made its commits. */
function refuseDeletion(call: TreeCall, move: BranchMove, people: People): Refusal | undefined {
  if (move.to !== undefined) return undefined;
  const { branch = '' } = move;
  const trees = linkedWorktrees(call.tree.commonDir).filter(
    ({ gitDir }) => headRef(gitDir) === `refs/heads/${branch}`,
  );
  const ids = trees.map(({ gitDir }) => knownWorktreeId(gitDir));
  const user = people.live.find(({ worktreeId }) => ids.includes(worktreeId))?.record.session;
  if (user === undefined) return undefined;
  const text =
    `\`git ${escapeLine(move.call.verb)}\` would delete the branch ${escapeLine(branch)}, on which ` +
    `${peerName(user, people)} is at work. Nothing was changed. ` +
    `To see who works where: ${typedAt(call).git} handoff sessions`;
  return refusedFor(text, [user]);
}

/** Refuses a move that would remove another live session's commit from a branch. */
async function refuseLoss(
  call: TreeCall,
  move: BranchMove,
  groups: People,
  { git }: CommandFacts,
): Promise<Refusal | undefined> {
  const cwd = move.call.cwd ?? call.cwd;
  const commits = await git.leftBehind(cwd, move.branch ?? headBranch(cwd), move.to);
  const peerOf = ({ sessions }: LoggedCommit) =>
    sessions.map((name) => namedPeer(name, groups)).find((id) => id !== undefined);
  const theirs = commits.find((commit) => peerOf(commit) !== undefined);
  const owner = theirs === undefined ? undefined : peerOf(theirs);
  if (theirs === undefined || owner === undefined) return undefined;
  const branch = move.branch === undefined ? 'this branch' : escapeLine(move.branch);
  const newest = commits[0];
  const isOnTop =
    newest !== undefined && newest !== theirs && newest.sessions.some((name) => namesOwn(name, groups));
  const reason =
    `\`git ${escapeLine(move.call.verb)}\` would remove commit ${theirs.oid.slice(0, 7)} ("${escapeLine(theirs.subject)}") ` +
    `from ${branch}. It was made by ${peerName(owner, groups)}, which is at work. Nothing was changed. `;
  const typed = typedAt(call, discoverRepository(realPath(cwd)) ?? call.tree);
  return refusedFor(reason + instead(move, theirs, isOnTop ? newest : undefined, typed), [owner]);
}

/** Returns the branch that is checked out around a folder; `HEAD` when HEAD is detached. */
function headBranch(cwd: string): string {
  const gitDir = discoverRepository(realPath(cwd))?.gitDir;
  return gitDir === undefined ? 'HEAD' : branchOf(headRef(gitDir));
}

function instead(
  { branch, to, call }: BranchMove,
  theirs: LoggedCommit,
  own: LoggedCommit | undefined,
  { git, beside }: Typed,
): string {
  if (branch !== undefined || to === undefined) return `To see who works where: ${git} handoff sessions`;
  if (own !== undefined) {
    const mode = call.words.find((word) => /^--(?:hard|soft|mixed|keep)$/.test(word ?? ''));
    const kept = mode === '--soft' || mode === undefined;
    return kept
      ? `To take back your own commits only: ${git} reset ${mode === undefined ? '' : `${mode} `}${theirs.oid.slice(0, 12)}`
      : `To undo your own commit: ${git} revert --no-edit ${own.oid.slice(0, 12)}`;
  }
  return `To work from there, use a worktree of your own: ${git} worktree add --detach ${beside(theirs.oid.slice(0, 7))} ${shellWord(to)}`;
}
