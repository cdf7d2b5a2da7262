import { Failure } from '../../domain/failure.ts';
import type { Oid } from '../../domain/names.ts';
import { type FoldAction, decideFold } from '../../domain/sync.ts';
import type { IllegalReason } from '../../domain/transition.ts';
import { inBatches, twoAtOnce } from '../../git/batches.ts';
import { handoffRef, keptRef, lostNumber, prunedRef } from '../../git/namespace.ts';
import { type RefUpdate, updateRefs } from '../../git/ref-updates.ts';
import type { Repository } from '../../git/repository.ts';
import { nextLostRef } from '../lost.ts';
import { type Difference, type SyncedTopic, findDifferences } from './differences.ts';

/** What became of one topic. */
export interface Folded {
  readonly difference: Difference;
  /** `moved`: somebody changed the topic meanwhile; the next sync decides again. */
  readonly kind: FoldAction['kind'] | 'moved';
  readonly reason: IllegalReason | undefined;
  /** `set-aside`: the number by which `show --lost` prints the note that was here. */
  readonly lost: number | undefined;
}

/** Handoffs in one transaction. */
const BATCH = 5000;

/** What became of all topics. */
interface FoldedAll {
  readonly differences: readonly Difference[];
  readonly folded: readonly Folded[];
}

/**
 * Folds what a remote shows into the handoffs here, each by compare-and-swap from what was read. Nothing that anybody
 * wrote is dropped: a line that diverged is kept as a lost text, with all its versions.
 *
 * @param topics those that the remote shows
 */
export async function foldTopics(repository: Repository, topics: readonly SyncedTopic[]): Promise<FoldedAll> {
  const differences = await findDifferences(repository, topics);
  const moved = await moveAll(repository, differences);
  const folded: Folded[] = [];
  for (const difference of differences) {
    const action = decideFold(difference.facts);
    const plain = {
      difference,
      reason: action.kind === 'refuse' ? action.reason : undefined,
      lost: undefined,
    };
    if (moved.has(difference)) folded.push({ ...plain, kind: 'moved' });
    else if (action.kind !== 'set-aside') folded.push({ ...plain, kind: action.kind });
    else {
      const lost = await keepOurs(repository, difference);
      folded.push({ ...plain, kind: lost === undefined ? 'moved' : 'set-aside', lost });
    }
  }
  return { differences, folded };
}

/** Moves the handoffs that can simply follow the remote; returns those that somebody else moved meanwhile. */
async function moveAll(
  repository: Repository,
  differences: readonly Difference[],
): Promise<ReadonlySet<Difference>> {
  const simple = differences.filter(({ facts }) =>
    ['create', 'forward', 'follow'].includes(decideFold(facts).kind),
  );
  // A handoff that is new here has no former value that a reflog could name.
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

/** The moves to the remote's tip: public ref first, `kept` second, as in every write. */
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
 * Keeps our line with all its versions under a ref of lost texts, and moves the handoff to the remote's line, in one
 * transaction; `undefined`: somebody else moved the handoff.
 */
async function keepOurs(repository: Repository, difference: Difference): Promise<number | undefined> {
  const tip = difference.here?.tip?.oid;
  if (tip === undefined) throw new Failure('internal', 'a line without a tip was to be kept');
  const ref = await nextLostRef(repository, difference.path);
  const kept = { ref, next: tip, old: undefined };
  const isDone = await apply(repository, [kept, ...toTheirs(difference)], false);
  return isDone ? lostNumber(ref) : undefined;
}
