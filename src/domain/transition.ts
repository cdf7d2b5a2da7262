import {
  FORMAT_VERSION,
  type HandoffCommit,
  type HandoffTrailers,
  MAX_COMMIT_BYTES,
  MAX_NOTE_BYTES,
  MAX_TREE_BYTES,
} from './handoff.ts';
import type { Oid, SessionId, Topic } from './names.ts';

/**
 * The rules for the commits of handoffs and the moves of their refs. Every gate (write, fetch, push, CI, a server's
 * hook) calls these functions, which judge by commit data alone.
 */

type StepKind = 'create' | 'write' | 'close' | 'reopen' | 'take' | 'succeed' | 'merge' | 'diverge';

type StepVerdict =
  | { readonly legal: true; readonly step: StepKind }
  | { readonly legal: false; readonly reason: IllegalReason };

export type IllegalReason =
  | 'unreadable trailers'
  | 'unreadable state.json'
  | 'no handoff.md'
  | 'note too large'
  | 'unknown format version'
  | 'foreign owner without a take'
  | 'taken from somebody who did not own it'
  | 'too many parents'
  | 'merge of its own past'
  | 'history too long'
  | 'not a descendant'
  | 'deleted'
  | 'names another branch or topic'
  | 'no commit'
  | 'commit too large'
  | 'too many files';

const illegal = (reason: IllegalReason): StepVerdict => ({ legal: false, reason });
const legal = (step: StepKind): StepVerdict => ({ legal: true, step });

/** Returns what is wrong with a commit by itself, whatever came before it. */
export function checkHandoffCommit(commit: HandoffCommit): IllegalReason | undefined {
  const { trailers, recorded, bytes = 0, treeBytes = 0, noteBytes = 0 } = commit;
  if (bytes > MAX_COMMIT_BYTES) return 'commit too large';
  if (treeBytes > MAX_TREE_BYTES) return 'too many files';
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
  const reason = checkHandoffCommit(commit);
  if (reason !== undefined || trailers === undefined) return illegal(reason ?? 'unreadable trailers');
  const [first, second, ...more] = parents;
  if (more.length > 0) return illegal('too many parents');
  if (first === undefined)
    return trailers.divergedFrom !== undefined
      ? illegal('not a descendant')
      : formerOwner(trailers) === undefined
        ? legal('create')
        : illegal(NOT_ITS_OWNER);
  // A commit of a later version is read, but nothing is written on top of it.
  if ((first.recorded?.version ?? 0) > FORMAT_VERSION) return illegal('unknown format version');
  if (first.trailers === undefined) return illegal('unreadable trailers');
  const change = ownerChange(trailers, first.trailers.owner);
  if (trailers.divergedFrom !== undefined) return checkDiverge(parents, commit, change);
  if (second !== undefined) return checkMerge(change, commit, second);
  if (change === 'none') return legal(sameOwnerStep(first.trailers.state, trailers.state));
  if (change === 'foreign') return illegal('foreign owner without a take');
  return change === 'mismatch' ? illegal(NOT_ITS_OWNER) : legal(change);
}

const NOT_ITS_OWNER = 'taken from somebody who did not own it';

type OwnerChange = 'none' | 'take' | 'succeed' | 'foreign' | 'mismatch';

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

/** Judges a merge of two lines of one topic: either line's owner may make it, or whoever takes over the first line. */
function checkMerge(change: OwnerChange, commit: HandoffCommit, second: HandoffCommit): StepVerdict {
  if (second.trailers === undefined) return illegal('unreadable trailers');
  if (change === 'mismatch') return illegal(NOT_ITS_OWNER);
  const ownsSecond = commit.trailers?.owner === second.trailers.owner;
  return change === 'foreign' && !ownsSecond ? illegal('foreign owner without a take') : legal('merge');
}

/** Judges the step by which `sync` sets a line of a topic aside: it continues under another name, with the same owner. */
function checkDiverge(
  [first, second]: readonly HandoffCommit[],
  { trailers, recorded }: HandoffCommit,
  change: OwnerChange,
): StepVerdict {
  const before = first?.recorded?.topic;
  if (second !== undefined) return illegal('too many parents');
  if (before !== trailers?.divergedFrom || before === recorded?.topic)
    return illegal('names another branch or topic');
  return change === 'none' ? legal('diverge') : illegal('foreign owner without a take');
}

/** The move of a ref: the commits that it adds, and their parents. */
export interface Move {
  readonly old: HandoffCommit | undefined;
  /** `undefined` when the ref was deleted. */
  readonly next: Oid | undefined;
  /** Every commit that is in the history of `next` and not in that of `old`, in any order. */
  readonly chain: readonly HandoffCommit[];
  /** Those parents of commits in `chain` that `chain` lacks: a merge may have a parent from the history of `old`. */
  readonly others?: ReadonlyMap<Oid, HandoffCommit>;
}

type MoveVerdict =
  | { readonly legal: true; readonly steps: readonly StepKind[] }
  | { readonly legal: false; readonly reason: IllegalReason; readonly at: Oid | undefined };

/** What the name of a ref says: the topic, and whether its branch component stands for a given branch. */
export interface Place {
  readonly topic: Topic;
  holdsBranch(branch: string): boolean;
}

