import type { Oid, Topic } from '../../domain/names.ts';
import { type FoldAction, decideFold } from '../../domain/sync/fold.ts';
import type { IllegalReason } from '../../domain/transition.ts';
import { inBatches, twoAtOnce } from '../../git/batches.ts';
import { KEPT_LIST, handoffRef, keptRef, prunedRef } from '../../git/namespace.ts';
import { type RefUpdate, updateRefs } from '../../git/ref-updates.ts';
import { addToList } from '../../git/ref-lists.ts';
import type { Repository } from '../../git/repository.ts';
import { type AsideLine, TakenNames, asideLine } from './aside.ts';
import { type Difference, type SyncedTopic, findDifferences } from './differences.ts';

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

/** Handoffs that are judged together, and of which the refs are moved in one transaction while others are judged. */
const BATCH = 1250;

/** Up to so many new ones get both refs in one transaction. */
const MANY = 200;

/** What became of all topics. */
interface FoldedAll {
  readonly differences: readonly Difference[];
  readonly folded: readonly Folded[];
  /** To be awaited: what is kept of thousands is written while others do something else. */
  readonly kept: Promise<unknown>;
}

/**
 * Folds what a remote shows into what stands here, each handoff by compare-and-swap from what was read. Nothing that
 * anybody wrote goes: a line that diverged goes on under another name, with all that was written before.
 *
 * @param topics those that the remote shows
 * @param all whose names are in use
 */
export async function foldTopics(
  repository: Repository,
  topics: readonly SyncedTopic[],
  all: readonly SyncedTopic[],
  options: FoldOptions,
): Promise<FoldedAll> {
  let turn: Promise<unknown> = Promise.resolve();
  const parts = await twoAtOnce(inBatches(topics, BATCH), async (part) => {
    const differences = await findDifferences(repository, part);
    // Two processes that fill the same folder wait for each other.
    const moving = turn.then(() => moveAll(repository, differences));
    turn = moving.catch(() => undefined);
    return { differences, ...(await moving) };
  });
  const many = parts.flatMap((part) => part.many);
  const kept = keepMany(repository, many);
  // Awaited by the caller.
  kept.catch(() => undefined);
  let taken: TakenNames | undefined;
  const folded: Folded[] = [];
  for (const { differences, moved } of parts) {
    for (const difference of differences) {
      const action = decideFold(difference.facts);
      const plain = {
        difference,
        reason: action.kind === 'refuse' ? action.reason : undefined,
        aside: undefined,
      };
      if (moved.has(difference)) folded.push({ ...plain, kind: 'moved' });
      else if (action.kind !== 'set-aside') folded.push({ ...plain, kind: action.kind });
      else if (options.leaveDiverged) folded.push({ ...plain, kind: 'conflict' });
      else {
        taken ??= new TakenNames(all);
        const aside = await setAside(repository, difference, taken);
        folded.push({ ...plain, kind: aside === undefined ? 'moved' : 'set-aside', aside });
      }
    }
  }
  return { differences: parts.flatMap(({ differences }) => differences), folded, kept };
}

interface Moved {
  /** Moved by somebody else meanwhile. */
  readonly moved: ReadonlySet<Difference>;
  /** New here, without a ref that says what is kept of it. */
  readonly many: readonly Difference[];
}

/** Moves to what the remote shows whatever can simply go there. */
async function moveAll(repository: Repository, differences: readonly Difference[]): Promise<Moved> {
  const simple = differences.filter(({ facts }) =>
    ['create', 'forward', 'follow'].includes(decideFold(facts).kind),
  );
  // What is new here has no former value that a reflog could name.
  const isNew = ({ here }: Difference) => here?.publicOid === undefined && here?.keptOid === undefined;
  const fresh = simple.filter(isNew);
  const isMany = fresh.length > MANY;
  const moved = new Set<Difference>();
  const move = async (batch: readonly Difference[], updates: readonly RefUpdate[]) => {
    if (updates.length === 0 || (await apply(repository, updates, batch === fresh))) return;
    for (const one of batch) if (!(await apply(repository, toTheirs(one), false))) moved.add(one);
  };
  // git makes a file for each ref.
  const withoutKept = (one: Difference) => toTheirs(one).filter(({ ref }) => ref !== keptRef(one.path));
  await move(fresh, fresh.flatMap(isMany ? withoutKept : toTheirs));
  const others = simple.filter((one) => !isNew(one));
  await move(others, others.flatMap(toTheirs));
  return { moved, many: isMany ? fresh.filter((one) => !moved.has(one)) : [] };
}

/**
 * Lists what is kept of so many new ones. If the list cannot be written, or a kill is before it, they stand there as after a
 * plain fetch: they are judged again, and are the same.
 */
async function keepMany(repository: Repository, many: readonly Difference[]): Promise<void> {
  if (many.length === 0) return;
  const entries = many.map(({ path, there }) => ({ path, oid: there.oid }));
  await addToList(repository, KEPT_LIST, entries);
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
    ...changed(keptRef(path), here?.keptRefOid),
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
