import { hadOwnCommits } from '../../domain/staleness.ts';
import type { BranchName, Oid } from '../../domain/names.ts';
import type { BranchPlace, Situation } from '../../domain/verification/findings.ts';
import { type Branches, remoteBranches, renamedBranches, isSquashed } from '../../git/branches.ts';
import { type Repository, branchTip, committer } from '../../git/repository.ts';
import type { GitOptions } from '../../git/run.ts';
import { branchesElsewhere, findLanded } from '../../notes/staleness.ts';
import { encodeBranch } from '../../git/namespace.ts';
import { findTopic, newestTopic } from '../../notes/topic-argument.ts';
import { type ReadableTopic, type TopicState, readTopic, readTopics } from '../../notes/topic.ts';

export interface FoundBranch {
  readonly place: BranchPlace;
  /** Another worktree, in which the branch is checked out. */
  readonly elsewhere?: string | undefined;
  /** If the default branch contains the branch's work: whether merged or squashed. */
  readonly merged: Merged | undefined;
  /** The commit to compare the note's base with. */
  readonly tip: Oid | undefined;
  /** Whether the files on the disk are this branch's. */
  readonly onDisk: boolean;
}

type Merged = Situation<'branch-merged' | 'branch-squashed', 'branch'>;

/**
 * Finds where a note's branch is now, under whatever name, and whether its work is in the default branch.
 *
 * @param current the branch that is checked out
 * @param mail the address of the note's writer
 */
export async function findBranch(
  options: GitOptions,
  current: BranchName,
  { branch, mail }: { readonly branch: BranchName; readonly mail: string },
  branches: Branches,
): Promise<FoundBranch> {
  if (branch === 'HEAD') {
    const place: BranchPlace =
      current === 'HEAD' ? { code: 'detached-still' } : { code: 'detached-then', now: checkedOut(current) };
    return {
      place,
      merged: undefined,
      tip: await branchTip({ cwd: options.cwd }, 'HEAD' as BranchName),
      onDisk: true,
    };
  }
  const head = branches.heads.get(branch);
  if (head === undefined) return findElsewhere(options, current, { branch, mail }, branches);
  const isHere = current === branch;
  const where = head.worktree === undefined ? '' : `; ${branch} is in ${head.worktree}`;
  return {
    place: isHere ? { code: 'branch-here' } : { code: 'branch-elsewhere', now: checkedOut(current), where },
    elsewhere: isHere ? undefined : head.worktree,
    merged: await findMerged(options, branch, head.oid, branches),
    tip: head.oid,
    onDisk: isHere,
  };
}

const checkedOut = (current: string) =>
  current === 'HEAD' ? 'HEAD is detached' : `${current} is checked out`;

/** Finds out what became of a branch that does not exist here under this name. */
async function findElsewhere(
  options: GitOptions,
  current: BranchName,
  { branch, mail }: { readonly branch: BranchName; readonly mail: string },
  branches: Branches,
): Promise<FoundBranch> {
  const none = { merged: undefined, tip: undefined, onDisk: false };
  if (current === branch) return { ...none, place: { code: 'branch-unborn' }, onDisk: true };
  const [renamed, remote] = await Promise.all([renamedBranches(options), remoteBranches(options, [branch])]);
  const to = latestName(renamed, branch);
  const tip = to === undefined ? undefined : branches.heads.get(to)?.oid;
  if (to !== undefined && tip !== undefined) {
    const now = to === current ? 'which is checked out' : `and ${checkedOut(current)}`;
    const place: BranchPlace = { code: 'branch-renamed', to, now };
    return { place, merged: await findMerged(options, to, tip, branches), tip, onDisk: to === current };
  }
  const there = remote.get(branch);
  if (there !== undefined)
    return { ...none, place: { code: 'branch-remote', remote: there.name }, tip: there.oid };
  const [{ email }, elsewhere] = await Promise.all([
    committer(options.cwd),
    branchesElsewhere(options, [branch]),
  ]);
  if (elsewhere.has(branch) || (email !== undefined && email !== mail))
    return { ...none, place: { code: 'branch-absent' } };
  return { ...none, place: { code: 'branch-deleted' }, onDisk: true };
}

async function findMerged(
  options: GitOptions,
  branch: string,
  tip: Oid,
  branches: Branches,
): Promise<Merged | undefined> {
  const landed = await findLanded(() => options, [branch], branches);
  if (landed === undefined) return undefined;
  const { into, refs } = landed;
  if (!landed.merged.has(branch)) {
    return (await isSquashed(options, refs, tip)) ? { code: 'branch-squashed', into } : undefined;
  }
  const moves = landed.moves.get(branch) ?? [];
  return hadOwnCommits(branch, moves, landed.tips.has(tip)) ? { code: 'branch-merged', into } : undefined;
}

/** Returns a branch's latest name: it may have been renamed several times. */
function latestName(renamed: ReadonlyMap<string, string>, branch: string): string | undefined {
  const seen = new Set([branch]);
  let name = renamed.get(branch);
  for (let next = name; next !== undefined && !seen.has(next); next = renamed.get(next)) {
    seen.add(next);
    name = next;
  }
  return name;
}

/** The note to continue from, and all topics of its branch. */
export interface Chosen {
  readonly state: ReadableTopic;
  readonly beside: readonly TopicState[];
}

/**
 * Returns the named topic or, without a name, the branch's newest.
 *
 * @throws Failure `not-found` with the next command.
 */
export async function chooseNote(repository: Repository, topic: string | undefined): Promise<Chosen> {
  const named = topic === undefined ? undefined : await findTopic(repository, topic, { note: true });
  const beside = await readTopics(repository, named?.path.component ?? encodeBranch(repository.branch));
  const { path } = named ?? newestTopic(repository.branch, beside);
  return { state: named ?? (await readTopic(repository, path, { note: true })), beside };
}
