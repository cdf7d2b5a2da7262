import type { Oid, Topic } from '../../domain/names.ts';
import { type FoldAction, decideFold } from '../../domain/sync/fold.ts';
import type { IllegalReason } from '../../domain/transition.ts';
import { inBatches, twoAtOnce } from '../../git/batches.ts';
import { handoffRef, keptRef, prunedRef } from '../../git/namespace.ts';
import { type RefUpdate, updateRefs } from '../../git/ref-updates.ts';
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

/** Handoffs in one transaction. */
const BATCH = 5000;

/** What became of all topics. */
interface FoldedAll {
  readonly differences: readonly Difference[];
  readonly folded: readonly Folded[];
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
  const differences = await findDifferences(repository, topics);
  const moved = await moveAll(repository, differences);
  let taken: TakenNames | undefined;
  const folded: Folded[] = [];
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
  return { differences, folded };
}

/** Moves to what the remote shows whatever can simply go there; returns what somebody else moved meanwhile. */
async function moveAll(
  repository: Repository,
  differences: readonly Difference[],
): Promise<ReadonlySet<Difference>> {
  const simple = differences.filter(({ facts }) =>
    ['create', 'forward', 'follow'].includes(decideFold(facts).kind),
  );
  // What is new here has no former value that a reflog could name.
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
