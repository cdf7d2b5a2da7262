import { type BranchLogEntry, hadOwnCommits } from './branch-history.ts';

/** Why an open note looks done or out of place; `null`: it does not, or this is not known. */
export type Staleness = 'merged' | 'branch-deleted' | 'branch-renamed' | null;

/** What is known of a note's branch. */
export interface BranchFacts {
  readonly branch: string;
  readonly exists: boolean;
  /** Whether it is checked out, maybe before its first commit. */
  readonly isCurrent: boolean;
  readonly isDefault: boolean;
  /** Whether the default branch holds its tip; `false` also if that is not known. */
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
