import { readFileSync, readlinkSync } from 'node:fs';
import type { DirtyPath } from '../domain/ledger/tree-status.ts';
import type { Oid, SessionId } from '../domain/names.ts';
import type { RescueNote, RescuedFile, SkippedFile } from '../domain/rescue.ts';
import { ObjectBatch, type TreeEntry } from './object-batch.ts';
import type { BinaryText } from './output.ts';
import { lstatOf } from './stat.ts';
import { diskPath } from './work-tree.ts';

/**
 * Uncommitted work as a tree: `rescue.json`, the files below `files/`, and staged contents that the disk does not have
 * below `index/`. Files are stored byte for byte: no filter of the repository runs, and what comes back is what was
 * there.
 */
export const NOTE_NAME = 'rescue.json';
export const FILES_NAME = 'files';
export const INDEX_NAME = 'index';

/** Bigger files are named, not kept. Bytes. */
const MAX_FILE = 10 * 1024 * 1024;
/** zlib's fastest: time is short before a command. */
const LEVEL = 1;

/** What gathering may cost. */
interface GatherLimits {
  readonly maxBytes: number;
  /** Whether there is no time for a further file. */
  readonly isLate: () => boolean;
}

interface Gathered {
  readonly batch: ObjectBatch;
  readonly files: readonly RescuedFile[];
  readonly deleted: readonly string[];
  readonly staged: readonly string[];
  readonly skipped: readonly SkippedFile[];
  /** The whole tree, with its `rescue.json`. */
  tree(note: RescueNote): Oid;
  /** Names of the trees below; equal ones hold the same work. */
  readonly contents: readonly (Oid | undefined)[];
}

/**
 * Reads what differs from HEAD, small files first: when time or room runs out, most of it is there.
 *
 * @param ownerOf whose change a path is, for the record
 */
export function gatherWork(
  top: string,
  dirty: Iterable<DirtyPath>,
  format: 'sha1' | 'sha256',
  limits: GatherLimits,
  ownerOf: (path: string) => SessionId | null,
): Gathered {
  const batch = new ObjectBatch(format, LEVEL);
  const files: RescuedFile[] = [];
  const skipped: SkippedFile[] = [];
  const kept: PathEntry[] = [];
  let total = 0;
  const all = [...dirty];
  for (const { entry, bytes } of bySize(all)) {
    const { path, disk } = entry;
    const why = reasonNot(entry, bytes, total, limits);
    const content = why === undefined ? readBytes(top, entry) : undefined;
    if (content === undefined || disk === null) {
      skipped.push({ path, bytes, why: why ?? 'unreadable' });
      continue;
    }
    total += content.length;
    kept.push({ path: bytesOf(entry), oid: batch.blob(content), mode: disk.mode });
    files.push({
      path,
      mode: disk.mode,
      bytes: content.length,
      owner: ownerOf(path),
      ...privacy(top, entry),
    });
  }
  const staged = all.filter(isOnlyStaged);
  // Staged, and gone from the disk: then the index has the file.
  for (const { path, raw, disk, index } of staged) {
    if (disk !== null || index === null || index.oid === null) continue;
    kept.push({
      path: bytesOf(raw === undefined ? { path } : { path, raw }),
      oid: index.oid,
      mode: index.mode,
    });
    files.push({ path, mode: index.mode, bytes: 0, owner: ownerOf(path) });
  }
  const index = staged.flatMap((entry): PathEntry[] => {
    const { oid, mode } = entry.index ?? { oid: null, mode: '' };
    return oid === null ? [] : [{ path: bytesOf(entry), oid, mode }];
  });
  const contents = [nestedTree(batch, kept), nestedTree(batch, index)] as const;
  return {
    batch,
    files: files.sort((a, b) => (a.path < b.path ? -1 : 1)),
    deleted: all.filter(({ disk, head }) => disk === null && head !== null).map(({ path }) => path),
    staged: staged.map(({ path }) => path),
    skipped,
    contents,
    tree: (note) => rescueTree(batch, note, contents),
  };
}

/** The tree of a rescue whose parts are in the batch already. */
export function rescueTree(
  batch: ObjectBatch,
  note: RescueNote,
  [files, index]: readonly (Oid | undefined)[],
): Oid {
  const json = batch.blob(Buffer.from(`${JSON.stringify(note)}\n`));
  const below = (name: string, oid: Oid | undefined): TreeEntry[] =>
    oid === undefined ? [] : [{ name, oid, mode: '40000' }];
  return batch.tree([
    { name: NOTE_NAME, oid: json },
    ...below(FILES_NAME, files),
    ...below(INDEX_NAME, index),
  ]);
}

/** A path of a tree to make, with `/` between its parts. */
interface PathEntry {
  readonly path: BinaryText;
  readonly oid: Oid;
  readonly mode: string;
}

/** The tree of all paths; `undefined` when there are none. */
export function nestedTree(batch: ObjectBatch, entries: readonly PathEntry[]): Oid | undefined {
  if (entries.length === 0) return undefined;
  const here: TreeEntry[] = [];
  const folders = new Map<string, PathEntry[]>();
  for (const { path, oid, mode } of entries) {
    const slash = path.indexOf('/');
    if (slash < 0) here.push({ name: path, oid, mode });
    else {
      const name = path.slice(0, slash);
      const below = folders.get(name) ?? [];
      below.push({ path: path.slice(slash + 1), oid, mode });
      folders.set(name, below);
    }
  }
  for (const [name, below] of folders) {
    const oid = nestedTree(batch, below);
    if (oid !== undefined) here.push({ name, oid, mode: '40000' });
  }
  return batch.tree(here);
}

/** A path as git has it, one character for each byte. */
export function bytesOf({ path, raw }: Pick<DirtyPath, 'path' | 'raw'>): BinaryText {
  return raw ?? Buffer.from(path).toString('latin1');
}

function bySize(entries: readonly DirtyPath[]): { entry: DirtyPath; bytes: number }[] {
  return entries
    .filter(({ disk }) => disk !== null)
    .map((entry) => ({ entry, bytes: Number(/^\d+/.exec(entry.stamp)?.[0] ?? 0) }))
    .sort((a, b) => a.bytes - b.bytes);
}

function reasonNot(
  { disk }: DirtyPath,
  bytes: number,
  total: number,
  { maxBytes, isLate }: GatherLimits,
): SkippedFile['why'] | undefined {
  if (disk?.mode === '160000') return 'repository';
  if (bytes > MAX_FILE || total + bytes > maxBytes) return 'big';
  return isLate() ? 'time' : undefined;
}

function readBytes(top: string, entry: DirtyPath): Buffer | undefined {
  const file = diskPath(top, entry);
  try {
    if (entry.disk?.mode === '120000') return readlinkSync(file, 'buffer');
    // A pipe or a device in the file's place would be waited for.
    return lstatOf(file)?.isFile() === true ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

function privacy(top: string, entry: DirtyPath): Pick<RescuedFile, 'isPrivate'> {
  const stat = lstatOf(diskPath(top, entry));
  return stat?.isFile() === true && (stat.mode & 0o077) === 0 ? { isPrivate: true } : {};
}

/** The index holds a content that neither the disk nor HEAD has. */
function isOnlyStaged({ head, index, disk }: DirtyPath): boolean {
  const oid = index?.oid ?? null;
  return oid !== null && oid !== head?.oid && oid !== disk?.oid && index?.mode !== '160000';
}
