import type { HandoffCommit } from '../../domain/handoff.ts';
import type { Oid, RefName } from '../../domain/names.ts';
import { type FoldFacts, type Relation, type FoldAction, decideFold } from '../../domain/sync.ts';
import { type IllegalReason, checkHandoffCommit } from '../../domain/transition.ts';
import { historyOf, walkEach, walkHistories } from '../../git/histories.ts';
import {
  HANDOFFS,
  type HandoffPath,
  PRUNED,
  handoffRef,
  parsePath,
  prunedRef,
  remotePrefix,
  keptRef,
  lostNumber,
} from '../../git/namespace.ts';
import { type Found, loadJudged, noteNames } from '../../git/commits.ts';
import { type Ref, type RefUpdate, updateRefs } from '../../git/refs.ts';
import type { InRepository, Repository } from '../../git/repository.ts';
import { listBookkeepingRefs } from '../../git/migrate-ref-lists.ts';
import { memoryName } from '../../notes/delete-notes.ts';
import { judgeMoves } from '../../notes/moves.ts';
import { type TopicState, readTopics } from '../../notes/topic.ts';
import { Failure } from '../../domain/messages.ts';
import { inBatches, twoAtOnce } from '../../git/run.ts';
import { nextLostRef } from '../../notes/lost.ts';

/** A topic as it is here and at a remote, or one that was deleted here. */
export interface SyncedTopic {
  readonly path: HandoffPath;
  readonly here: TopicState | undefined;
  /** The tip that the remote shows now; `undefined`: it shows none. */
  readonly shown: Oid | undefined;
  /** The tracking ref: what was last fetched or pushed; `undefined`: the remote has never shown it. */
  readonly there: Ref | undefined;
  /** The record of a deliberate deletion here: a blob that contains the deleted commit's object name. */
  readonly pruned: Oid | undefined;
}

/**
 * Reads all topics here and what is known of them at a remote.
 *
 * @param shown the tips that the remote shows, under our names for them; a promise is awaited while the topics are read
 * @param known the topics here, if they were just read
 */
export async function readSyncedTopics(
  repository: InRepository,
  remote: string,
  shown: ReadonlyMap<RefName, Oid> | Promise<ReadonlyMap<RefName, Oid>>,
  known?: readonly TopicState[],
): Promise<SyncedTopic[]> {
  const [tips, states, beside] = await Promise.all([
    shown,
    known ?? readTopics(repository),
    listBookkeepingRefs(repository, [remotePrefix(remote), PRUNED]),
  ]);
  const here = new Map(states.map((state) => [handoffRef(state.path), state]));
  const below = (prefix: string) =>
    new Map(
      beside.flatMap((ref) => {
        const path = parsePath(ref.name, prefix);
        return path === undefined ? [] : [[handoffRef(path), ref] as const];
      }),
    );
  const [there, memories] = [below(remotePrefix(remote)), below(PRUNED)];
  const names = new Set([...tips.keys(), ...here.keys(), ...there.keys(), ...memories.keys()]);
  return [...names].sort().flatMap((name) => {
    const path = parsePath(name, HANDOFFS);
    if (path === undefined) return [];
    const pruned = memories.get(name)?.oid;
    return [{ path, here: here.get(name), shown: tips.get(name), there: there.get(name), pruned }];
  });
}

/** Whether a handoff was deliberately deleted here at the very commit that a remote has. */
export const isDeletedHere = ({ pruned }: SyncedTopic, there: Oid | undefined): boolean =>
  pruned !== undefined && there !== undefined && pruned === memoryName(there);

/** A topic whose tips here and at the remote differ, with the facts that decide how to fold it. */
export interface Difference extends SyncedTopic {
  readonly there: Ref;
  readonly facts: FoldFacts;
  /** The commit that the remote shows; `undefined` if the remote shows something else. */
  readonly theirs: HandoffCommit | undefined;
}

