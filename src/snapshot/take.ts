import { basename } from 'node:path';
import type { TreeStatus } from '../domain/ledger/tree-status.ts';
import type { Oid } from '../domain/names.ts';
import {
  type SkippedFile,
  type Snapshot,
  type SnapshotReason,
  bytesOf,
  contentOf,
} from '../domain/snapshot.ts';
import type { RescueLimits } from '../domain/settings.ts';
import { escapeLine } from '../domain/surfacing.ts';
import { ObjectBatch } from '../git/object-batch.ts';
import { objectFormat } from '../git/repository.ts';
import type { Budget } from '../host/io.ts';
import { addSnapshot } from './commit.ts';
import { type Source, gatherWork } from './gather.ts';
import { type Keeping, type Rescue, type RescuePlace, keepRescues, listRescues } from './rescues.ts';

/** Why and for whom a snapshot is taken. */
interface Occasion extends Source {
  readonly reason: Omit<SnapshotReason, 'worktree' | 'ref' | 'skipped'>;
}

interface Limits {
  readonly limits: RescueLimits;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly budget: Budget;
}

/** Uncommitted content that is safe: under a new number, or under that of an earlier snapshot of the same content. */
interface Taken {
  /** `undefined`: nothing could be kept. */
  readonly commit: Oid | undefined;
  readonly number: number;
  readonly skipped: readonly SkippedFile[];
}

/** The part of the time in which files are gathered; git gets the rest. */
const GATHERING = 0.5;
/** zlib's fastest level, because time is short before a command. */
const LEVEL = 1;

/**
 * Keeps what differs from HEAD as a rescue. `undefined` when nothing does.
 *
 * @param looking which paths differ: all of the working tree, or some
 * @throws Failure `environment` when git fails or overruns its time; Error when a lock is held
 */
export async function takeSnapshot(
  place: RescuePlace,
  looking: TreeStatus | Promise<TreeStatus>,
  { reason, ...source }: Occasion,
  { limits, now, budget }: Limits,
): Promise<Taken | undefined> {
  const { cwd } = place;
  const { dirty, head } = await looking;
  if (dirty.size === 0) return undefined;
  const gatheringTime = budget.part(budget.left() * GATHERING);
  const [first] = dirty.values();
  const oids = [head.oid, first?.head?.oid, first?.index?.oid, first?.disk?.oid];
  const format = await objectFormat({ cwd }, ...oids.flatMap((oid) => oid ?? []));
  const batch = new ObjectBatch(format, LEVEL);
  const gathering = { maxBytes: limits.maxBytes, isLate: () => gatheringTime.left() <= 1 };
  const { items, skipped } = gatherWork(cwd, dirty.values(), batch, gathering, source);
  const hasContent = items.some((item) => contentOf(item) !== null);
  if (!hasContent) return skipped.length === 0 ? undefined : { commit: undefined, number: 0, skipped };
  const snapshot = {
    base: head.oid,
    items,
    reason: { ...reason, worktree: basename(cwd), ref: head.ref, skipped },
  };
  const known = await listRescues(cwd, { timeoutMs: budget.left() });
  const same = sameWork(known, place.worktreeId, snapshot, { limits, now });
  if (same !== undefined) return { commit: same.oid, number: same.number, skipped };
  const keeping = { batch, known, limits, now, timeoutMs: budget.left() };
  return { ...(await keepSnapshot(place, snapshot, keeping)), skipped };
}

/**
 * Keeps a snapshot as a rescue.
 *
 * @param batch has the contents that the repository lacks
 * @throws Error when a lock is held
 */
export async function keepSnapshot(
  place: RescuePlace,
  snapshot: Snapshot & { readonly reason: SnapshotReason },
  {
    batch,
    timeoutMs,
    ...keeping
  }: Omit<Keeping, 'bytes' | 'held'> & {
    readonly batch: ObjectBatch;
    readonly timeoutMs?: number;
  },
): Promise<{ commit: Oid; number: number }> {
  const { kind, command } = snapshot.reason;
  const message = `uncommitted work ${kind === 'before' ? 'before' : 'gone after'} ${escapeLine(command)}\n`;
  const commit = addSnapshot(batch, snapshot, { message, seconds: Math.floor(keeping.now / 1000) });
  await batch.storeMany({ cwd: place.cwd, timeoutMs });
  const numbers = await keepRescues(place, 'work', [commit], { ...keeping, bytes: bytesOf(snapshot) });
  const [number] = numbers ?? [];
  if (number === undefined) throw new Error('a ref is locked (git handoff doctor)');
  return { commit, number };
}

/** Milliseconds for which an earlier snapshot of the same work is good enough. */
const FRESH_MS = 3600_000;

/** The newest snapshot of the worktree, if it holds the same work. */
function sameWork(
  known: readonly Rescue[],
  worktreeId: string,
  { items }: Snapshot,
  { limits, now }: Omit<Limits, 'budget'>,
): Rescue | undefined {
  const newest = known.filter((one) => one.kind === 'work' && one.worktreeId === worktreeId).at(-1);
  if (newest?.kind !== 'work') return undefined;
  const contents = (all: Snapshot['items']) =>
    JSON.stringify(
      all.map(({ path, name, index, disk, raw }) => [path, name, index, disk?.mode, raw ?? disk]),
    );
  if (contents(newest.items) !== contents(items)) return undefined;
  // A snapshot that will soon be too old must not stand for work that is destroyed now.
  return now - newest.reason.at < Math.min(FRESH_MS, limits.maxAgeMs / 2) ? newest : undefined;
}
