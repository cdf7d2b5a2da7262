import { basename, join } from 'node:path';
import { escapeLine, Failure, shellWord } from '../domain/messages.ts';
import type { TreeStatus, FilePath, FileState, DirtyPath } from '../domain/ledger/tree-status.ts';
import { type Oid, type SessionId, sessionOfOwner } from '../domain/names.ts';
import {
  type SkippedFile,
  type Snapshot,
  type SnapshotReason,
  bytesOf,
  contentOf,
  type SnapshotItem,
  isOnlyStaged,
} from '../domain/snapshot.ts';
import type { RescueLimits } from '../domain/settings.ts';
import { ObjectBatch, loadForWriting } from '../git/objects.ts';
import { objectFormat } from '../git/repository.ts';
import type { Budget } from '../host/io.ts';
import { addSnapshot } from './commit.ts';
import { type Keeping, type Rescue, type RescuePlace, groupOf, keepRescues, listRescues } from './rescues.ts';
import { readFileSync, readlinkSync } from 'node:fs';
import { lstatOf } from '../host/disk.ts';
import { diskPath } from '../git/worktrees.ts';

interface Occasion extends Source {
  readonly reason: Omit<SnapshotReason, 'worktree' | 'ref' | 'skipped'>;
}

interface Limits {
  readonly limits: RescueLimits;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly budget: Budget;
}

/** The rescue that keeps some content: a new one, or an earlier one with the same content. */
interface Taken {
  /** `undefined`: nothing could be kept. */
  readonly commit: Oid | undefined;
  readonly number: number;
  readonly skipped: readonly SkippedFile[];
}

/** The share of the time that reading files may take; git gets the rest. */
const GATHERING = 0.5;

/**
 * Keeps as a rescue what `looking` finds to differ from HEAD, in the working tree or a part of it; `undefined`: nothing differs.
 *
 * @throws Failure `environment` when git fails or overruns its time; Error when a lock is held
 */
export async function takeSnapshot(
  place: RescuePlace,
  looking: TreeStatus | Promise<TreeStatus>,
  { reason, ...source }: Occasion,
  { limits, now, budget }: Limits,
): Promise<Taken | undefined> {
  const { cwd } = place;
  // All of this happens while git reads the status. An error of the listing is thrown where we await the list.
  const listing = listRescues(cwd, budget.left());
  listing.catch(() => undefined);
  loadForWriting();
  const { dirty, head } = await looking;
  if (dirty.size === 0) return undefined;
  const gatheringTime = budget.part(budget.left() * GATHERING);
  const [first] = dirty.values();
  const oids = [head.oid, first?.head?.oid, first?.index?.oid, first?.disk?.oid];
  const format = await objectFormat({ cwd }, ...oids.flatMap((oid) => oid ?? []));
  const batch = new ObjectBatch(format);
  const isLate = () => gatheringTime.left() <= 1;
  const { items, skipped } = gatherWork(cwd, dirty.values(), batch, limits.maxBytes, isLate, source);
  const hasContent = items.some((item) => contentOf(item) !== null);
  if (!hasContent && (reason.kind !== 'undone' || items.length === 0))
    return skipped.length === 0 ? undefined : { commit: undefined, number: 0, skipped };
  const snapshot = {
    base: head.oid,
    items,
    reason: { ...reason, worktree: basename(cwd), ref: head.ref, skipped },
  };
  const known = await listing;
  const same = sameWork(known, place.worktreeId, snapshot, { limits, now });
  if (same !== undefined) return { commit: same.oid, number: same.number, skipped };
  const keeping = { batch, known, limits, now, timeoutMs: budget.left() };
  return { ...(await keepSnapshot(place, snapshot, keeping)), skipped };
}

/** How a hint sets aside a file that could not be saved: the command, and the ending of the new name. */
const ASIDE = { undone: ['cp', 'kept'], written: ['mv', 'mine'] } as const;

/**
 * Keeps the uncommitted work in `taken`, which one of our commands is about to change, and returns the rescue's number. Fails if
 * something cannot be kept: then the command must change nothing.
 *
 * @throws Failure `refused` for content that a snapshot cannot hold; and as `takeSnapshot` does
 */
export async function keepFirst(
  place: RescuePlace,
  taken: TreeStatus,
  occasion: Occasion,
  limits: Limits,
): Promise<number> {
  const saved = await takeSnapshot(place, taken, occasion, limits);
  const [lost] = saved?.skipped ?? taken.dirty.values();
  if (saved !== undefined && lost === undefined) return saved.number;
  const done = occasion.reason.kind === 'undone' ? 'undone' : 'written';
  const [command, ending] = ASIDE[done];
  const { path } = lost ?? { path: '' };
  const file = join(place.cwd, path);
  throw new Failure('refused', `${escapeLine(path)} could not be saved first, so nothing was ${done}`, {
    hint: `${command} -- ${shellWord(file)} ${shellWord(`${file}.${ending}`)}`,
  });
}

/**
 * Keeps a snapshot as a rescue. `batch` has the contents that the repository lacks.
 *
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
  const when = kind === 'seen' ? 'gone after' : kind === 'stop' ? 'at the end of a turn' : 'before';
  const message = `uncommitted work ${when} ${escapeLine(command)}`.trimEnd() + '\n';
  const commit = addSnapshot(batch, snapshot, { message, seconds: Math.floor(keeping.now / 1000) });
  await batch.storeMany({ cwd: place.cwd, timeoutMs });
  const group = kind === 'stop' ? kind : 'work';
  const numbers = await keepRescues(place, group, [commit], { ...keeping, bytes: bytesOf(snapshot) });
  const [number] = numbers ?? [];
  if (number === undefined) throw new Error('a ref is locked (git handoff doctor)');
  return { commit, number };
}

/** How long an earlier snapshot of the same work is good enough. Milliseconds. */
const FRESH_MS = 3600_000;