/** Judges every topic whose tip at the remote differs from the one here, with a handful of processes for all of them. */
export async function findDifferences(
  repository: InRepository,
  topics: readonly SyncedTopic[],
): Promise<Difference[]> {
  const unequal = topics.flatMap((one) =>
    one.there === undefined || one.there.oid === one.here?.tip?.oid ? [] : [{ ...one, there: one.there }],
  );
  if (unequal.length === 0) return [];
  const oids = [...new Set(unequal.map(({ there }) => there.oid))];
  const loaded = await loadJudged({ cwd: repository.cwd }, oids);
  const tips = new Map(oids.map((oid, at) => [oid, loaded[at] ?? 'missing']));
  // A tip that is no handoff may have a whole project's history, which is not walked.
  const strange = unequal.map((one) => strangeness(one, tips.get(one.there.oid)));
  const known = unequal.filter((_, at) => strange[at] === undefined);
  const relations = await relate(repository, known);
  const moving = known.filter((one) =>
    ['behind', 'only-there', 'diverged'].includes(relations.get(one) ?? ''),
  );
  // A diverged history is judged from its root on, because it may share nothing with ours.
  const moves = moving.map((one) => ({
    path: one.path,
    old: relations.get(one) === 'behind' ? one.here?.tip?.oid : undefined,
    next: one.there.oid,
  }));
  const reasons = await judgeMoves(repository, moves, tips);
  const reasonOf = new Map(moving.map((one, at) => [one, reasons[at]]));
  const own = new Set<SyncedTopic>();
  for (const one of moving) {
    if (relations.get(one) === 'diverged' && (await hasOwnText(repository, one))) own.add(one);
  }
  return unequal.map((one, at) => {
    const tip = tips.get(one.there.oid);
    const facts = {
      relation: relations.get(one) ?? (one.here?.tip === undefined ? 'only-there' : 'diverged'),
      illegal: strange[at] ?? reasonOf.get(one),
      deletedHere: isDeletedHere(one, one.there.oid),
      hasOwnText: own.has(one),
    };
    return { ...one, facts, theirs: typeof tip === 'object' ? tip : undefined };
  });
}

type Unequal = SyncedTopic & { readonly there: Ref };

/** Why a remote's tip cannot be folded: it is no handoff that this version knows, or ours cannot be read. */
function strangeness({ here, there: ref }: Unequal, tip: Found | undefined): IllegalReason | undefined {
  if (ref.type !== 'commit' || ref.symbolic || typeof tip !== 'object') return 'no commit';
  // An unreadable handoff here is not replaced by a readable one.
  if (here !== undefined && here.tip === undefined && here.keptOid !== undefined) return 'not a descendant';
  return checkHandoffCommit(tip);
}

async function relate(
  repository: InRepository,
  topics: readonly Unequal[],
): Promise<ReadonlyMap<SyncedTopic, Relation>> {
  const pairs = topics.filter(({ here }) => here?.tip !== undefined);
  const walks = await walkEach({ cwd: repository.cwd }, pairs, ({ here, there }) => [
    there.oid,
    ...(here?.tip === undefined ? [] : [here.tip.oid]),
  ]);
  return new Map(
    topics.map((one) => {
      const tip = one.here?.tip?.oid;
      if (tip === undefined) return [one, 'only-there'];
      const walked = walks.get(one);
      if (walked === undefined || typeof walked === 'string') return [one, 'diverged'];
      if (historyOf(walked, tip).has(one.there.oid)) return [one, 'ahead'];
      return [one, historyOf(walked, one.there.oid).has(tip) ? 'behind' : 'diverged'];
    }),
  );
}

/** Whether the history here has a note that the remote's history lacks, or may have one, if a note cannot be read. */
async function hasOwnText({ cwd }: InRepository, { here, there }: Unequal): Promise<boolean> {
  const [mine, theirs] = [await notesOf(cwd, here?.tip?.oid), await notesOf(cwd, there.oid)];
  return mine === undefined || theirs === undefined || [...mine].some((name) => !theirs.has(name));
}

/** The object names of all notes in a history, through every parent of a merge; `undefined` if one cannot be read. */
async function notesOf(cwd: string, tip: Oid | undefined): Promise<ReadonlySet<Oid> | undefined> {
  const walked = tip === undefined ? 'hole' : await walkHistories({ cwd }, [tip]);
  if (typeof walked === 'string') return undefined;
  const names = await noteNames({ cwd }, [...walked.keys()]);
  return names.size < walked.size ? undefined : new Set(names.values());
}

