import { constants, closeSync, fstatSync, lstatSync, openSync, readSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A file whose bytes were read whole. */
interface PlainFile {
  readonly bytes: Buffer;
  /** Milliseconds since the epoch. */
  readonly mtimeMs: number;
}

type PlainRead =
  | ({ readonly kind: 'file' } & PlainFile)
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Reads a regular file of at most `limit` bytes. Does not follow a link, and opens nothing else: a FIFO would make us wait
 * for ever, a device never ends.
 */
export function readPlainFile(path: string, limit: number): PlainRead {
  const refused = (why: string): PlainRead => ({ kind: 'refused', why });
  let file: number | undefined;
  try {
    const seen = lstatSync(path, { throwIfNoEntry: false });
    if (seen === undefined) return { kind: 'none' };
    if (seen.isSymbolicLink()) return refused('it is a symbolic link');
    if (seen.isDirectory()) return refused('it is a folder');
    if (!seen.isFile()) return refused('it is not a regular file');
    // The file may have been replaced since.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile()) return refused('it is not a regular file');
    if (stat.size > limit) return refused(`it has ${stat.size} bytes, at most ${limit} are imported`);
    const buffer = Buffer.alloc(limit + 1);
    const size = readWhole(file, buffer);
    if (size > limit) return refused(`it has more than ${limit} bytes`);
    return { kind: 'file', bytes: Buffer.from(buffer.subarray(0, size)), mtimeMs: stat.mtimeMs };
  } catch (error) {
    return refused(`it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readWhole(file: number, buffer: Buffer): number {
  let size = 0;
  for (;;) {
    const more = readSync(file, buffer, size, buffer.length - size, size);
    if (more === 0) return size;
    size += more;
  }
}

/** Lists the names in a folder, sorted; `undefined` when there is no folder, or only a link to one. */
export function plainFolder(path: string): string[] | undefined {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
    return readdirSync(path).sort();
  } catch {
    return undefined;
  }
}

/** What exists at a path, without following a link. */
export function kindOf(path: string): 'file' | 'folder' | 'link' | 'other' | 'none' {
  let stat;
  try {
    stat = lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return 'none';
  }
  if (stat === undefined) return 'none';
  if (stat.isSymbolicLink()) return 'link';
  return stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other';
}

/** The files of a folder whose names a test accepts, as paths. */
export function filesNamed(folder: string, accepts: (name: string) => boolean): string[] {
  return (plainFolder(folder) ?? []).filter(accepts).map((name) => join(folder, name));
}