/** Returns the newest snapshot of the worktree, if it holds the same work and is fresh. */
function sameWork(
  known: readonly Rescue[],
  worktreeId: string,
  { items, reason }: Snapshot,
  { limits, now }: Omit<Limits, 'budget'>,
): Rescue | undefined {
  const isStop = reason?.kind === 'stop';
  const group = isStop ? 'stop' : 'work';
  const newest = known.findLast((one) => groupOf(one) === group && one.worktreeId === worktreeId);
  if (newest?.kind !== 'work' || (newest.reason.kind === 'undone') !== (reason?.kind === 'undone'))
    return undefined;
  const contents = (all: Snapshot['items']) =>
    JSON.stringify(
      all.map(({ path, raw, index, disk, own, left }) => [path, raw, index, disk?.mode, own ?? disk, left]),
    );
  if (contents(newest.items) !== contents(items)) return undefined;
  // A snapshot that will soon be removed for its age must not be the only copy of work that is destroyed now.
  const fresh = Math.min(isStop ? Infinity : FRESH_MS, limits.maxAgeMs / 2);
  return now - newest.reason.at < fresh ? newest : undefined;
}

/** The size of the largest file that a snapshot keeps. Larger files are only listed. Bytes. */
const MAX_FILE = 10 * 1024 * 1024;

interface Source {
  readonly ownerOf: (path: string) => SessionId | null;
  /** What an undo leaves at a path, if that is not HEAD's state. */
  readonly leftAt?: (path: string) => FileState;
  /** Returns the content that an earlier status kept, as git stores it. Without this, the file's own bytes are read. */
  readonly seen?: (entry: DirtyPath) => Buffer | undefined;
}

/**
 * Reads paths that differ from HEAD into a batch, small files first: if time (`isLate`) or room (`maxBytes`) runs out, most
 * files are in it. Returns the items, sorted by path, and the files that are left out.
 */
function gatherWork(
  top: string,
  dirty: Iterable<DirtyPath>,
  batch: ObjectBatch,
  maxBytes: number,
  isLate: () => boolean,
  { ownerOf, leftAt, seen }: Source,
): { items: SnapshotItem[]; skipped: SkippedFile[] } {
  const items: SnapshotItem[] = [];
  const skipped: SkippedFile[] = [];
  let total = 0;
  for (const { entry, bytes } of bySize(dirty)) {
    const { path, raw, disk } = entry;
    const known = ownerOf(path);
    const owner = known && sessionOfOwner(known);
    const left = leftAt?.(path) ?? null;
    const named = {
      ...{ path, raw, ...(owner === null ? {} : { owner }) },
      ...(left === null ? {} : { left }),
      ...(entry.intended === true ? { intended: true as const } : {}),
    };
    // The contents that HEAD and the index had at an earlier status may be gone.
    const [base, index] = seen === undefined ? [stored(entry.head), stored(entry.index)] : [null, null];
    const staged = { ...named, base, index, disk: null };
    if (disk === null) {
      if (base !== null || index !== null) items.push({ ...staged, bytes: 0 });
      continue;
    }
    const isTooBig = bytes > MAX_FILE || total + bytes > maxBytes;
    const why = disk.mode === '160000' ? 'repository' : isTooBig ? 'big' : isLate() ? 'time' : undefined;
    const content = why === undefined ? (seen ?? ((one) => readBytes(top, one)))(entry) : undefined;
    if (content === undefined) {
      skipped.push({ path, bytes, why: why ?? 'unreadable' });
      if (isOnlyStaged(staged)) items.push({ ...staged, bytes: 0 });
      continue;
    }
    total += content.length;
    const oid = batch.blob(content);
    const isFile = seen === undefined && disk.mode !== '120000';
    // The repository already has what is staged or committed, as git stores it.
    const isStored = disk.oid !== null && [base?.oid, index?.oid].includes(disk.oid);
    items.push({
      ...named,
      base,
      index,
      disk: isStored ? disk : { mode: disk.mode, oid },
      ...(isFile ? { own: oid } : {}),
      bytes: content.length,
      ...(isFile && isPrivate(top, entry) ? { isPrivate: true } : {}),
    });
  }
  return { items: items.sort((a, b) => (a.path < b.path ? -1 : 1)), skipped };
}

/** Returns `state` unchanged if its content is in this repository; `null` for a submodule or a conflict. */
const stored = (state: FileState) =>
  state?.mode === '160000' || (state?.oid ?? null) === null ? null : state;

function bySize(entries: Iterable<DirtyPath>): { entry: DirtyPath; bytes: number }[] {
  return [...entries]
    .map((entry) => ({ entry, bytes: Number(/^\d+/.exec(entry.stamp)?.[0] ?? 0) }))
    .sort((a, b) => a.bytes - b.bytes);
}

function readBytes(top: string, entry: DirtyPath): Buffer | undefined {
  const file = diskPath(top, entry);
  try {
    if (entry.disk?.mode === '120000') return readlinkSync(file, 'buffer');
    // If a pipe or a device has taken the file's place, reading it would make us wait.
    return lstatOf(file)?.isFile() === true ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether only the file's owner may read the file. */
export function isPrivate(top: string, entry: FilePath): boolean {
  const stat = lstatOf(diskPath(top, entry));
  return stat?.isFile() === true && (stat.mode & 0o077) === 0;
}
