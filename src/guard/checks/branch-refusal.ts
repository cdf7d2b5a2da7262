import { type BranchMove, branchMoves } from '../../shell/branch-verbs.ts';
import type { Verdict } from '../../agents/dialect.ts';
import { namedPeer, namesOwn } from '../../domain/ledger/ownership.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import type { GitVerbCall } from '../../shell/effects.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { type LeftCommit, leftCommits } from '../../git/left-commits.ts';
import { type FoundRepository, discoverRepository, readHead } from '../../git/discover.ts';
import { linkedWorktrees } from '../../git/worktrees.ts';
import { realPath } from '../../host/disk.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { type Neighbours, neighbours } from '../peers.ts';
import { type Typed, typedAt } from './typed.ts';
import { lookingTime } from '../../changes/work-place.ts';
import type { Scene } from '../scene.ts';

/**
 * Refuses to take commits of another live session off a branch (`git reset HEAD~1`, `git branch -D`), and to delete a
 * branch under one.
 */
export async function refuseBranchMoves(
  scene: Scene,
  session: SessionId,
  found: FoundRepository,
  calls: readonly GitVerbCall[],
): Promise<Verdict | undefined> {
  const moves = calls.flatMap((call) => branchMoves(call));
  if (moves.length === 0) return undefined;
  const around = await neighbours(scene, found, session);
  if (around.live.length === 0) return undefined;
  for (const move of moves) {
    const user = move.to === undefined ? userOf(move, found, around) : undefined;
    if (user !== undefined) return denied(inUse(move, user, typedAt(scene, found)), [user]);
    const refusal = await refuseMove(scene, found, move, around);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

const denied = (reason: string, owners: readonly SessionId[]): Verdict => ({ kind: 'deny', reason, owners });

/** The live session that works on the branch. */
function userOf({ branch }: BranchMove, found: FoundRepository, { live }: Neighbours): SessionId | undefined {
  const trees = linkedWorktrees(found.commonDir).filter(
    ({ gitDir }) => readHead(gitDir) === `refs/heads/${branch ?? ''}`,
  );
  const ids = trees.map(({ gitDir }) => knownWorktreeId(gitDir));
  return live.find(({ worktreeId }) => ids.includes(worktreeId))?.record.session;
}

function inUse({ branch = '', call }: BranchMove, user: SessionId, { git }: Typed): string {
  return (
    `\`git ${escapeLine(call.verb)}\` would delete the branch ${escapeLine(branch)} under session ${shortId(user)}, ` +
    `which works on it. Nothing was changed. Who is where: ${git} handoff sessions`
  );
}

async function refuseMove(
  scene: Scene,
  found: FoundRepository,
  move: BranchMove,
  { live, own }: Neighbours,
): Promise<Verdict | undefined> {
  const cwd = move.call.cwd ?? scene.cwd;
  const commits = await leftCommits(cwd, move.branch ?? headBranch(cwd), move.to, lookingTime(scene));
  const sides = { own, foreign: new Set(live.map(({ record }) => record.session)) };
  const peerOf = ({ sessions }: LeftCommit) =>
    sessions.map((name) => namedPeer(name, sides)).find((id) => id !== undefined);
  const theirs = commits.find((commit) => peerOf(commit) !== undefined);
  const owner = theirs === undefined ? undefined : peerOf(theirs);
  if (theirs === undefined || owner === undefined) return undefined;
  const branch = move.branch === undefined ? 'this branch' : escapeLine(move.branch);
  const newest = commits[0];
  const isOnTop =
    newest !== undefined && newest !== theirs && newest.sessions.some((name) => namesOwn(name, sides));
  const reason =
    `\`git ${escapeLine(move.call.verb)}\` would take the commit ${theirs.oid.slice(0, 7)} of session ` +
    `${shortId(owner)}, which is at work, off ${branch}: ${escapeLine(theirs.subject)}. Nothing was changed. `;
  const typed = typedAt(scene, discoverRepository(realPath(cwd)) ?? found);
  return denied(reason + instead(move, theirs, isOnTop ? newest : undefined, typed), [owner]);
}

/** The branch that is checked out around a folder; `HEAD` when it is detached. */
function headBranch(cwd: string): string {
  const gitDir = discoverRepository(realPath(cwd))?.gitDir;
  const ref = gitDir === undefined ? undefined : readHead(gitDir);
  return ref === undefined ? 'HEAD' : ref.replace(/^refs\/heads\//, '');
}

function instead(
  { branch, to, call }: BranchMove,
  theirs: LeftCommit,
  own: LeftCommit | undefined,
  { git, beside }: Typed,
): string {
  if (branch !== undefined || to === undefined) return `Who is where: ${git} handoff sessions`;
  if (own !== undefined) {
    const mode = call.words.find((word) => /^--(?:hard|soft|mixed|keep)$/.test(word ?? ''));
    const kept = mode === '--soft' || mode === undefined;
    return kept
      ? `To take back your own commits only: ${git} reset ${mode === undefined ? '' : `${mode} `}${theirs.oid.slice(0, 12)}`
      : `To undo your own commit: ${git} revert --no-edit ${own.oid.slice(0, 12)}`;
  }
  return `To work from there, use a tree of your own: ${git} worktree add --detach ${beside(theirs.oid.slice(0, 7))} ${shellWord(to)}`;
}
