import type { Oid } from './names.ts';

/** Why an open note looks done or out of place; `null`: it does not, or this is not known. */
export type Staleness = 'merged' | 'branch-deleted' | 'branch-renamed' | null;

/** What is known of a note's branch. */
export interface BranchFacts {
  readonly branch: string;
  readonly exists: boolean;
  /** Whether it is checked out, maybe before its first commit. */
  readonly isCurrent: boolean;
  readonly isDefault: boolean;
  /** Whether the default branch contains its tip; `false` also if that is not known. */
  readonly isMerged: boolean;
  readonly moves: readonly BranchLogEntry[];
  /** Whether its tip is the second parent of a merge in the default branch. */
  readonly wasMerged: boolean;
  readonly renamedTo: string | undefined;
  /** Whether a remote has it. */
  readonly isRemote: boolean;
  /** Whether others, or another clone, wrote its notes: their branch may never have been here. */
  readonly isForeign: boolean;
}

/** Judges an open note by its branch. In doubt the note is not stale, so that no unfinished work seems done. */
export function decideStaleness(facts: BranchFacts): Staleness {
  if (facts.isCurrent && !facts.exists) return null;
  if (!facts.exists) {
    if (facts.renamedTo !== undefined) return 'branch-renamed';
    return facts.isRemote || facts.isForeign ? null : 'branch-deleted';
  }
  if (facts.isDefault || !facts.isMerged) return null;
  return hadOwnCommits(facts.branch, facts.moves, facts.wasMerged) ? 'merged' : null;
}

/** Whether a note with this staleness should be closed. */
export function looksDone(staleness: Staleness): boolean {
  return staleness === 'merged' || staleness === 'branch-deleted';
}

/** One entry of a branch's reflog (git-reflog(1)): what it was moved to, and why. */
export interface BranchLogEntry {
  readonly to: Oid;
  readonly message: string;
}

const OWN_COMMIT = /^(?:commit\b|cherry-pick\b|revert\b|am\b)/;
/** A fast-forward: the branch still contains what it had before. */
const FORWARD = /: Fast-forward$/;
const CREATED_FROM = /^branch: Created from (?:refs\/remotes\/)?(.+)$/;

/**
 * Whether a branch that the default branch contains had commits of its own; `false` in doubt, because the default branch also
 * contains a branch that is new or was reset. `moves`: the branch's reflog, newest first; empty when there is none.
 */
export function hadOwnCommits(branch: string, moves: readonly BranchLogEntry[], wasMerged: boolean): boolean {
  // A rename, or a reset to the same commit, moves nothing.
  const real = moves.filter(({ to }, at) => to !== moves[at + 1]?.to);
  const last = real.find(({ message }) => !FORWARD.test(message));
  if (last === undefined) return false;
  if (OWN_COMMIT.test(last.message)) return true;
  const rebased = /^rebase \(finish\): .* onto ([0-9a-f]+)$/.exec(last.message)?.[1];
  if (rebased !== undefined) return rebased !== last.to;
  // A branch that was created from its remote branch has commits from elsewhere, which count only if it was merged.
  const origin = CREATED_FROM.exec(last.message)?.[1];
  return wasMerged && origin?.endsWith(`/${branch}`) === true;
}

/** The branch that other branches are merged into, with its refs: the local one, and the remote one as last fetched. */
export interface DefaultBranch {
  readonly name: string;
  readonly refs: readonly string[];
}

const REMOTE = 'refs/remotes/origin/';

/** Chooses the default branch: the remote's, else the configured one, else a usual one. */
export function chooseDefault(facts: {
  /** What `refs/remotes/origin/HEAD` points at. */
  readonly origin: string | undefined;
  /** `init.defaultBranch`. */
  readonly configured: string | undefined;
  readonly has: (branch: string) => boolean;
}): DefaultBranch | undefined {
  const { origin, configured, has } = facts;
  if (origin?.startsWith(REMOTE) === true) {
    const name = origin.slice(REMOTE.length);
    return { name, refs: has(name) ? [`refs/heads/${name}`, origin] : [origin] };
  }
  const name = [configured, 'main', 'master'].find((one) => one !== undefined && has(one));
  return name === undefined ? undefined : { name, refs: [`refs/heads/${name}`] };
}
