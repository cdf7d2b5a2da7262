import type { Oid, Topic } from '../../domain/names.ts';
import { type FoldAction, decideFold } from '../../domain/sync/fold.ts';
import type { IllegalReason } from '../../domain/transition.ts';
import { HANDOFFS, KEPT, handoffRef, keptRef, prunedRef } from '../../git/namespace.ts';
import { type RefUpdate, updateRefs } from '../../git/ref-updates.ts';
import { listRefNames } from '../../git/refs.ts';
import type { Repository } from '../../git/repository.ts';
import { type AsideLine, TakenNames, asideLine } from './aside.ts';
import { inBatches, twoAtOnce } from './batches.ts';
import type { Difference, SyncedTopic } from './differences.ts';

/** What became of one topic. */
export interface Folded {
  readonly difference: Difference;
  /** `moved`: it was written on meanwhile; the next look decides anew. */
  readonly kind: FoldAction['kind'] | 'moved' | 'conflict';
  readonly reason: IllegalReason | undefined;
  /** `set-aside`: what our line is called now. */
  readonly aside: Topic | undefined;
}

interface FoldOptions {
  /** Both sides of a divergence are left as they are (`conflict`), for a merge. */
  readonly leaveDiverged: boolean;
}

/** Handoffs in one transaction. */
const BATCH = 1500;

/** Up to so many new ones get both refs in one transaction. */
const MANY = 200;

/** What became of all topics. */
interface FoldedAll {
  readonly folded: readonly Folded[];
  /** To be awaited: the last of what is kept of thousands is written while others do something else. */
  readonly kept: Promise<void>;
}

/**
 * Folds what a remote shows into what stands here, each handoff by compare-and-swap from what was read. Nothing that
 * anybody wrote goes: a line that diverged goes on under another name, with all that was written before.
 */
export async function foldDifferences(
  repository: Repository,
  differences: readonly Difference[],
  topics: readonly SyncedTopic[],
  options: FoldOptions,
): Promise<FoldedAll> {
  const decided = differences.map((difference) => ({ difference, action: decideFold(difference.facts) }));
  const simple = decided.filter(({ action }) => ['create', 'forward', 'follow'].includes(action.kind));
  const { moved, kept } = await moveAll(
    repository,
    simple.map(({ difference }) => difference),
  );
  const taken = new TakenNames(topics);
  const folded: Folded[] = [];
  for (const { difference, action } of decided) {
    const plain = {
      difference,
      reason: action.kind === 'refuse' ? action.reason : undefined,
      aside: undefined,
    };
    if (moved.has(difference)) folded.push({ ...plain, kind: 'moved' });
    else if (action.kind !== 'set-aside') folded.push({ ...plain, kind: action.kind });
    else if (options.leaveDiverged) folded.push({ ...plain, kind: 'conflict' });
    else {
      const aside = await setAside(repository, difference, taken);
      folded.push({ ...plain, kind: aside === undefined ? 'moved' : 'set-aside', aside });
    }
  }
  return { folded, kept };
}

/** Moves handoffs to what the remote shows; returns those that were moved by somebody else meanwhile. */
async function moveAll(
  repository: Repository,
  differences: readonly Difference[],
): Promise<{ moved: ReadonlySet<Difference>; kept: Promise<void> }> {
  const moved = new Set<Difference>();
  // What is new here has no former value that a reflog could name.
  const isNew = ({ here }: Difference) => here?.publicOid === undefined && here?.keptOid === undefined;
  const oneByOne = async (batch: readonly Difference[]) => {
    for (const one of batch) if (!(await apply(repository, toTheirs(one), false))) moved.add(one);
  };
  const fresh = differences.filter(isNew);
  const others = differences.filter((one) => !isNew(one));
  const together = fresh.length > MANY ? [others] : [fresh, others];
  await twoAtOnce(
    together.flatMap((group) => inBatches(group, BATCH)),
    async (batch) => {
      if (!(await apply(repository, batch.flatMap(toTheirs), batch.every(isNew)))) await oneByOne(batch);
    },
  );
  if (fresh.length <= MANY) return { moved, kept: Promise.resolve() };
  return { moved, ...(await createMany(repository, fresh, oneByOne)) };
}

/**
 * git makes a file for each ref, and two folders filled by turns cost twice as much. So the public refs of a batch come
 * first, and what is kept of it beside the next batch's: without it a handoff is judged again, and is the same.
 *
 * @returns when all public refs are there: what ends with what is kept of them
 */
async function createMany(
  repository: Repository,
  fresh: readonly Difference[],
  oneByOne: (batch: readonly Difference[]) => Promise<void>,
): Promise<{ kept: Promise<void> }> {
  const keep = async (batch: readonly (readonly RefUpdate[])[]) => {
    if (await apply(repository, batch.flat(), true)) return;
    for (const one of batch) await apply(repository, one, true);
  };
  let keeping = Promise.resolve();
  for (const batch of inBatches(fresh, BATCH)) {
    const updates = batch.map(toTheirs);
    const isKept = ({ ref }: RefUpdate) => ref.startsWith(KEPT);
    // What remembers a deletion goes with the public ref: left behind, it would stop the next one.
    const firsts = updates.flatMap((each) => each.filter((one) => !isKept(one)));
    if (!(await apply(repository, firsts, true))) await oneByOne(batch);
    else {
      await keeping;
      keeping = keep(updates.map((each) => each.filter(isKept)));
      // Awaited when the next batch has its public refs.
      keeping.catch(() => undefined);
    }
  }
  const kept = keeping.then(() => forgetDeleted(repository, fresh));
  kept.catch(() => undefined);
  return { kept };
}

/** What somebody deleted between the two must not stay as what is kept of it. */
async function forgetDeleted(repository: Repository, fresh: readonly Difference[]): Promise<void> {
  const there = new Set((await listRefNames(repository, [HANDOFFS])).map(({ name }) => name));
  for (const { path, there: shown } of fresh)
    if (!there.has(handoffRef(path)))
      await apply(repository, [{ ref: keptRef(path), next: undefined, old: shown.oid }], true);
}

async function apply(
  repository: Repository,
  updates: readonly RefUpdate[],
  isNew: boolean,
): Promise<boolean> {
  const options = isNew ? { repeatable: true } : { reflog: 'handoff: fetch' };
  return (await updateRefs(repository, updates, options)).kind === 'done';
}

/** Public ref first, `kept` second, as every write does. */
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

/** Gives our line another name, and the remote's line its name, in one transaction; `undefined`: it moved. */
async function setAside(
  repository: Repository,
  difference: Difference,
  taken: TakenNames,
): Promise<Topic | undefined> {
  const line: AsideLine = await asideLine(repository, difference, taken);
  // Our line has its new name before the old one goes: a crash in between leaves both.
  const renamed = line.isThere
    ? []
    : [
        { ref: handoffRef(line.path), next: line.oid, old: undefined },
        { ref: keptRef(line.path), next: line.oid, old: undefined },
      ];
  if (!(await apply(repository, [...renamed, ...toTheirs(difference)], false))) return undefined;
  await line.secure();
  taken.add(line.path, line.oid);
  return line.path.topic;
}
