import {
  FORMAT_VERSION,
  type HandoffCommit,
  type HandoffTrailers,
  MAX_COMMIT_BYTES,
  MAX_NOTE_BYTES,
} from './handoff.ts';
import type { Oid, SessionId, Topic } from './names.ts';

/**
 * The one rule of the house. Every gate (write, fetch, push, CI, a server's hook) calls these two
 * functions, which judge by commit data alone.
 */

export type StepKind = 'create' | 'write' | 'close' | 'reopen' | 'take' | 'succeed' | 'merge';

export type StepVerdict =
  | { readonly legal: true; readonly step: StepKind }
  | { readonly legal: false; readonly reason: IllegalReason };

export type IllegalReason =
  | 'unreadable trailers'
  | 'unreadable state.json'
  | 'no handoff.md'
  | 'unknown format version'
  | 'foreign owner without a take'
  | 'taken from somebody who did not own it'
  | 'too many parents'
  | 'not a descendant'
  | 'deleted'
  | 'names another branch or topic'
  | 'no commit'
  | 'commit too large'
  | 'note too large';

const illegal = (reason: IllegalReason): StepVerdict => ({ legal: false, reason });
const legal = (step: StepKind): StepVerdict => ({ legal: true, step });

/** What is wrong with one commit whatever came before it. */
export function checkCommit(commit: HandoffCommit): IllegalReason | undefined {
  const { trailers, recorded, bytes = 0, noteBytes = 0 } = commit;
  if (bytes > MAX_COMMIT_BYTES) return 'commit too large';
  if (recorded === undefined) return 'unreadable state.json';
  if (recorded.version > FORMAT_VERSION) return 'unknown format version';
  if (recorded.version !== FORMAT_VERSION) return 'unreadable state.json';
  if (trailers === undefined) return 'unreadable trailers';
  if (!commit.hasNote) return 'no handoff.md';
  if (noteBytes > MAX_NOTE_BYTES) return 'note too large';
  return commit.parents.length > 2 ? 'too many parents' : undefined;
}

/** Judges one commit, given its parents (first parent first). */
export function checkStep(parents: readonly HandoffCommit[], commit: HandoffCommit): StepVerdict {
  const { trailers } = commit;
  const reason = checkCommit(commit);
  if (reason !== undefined || trailers === undefined) return illegal(reason ?? 'unreadable trailers');
  const [first, second, ...more] = parents;
  if (more.length > 0) return illegal('too many parents');
  if (first === undefined)
    return formerOwner(trailers) === undefined ? legal('create') : illegal(NOT_ITS_OWNER);
  // What a later version wrote is read, and never written over.
  if ((first.recorded?.version ?? 0) > FORMAT_VERSION) return illegal('unknown format version');
  if (first.trailers === undefined) return illegal('unreadable trailers');
  const change = ownerChange(trailers, first.trailers.owner);
  if (second !== undefined) return checkMerge(change, commit, second);
  if (change === 'none') return legal(sameOwnerStep(first.trailers.state, trailers.state));
  if (change === 'foreign') return illegal('foreign owner without a take');
  return change === 'mismatch' ? illegal(NOT_ITS_OWNER) : legal(change);
}

const NOT_ITS_OWNER = 'taken from somebody who did not own it';

type OwnerChange = 'none' | 'take' | 'succeed' | 'foreign' | 'mismatch';

/** The owner that a commit says it came after. */
function formerOwner({ takenFrom, succeeds }: HandoffTrailers): SessionId | undefined {
  return takenFrom ?? succeeds;
}

function ownerChange(trailers: HandoffTrailers, former: SessionId): OwnerChange {
  const { owner, takenFrom, succeeds } = trailers;
  const claimed = formerOwner(trailers);
  if (claimed !== undefined && (claimed !== former || owner === former)) return 'mismatch';
  if (takenFrom !== undefined && succeeds !== undefined) return 'mismatch';
  if (owner === former) return 'none';
  if (takenFrom !== undefined) return 'take';
  return succeeds === undefined ? 'foreign' : 'succeed';
}

function sameOwnerStep(before: string, after: string): StepKind {
  if (before === after) return 'write';
  return after === 'closed' ? 'close' : 'reopen';
}

/** A merge of two lines of one topic: by the owner of either side, or as a take of the first. */
function checkMerge(change: OwnerChange, commit: HandoffCommit, second: HandoffCommit): StepVerdict {
  if (second.trailers === undefined) return illegal('unreadable trailers');
  if (change === 'mismatch') return illegal(NOT_ITS_OWNER);
  const ownsSecond = commit.trailers?.owner === second.trailers.owner;
  return change === 'foreign' && !ownsSecond ? illegal('foreign owner without a take') : legal('merge');
}

/** The move of a ref: the commits it adds, oldest first, and what each one's parents are. */
export interface Move {
  readonly old: HandoffCommit | undefined;
  /** `undefined` when the ref was deleted. */
  readonly next: Oid | undefined;
  /** First-parent chain from after `old` to `next`, oldest first. */
  readonly chain: readonly HandoffCommit[];
  /** Second parents of merges in the chain. */
  readonly others?: ReadonlyMap<Oid, HandoffCommit>;
}

export type MoveVerdict =
  | { readonly legal: true; readonly steps: readonly StepKind[] }
  | { readonly legal: false; readonly reason: IllegalReason; readonly at: Oid | undefined };

/** Where a ref stands: its topic, and whether a branch name belongs into its branch component. */
export interface Place {
  readonly topic: Topic;
  holdsBranch(branch: string): boolean;
}

/** Judges the move of a handoff ref from `old` (nothing: from the root) to `next`, for the place it stands at. */
export function checkMove(move: Move, place: Place): MoveVerdict {
  if (move.next === undefined) return { legal: false, reason: 'deleted', at: undefined };
  if (move.old?.oid === move.next) return { legal: true, steps: [] };
  const steps: StepKind[] = [];
  let parent = move.old;
  for (const commit of move.chain) {
    const refused = (reason: IllegalReason): MoveVerdict => ({ legal: false, reason, at: commit.oid });
    if (commit.parents[0] !== parent?.oid) return refused('not a descendant');
    const others = commit.parents.slice(1).map((oid) => move.others?.get(oid));
    if (others.some((other) => other === undefined)) return refused('not a descendant');
    const verdict = checkStep(
      [parent, ...others].filter((one) => one !== undefined),
      commit,
    );
    if (!verdict.legal) return refused(verdict.reason);
    if (!namesPlace(commit, place)) return refused('names another branch or topic');
    steps.push(verdict.step);
    parent = commit;
  }
  if (parent?.oid !== move.next) return { legal: false, reason: 'not a descendant', at: move.next };
  return { legal: true, steps };
}

/** Whether a commit was written for the place that its ref stands at. */
export function namesPlace({ recorded }: HandoffCommit, place: Place): boolean {
  return recorded !== undefined && recorded.topic === place.topic && place.holdsBranch(recorded.branch);
}