/** The outcome for one topic. */
export interface Folded {
  readonly difference: Difference;
  /** `moved`: somebody moved the topic meanwhile; the next round decides again. */
  readonly kind: FoldAction | 'moved';
  /** For `set-aside`: the number with which `show --lost` prints the note that was here. */
  readonly lost: number | undefined;
}

/** Maximum number of handoffs in one transaction. */
export const BATCH = 5000;

/**
 * Folds the handoffs that a remote shows into those here, each by compare-and-swap from the values that were read. No text
 * is dropped: if a handoff here diverged and has texts of its own, it is kept as a lost text, with all its versions.
 *
 * @param topics the topics that the remote shows
 */
export async function foldTopics(repository: Repository, topics: readonly SyncedTopic[]): Promise<Folded[]> {
  const differences = await findDifferences(repository, topics);
  const moved = await moveAll(repository, differences);
  const folded: Folded[] = [];
  for (const difference of differences) {
    const kind = decideFold(difference.facts);
    const lost = kind === 'set-aside' ? await keepOurs(repository, difference) : undefined;
    const isMoved = moved.has(difference) || (kind === 'set-aside' && lost === undefined);
    folded.push({ difference, kind: isMoved ? 'moved' : kind, lost });
  }
  return folded;
}

/** Moves the handoffs that can simply follow the remote; returns those that somebody else moved meanwhile. */
async function moveAll(
  repository: Repository,
  differences: readonly Difference[],
): Promise<ReadonlySet<Difference>> {
  const simple = differences.filter(({ facts }) =>
    ['create', 'forward', 'follow'].includes(decideFold(facts)),
  );
  // A handoff that is new here has no old value that a reflog could record.
  const isNew = ({ here }: Difference) => here?.publicOid === undefined && here?.keptOid === undefined;
  const groups = [simple.filter(isNew), simple.filter((one) => !isNew(one))];
  const batches = groups.flatMap((group) => inBatches(group, BATCH));
  const moved = new Set<Difference>();
  const move = async (batch: readonly Difference[]): Promise<void> => {
    if (await apply(repository, batch.flatMap(toTheirs), batch.every(isNew))) return;
    if (batch.length === 1) batch.forEach((one) => moved.add(one));
    else for (const half of inBatches(batch, Math.ceil(batch.length / 2))) await move(half);
  };
  await twoAtOnce(batches, move);
  return moved;
}

async function apply(
  repository: Repository,
  updates: readonly RefUpdate[],
  isNew: boolean,
): Promise<boolean> {
  const options = isNew ? { repeatable: true } : { reflog: 'handoff: fetch' };
  return (await updateRefs(repository, updates, options)).kind === 'done';
}

/** The ref updates that move a handoff to the remote's tip: public ref first, `kept` second, as in every write. */
function toTheirs({ path, here, there, pruned }: Difference): RefUpdate[] {
  const forgotten = pruned === undefined ? [] : [{ ref: prunedRef(path), next: undefined, old: pruned }];
  const next = there.oid;
  const changed = (ref: RefUpdate['ref'], old: Oid | undefined) => (old === next ? [] : [{ ref, next, old }]);
  return [
    ...changed(handoffRef(path), here?.publicOid),
    ...changed(keptRef(path), here?.keptOid),
    ...forgotten,
  ];
}

/**
 * Keeps our history under a ref for lost texts, and moves the handoff to the remote's tip, in one transaction. Returns
 * the lost text's number; `undefined` if somebody else moved the handoff.
 */
async function keepOurs(repository: Repository, difference: Difference): Promise<number | undefined> {
  const tip = difference.here?.tip?.oid;
  if (tip === undefined) throw new Failure('internal', 'a handoff without a tip cannot be kept');
  const ref = await nextLostRef(repository, difference.path);
  const kept = { ref, next: tip, old: undefined };
  const isDone = await apply(repository, [kept, ...toTheirs(difference)], false);
  return isDone ? lostNumber(ref) : undefined;
}