/**
 * Judges the move of the handoff ref at `place` from `old` (`undefined`: from the roots) to `next`: every commit that
 * it adds must be a legal step, and `old` must be in the history of `next`.
 */
export function checkMove(move: Move, place: Place): MoveVerdict {
  const { old, next } = move;
  if (next === undefined) return { legal: false, reason: 'deleted', at: undefined };
  if (old?.oid === next) return { legal: true, steps: [] };
  const walk = oldestFirst(move, next, place.topic);
  if (walk.missing !== undefined || (old !== undefined && !walk.meetsOld))
    return { legal: false, reason: 'not a descendant', at: walk.missing ?? next };
  const known = new Map([
    ...(move.others ?? []),
    ...move.chain.map((commit) => [commit.oid, commit] as const),
  ]);
  if (old !== undefined) known.set(old.oid, old);
  const steps: StepKind[] = [];
  // The commits that descend from `old`, by whichever parent.
  const moved = new Set(old === undefined ? [] : [old.oid]);
  const areTwoLines = lineJudge(known, new Set(move.chain.map(({ oid }) => oid)), old?.oid);
  for (const { commit, topic } of walk.visits) {
    const refused = (reason: IllegalReason): MoveVerdict => ({ legal: false, reason, at: commit.oid });
    const parents = commit.parents.slice(0, MAX_PARENTS + 1).flatMap((oid) => known.get(oid) ?? []);
    const verdict = checkStep(parents, commit);
    if (!verdict.legal) return refused(verdict.reason);
    if (parents.length > 1 && !areTwoLines(commit.parents)) return refused('merge of its own past');
    const onLine = parents.filter(({ oid }) => moved.has(oid));
    if (onLine.length > 0) moved.add(commit.oid);
    if (parents.length > 1 && isTakenSilently(commit, onLine)) return refused('foreign owner without a take');
    if (!namesPlace(commit, topic, place)) return refused('names another branch or topic');
    steps.push(verdict.step);
  }
  return { legal: true, steps };
}

const MAX_PARENTS = 2;

/** Whether a merge changes the owner of the line that it continues, and no trailer says so. 0.1.0 made such merges. */
function isTakenSilently({ trailers }: HandoffCommit, line: readonly HandoffCommit[]): boolean {
  if (trailers === undefined || formerOwner(trailers) !== undefined) return false;
  return line.some((parent) => parent.trailers?.owner !== trailers.owner);
}

interface Visit {
  readonly commit: HandoffCommit;
  /** The topic of the commit's ref when the commit was made: `sync` may have renamed the topic since. */
  readonly topic: string;
}

interface Walk {
  readonly visits: readonly Visit[];
  readonly meetsOld: boolean;
  /** A parent that is neither in `chain` nor in `others`. */
  readonly missing: Oid | undefined;
}

/** Orders the added commits, each after its parents, in a loop: a history may be longer than the stack is deep. */
function oldestFirst({ old, chain, others }: Move, next: Oid, topic: string): Walk {
  const added = new Map(chain.map((commit) => [commit.oid, commit]));
  const visits: Visit[] = [];
  const seen = new Set<Oid>();
  let meetsOld = false;
  const todo: { oid: Oid; topic: string; visit?: Visit }[] = [{ oid: next, topic }];
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    if (at.visit !== undefined) {
      visits.push(at.visit);
      continue;
    }
    if (at.oid === old?.oid) meetsOld = true;
    if (seen.has(at.oid) || at.oid === old?.oid) continue;
    seen.add(at.oid);
    const commit = added.get(at.oid);
    if (commit === undefined) {
      if (others?.has(at.oid) === true) continue;
      return { visits, meetsOld, missing: at.oid };
    }
    const former = commit.trailers?.divergedFrom ?? at.topic;
    todo.push({ ...at, visit: { commit, topic: at.topic } });
    for (const parent of commit.parents.slice(0, MAX_PARENTS + 1)) todo.push({ oid: parent, topic: former });
  }
  return { visits, meetsOld, missing: undefined };
}

function namesPlace({ recorded }: HandoffCommit, topic: string, place: Place): boolean {
  return recorded !== undefined && recorded.topic === topic && place.holdsBranch(recorded.branch);
}

/** How many commits may be visited for all merges of one move: no real history needs more. */
const MAX_LOOKS = 2_000_000;

/**
 * Returns a function that tells whether a merge joins two lines (neither parent is in the other's history). A merge of a line
 * with its own past would let a former owner own the handoff again without a take. `known`: all commits that were read;
 * `added`: those that the move adds to the history of `old`.
 */
function lineJudge(
  known: ReadonlyMap<Oid, HandoffCommit>,
  added: ReadonlySet<Oid>,
  old: Oid | undefined,
): (parents: readonly Oid[]) => boolean {
  let looks = 0;
  const isBehind = (oid: Oid, tip: Oid): boolean => {
    const todo = [tip];
    const seen = new Set<Oid>();
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      if (at === oid || ++looks > MAX_LOOKS) return true;
      if (seen.has(at)) continue;
      seen.add(at);
      // A commit that the move does not add is in the history of `old`, by definition.
      if (at === old && !added.has(oid)) return true;
      todo.push(...(known.get(at)?.parents ?? []));
    }
    return false;
  };
  return ([first, second]) =>
    first !== undefined && second !== undefined && !isBehind(second, first) && !isBehind(first, second);
}
