import { readFileSync, readlinkSync } from 'node:fs';
import type { FileState } from '../domain/ledger/file-state.ts';
import type { DirtyPath } from '../domain/ledger/tree-status.ts';
import type { SessionId } from '../domain/names.ts';
import { type SkippedFile, type SnapshotItem, isOnlyStaged } from '../domain/snapshot.ts';
import type { ObjectBatch } from '../git/object-batch.ts';
import { lstatOf } from '../git/stat.ts';
import { diskPath } from '../git/work-tree.ts';

/** Bytes. A snapshot only names bigger files. */
const MAX_FILE = 10 * 1024 * 1024;

/** What gathering may cost. */
interface GatherLimits {
  readonly maxBytes: number;
  /** Whether there is no time for another file. */
  readonly isLate: () => boolean;
}

/** Who owns a path, and where its content comes from. */
export interface Source {
  readonly ownerOf: (path: string) => SessionId | null;
  /** The contents that a look has kept, as git stores them; if absent, the bytes of the files themselves, unfiltered. */
  readonly seen?: (entry: DirtyPath) => Buffer | undefined;
}

interface Gathered {
  /** Sorted by path. */
  readonly items: readonly SnapshotItem[];
  readonly skipped: readonly SkippedFile[];
}

/**
 * Reads paths that differ from HEAD into a batch, small files first: when time or room runs out, most of them are there.
 *
 * @param top the top folder of the working tree
 */
export function gatherWork(
  top: string,
  dirty: Iterable<DirtyPath>,
  batch: ObjectBatch,
  { maxBytes, isLate }: GatherLimits,
  { ownerOf, seen }: Source,
): Gathered {
  const items: SnapshotItem[] = [];
  const skipped: SkippedFile[] = [];
  let total = 0;
  for (const { entry, bytes } of bySize(dirty)) {
    const { path, raw: name, disk } = entry;
    const owner = ownerOf(path);
    const named = { path, ...(name === undefined ? {} : { name }), ...(owner === null ? {} : { owner }) };
    // The contents that HEAD and the index had at an older look may be gone.
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
      ...(isFile ? { raw: oid } : {}),
      bytes: content.length,
      ...(isFile && isPrivate(top, entry) ? { isPrivate: true } : {}),
    });
  }
  return { items: items.sort((a, b) => (a.path < b.path ? -1 : 1)), skipped };
}

/** A state whose content this repository has: not a submodule, which is another repository, and not a conflict. */
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
    // Reading a pipe or a device in the file's place would make us wait.
    return lstatOf(file)?.isFile() === true ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

function isPrivate(top: string, entry: DirtyPath): boolean {
  const stat = lstatOf(diskPath(top, entry));
  return stat?.isFile() === true && (stat.mode & 0o077) === 0;
}
