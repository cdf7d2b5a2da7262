import {
  type Stats,
  closeSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  constants,
  fstatSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';

/** Questions to the file system; none of them throws. */

/** An absolute path with `~` and relative parts resolved. */
export function absolutePath(path: string, cwd: string, home: string): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(cwd, path);
}

/**
 * Where a path really leads: symbolic links of every existing part resolved, the rest kept. With
 * `followLast` a link in the last part counts too (what a write goes to), also a dangling one.
 */
export function realPath(path: string, followLast = true, depth = 0): string {
  if (!followLast) return join(realPath(dirname(path)), basename(path));
  try {
    return realpathSync(path);
  } catch {
    const target = depth < 40 ? linkTarget(path) : undefined;
    if (target !== undefined) return realPath(resolve(dirname(path), target), true, depth + 1);
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent, true, depth + 1), basename(path));
  }
}

/** Where a symbolic link points, as stored; `undefined` when the path is none. */
export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Whether a path is a folder, or a link to one. */
export function isFolder(path: string): boolean {
  return found(path)?.isDirectory() ?? false;
}

/** Whether a path exists; a dangling link does not count. */
export function exists(path: string): boolean {
  return found(path) !== undefined;
}

/** Calls `stat` without its errors: Node throws if a parent folder is a file. */
function found(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Whether a path is a regular file, not a link, that this user owns. */
export function isOwnFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const user = process.getuid?.();
  return found?.isFile() === true && (user === undefined || found.uid === user);
}

/** Lists the names in a folder; none when it is no folder or cannot be read. */
export function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Reads a file; an empty text when there is none or it cannot be read. */
export function readText(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  try {
    return readFileSync(path, encoding);
  } catch {
    return '';
  }
}

/** Identifies a file that has several names; `undefined` when it has only one. */
export function hardLinkKey(path: string): string | undefined {
  try {
    const { dev, ino, nlink } = statSync(path);
    return nlink > 1 ? `${dev}:${ino}` : undefined;
  } catch {
    return undefined;
  }
}

/** The first bytes of a file as text; `undefined` when there is no such file. */
export function readBeginning(path: string, bytes = 1024): string | undefined {
  let file: number | undefined;
  try {
    // A FIFO in the note's place must not hold up the guard.
    if (!statSync(path).isFile()) return undefined;
    file = openSync(path, 'r');
    const buffer = Buffer.alloc(bytes);
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, bytes, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * The last bytes of a regular file as text; otherwise `undefined`. The path comes from outside: this never waits for a FIFO or
 * reads a device.
 */
export function readTail(path: string, most: number): string | undefined {
  if (!path.startsWith('/') || path.includes('\0')) return undefined;
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile()) return undefined;
    const buffer = Buffer.alloc(Math.min(most, stat.size));
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, stat.size - buffer.length));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
