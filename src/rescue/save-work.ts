import { basename } from 'node:path';
import type { TreeStatus } from '../domain/ledger/tree-status.ts';
import { type RescueNote, type SkippedFile, rescuedBytes } from '../domain/rescue.ts';
import type { Oid, SessionId } from '../domain/names.ts';
import type { RescueLimits } from '../domain/settings.ts';
import { objectFormat } from '../git/repository.ts';
import { gatherWork } from '../git/rescue-tree.ts';
import type { Budget } from '../host/io.ts';
import { type Rescue, type RescuePlace, type SavedWork, keepRescues, listRescues } from './rescues.ts';

/** Why and for whom work is saved. */
interface Occasion {
  readonly kind: RescueNote['kind'];
  readonly command: string;
  readonly session: SessionId | null;
  /** Milliseconds since the epoch: when the work looked like that. */
  readonly at: number;
  readonly ownerOf: (path: string) => SessionId | null;
}

interface SaveLimits {
  readonly limits: RescueLimits;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly budget: Budget;
}

/** Work that is safe: under a new number, or under that of a former snapshot of the very same. */
interface Saved {
  readonly number: number;
  readonly skipped: readonly SkippedFile[];
}

/** Files are gathered during this part of the time; git takes the rest. */
const GATHERING = 0.5;

/**
 * Saves what differs from HEAD under a ref. `undefined` when nothing does.
 *
 * @throws Failure `environment` when git fails or overruns its time; Error when a lock is held
 */
export async function saveWork(
  place: RescuePlace,
  looking: TreeStatus | Promise<TreeStatus>,
  occasion: Occasion,
  { limits, now, budget }: SaveLimits,
): Promise<Saved | undefined> {
  const { cwd } = place;
  // git lists while it looks at the tree and the files are read.
  const snapshot = await looking;
  const { dirty, head } = snapshot;
  if (dirty.size === 0) return undefined;
  const gatheringTime = budget.part(budget.left() * GATHERING);
  const format = await objectFormat({ cwd }, head.oid ?? undefined, ...oidsOf(snapshot));
  const gathering = { maxBytes: limits.maxBytes, isLate: () => gatheringTime.left() <= 1 };
  const gathered = gatherWork(cwd, dirty.values(), format, gathering, occasion.ownerOf);
  const { files, deleted, staged, skipped } = gathered;
  if (files.length + staged.length === 0) return skipped.length === 0 ? undefined : { number: 0, skipped };
  const { kind, command, session, at } = occasion;
  const { ref, oid } = head;
  const what = { files, deleted, staged, skipped };
  const note = {
    v: 1,
    kind,
    command,
    session,
    at,
    worktree: basename(cwd),
    ref,
    head: oid,
    ...what,
  } as const;
  const tree = gathered.tree(note);
  const known = await listRescues(cwd, { timeoutMs: budget.left() });
  const same = sameWork(known, place.worktreeId, gathered.contents, { limits, now });
  if (same !== undefined) return { number: same.number, skipped };
  await gathered.batch.storeMany({ cwd, timeoutMs: budget.left() });
  const numbers = await keepRescues(place, 'work', [tree], {
    known,
    limits,
    now,
    bytes: rescuedBytes(note),
  });
  const [number] = numbers ?? [];
  if (number === undefined) throw new Error('a ref is locked (git handoff doctor)');
  return { number, skipped };
}

function oidsOf({ dirty }: TreeStatus): (Oid | undefined)[] {
  const [first] = dirty.values();
  return [first?.head?.oid ?? undefined, first?.index?.oid ?? undefined];
}

/** A snapshot of the same work is good for this long. Milliseconds. */
const FRESH_MS = 3600_000;

/** The newest snapshot of the worktree, when it holds the very same files. */
function sameWork(
  known: readonly Rescue[],
  worktreeId: string,
  [files, index]: readonly (Oid | undefined)[],
  { limits, now }: Omit<SaveLimits, 'budget'>,
): SavedWork | undefined {
  const newest = known.filter((one) => one.kind === 'work' && one.worktreeId === worktreeId).at(-1);
  if (newest?.kind !== 'work' || newest.files !== files || newest.index !== index) return undefined;
  // One that is about to be too old must not stand for work that is destroyed now.
  const isFresh = now - newest.note.at < Math.min(FRESH_MS, limits.maxAgeMs / 2);
  return isFresh ? newest : undefined;
}
