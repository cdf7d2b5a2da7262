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
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
  fsyncSync,
  type BigIntStats,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { MAX_PATH } from '../domain/names.ts';

const QUIET = { throwIfNoEntry: false } as const;

/** Access to the file system. Most functions that only read return an empty result on an error; those that write throw. */

/** Returns a path at which nothing exists: `path` itself, or the first such of `<path>-2`, `<path>-3` … */
export function freePath(path: string): string {
  for (let n = 1; ; n += 1) {
    const free = n === 1 ? path : `${path}-${n}`;
    if (!exists(free)) return free;
  }
}

/** Returns an absolute path, with `~` and relative parts resolved. */
export function absolutePath(path: string, cwd: string, home: string): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(cwd, path);
}

/**
 * Resolves the symbolic links in all existing parts of a path, and keeps the rest. With `followLast` it also
 * follows a link in the last part, even a dangling one, as a write would.
 */
export function realPath(path: string, followLast = true, depth = 0): string {
  if (!followLast && (IS_LINUX || linkTarget(path))) return join(realPath(dirname(path)), basename(path));
  try {
    return IS_LINUX ? realpathSync(path) : composed(realpathSync.native(path));
  } catch {
    const whole = resolve(path);
    const target = depth < 40 ? linkTarget(whole) : undefined;
    if (target !== undefined) return realPath(resolve(dirname(whole), target), true, depth + 1);
    // This search raises no errors for missing parts, so it is cheap even for a path with thousands of them.
    const missing = [basename(whole)];
    let parent = dirname(whole);
    for (; parent !== dirname(parent) && !isThere(parent); parent = dirname(parent))
      missing.push(basename(parent));
    return parent === whole
      ? whole
      : join(realPath(parent, true, depth + 1), ...missing.reverse().map(composed));
  }
}

/** Other systems may ignore the case of letters in file names: there, the native realpath returns a name as it is stored. */
const IS_LINUX = process.platform === 'linux';

/** On a Mac, returns a path in composed form (NFC), as git does (`core.precomposeUnicode`), whatever form the disk has. */
const composed = (path: string) => (process.platform === 'darwin' ? path.normalize('NFC') : path);

/** Does work that may fail; returns `undefined` if it fails. */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Whether anything has this path, also if it is a dangling link. Never throws. */
export const isThere = (path: string): boolean =>
  path.length <= MAX_PATH && quietly(() => lstatSync(path, QUIET)) !== undefined;

/** Returns where a symbolic link points, as stored; `undefined` when the path is not a link. */
export const linkTarget = (path: string): string | undefined => quietly(() => readlinkSync(path));

/** Calls `statSync`, but never throws: Node throws, even with QUIET, if a parent folder is a file. */
const found = (path: string): Stats | undefined => quietly(() => statSync(path, QUIET));

/** Whether a path is a folder, or a link to one. */
export const isFolder = (path: string): boolean => found(path)?.isDirectory() ?? false;

/** Whether a path exists; a dangling link does not count. */
export const exists = (path: string): boolean => found(path) !== undefined;

/** Whether a path is a regular file, not a link, that this user owns. */
export function isOwnFile(path: string): boolean {
  const found = lstatSync(path, QUIET);
  const user = process.getuid?.();
  return found?.isFile() === true && (user === undefined || found.uid === user);
}

/** Lists the names in a folder; none when the path is not a folder, or cannot be read. */
export const entries = (folder: string): string[] => quietly(() => readdirSync(folder)) ?? [];

/** Reads a file; returns an empty text when there is no file, or it cannot be read. */
export const readText = (path: string): string => quietly(() => readFileSync(path, 'utf8')) ?? '';

/** Returns a key that all hard links of a file share; `undefined` when the file has only one name. */
export function hardLinkKey(path: string): string | undefined {
  const stat = found(path);
  return stat !== undefined && stat.nlink > 1 ? `${stat.dev}:${stat.ino}` : undefined;
}

/**
 * Returns at most `most` bytes of a regular file, from a position on (negative: from the end). `undefined` for any other path:
 * we never wait for a FIFO, and read no device.
 */
export function readPart(path: string, position: number, most = Infinity): Buffer | undefined {
  return quietly(() => {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(file);
      if (!stat.isFile()) return undefined;
      const from = position < 0 ? Math.max(0, stat.size + position) : position;
      const buffer = Buffer.alloc(Math.max(0, Math.min(most, stat.size - from)));
      return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from));
    } finally {
      closeSync(file);
    }
  });
}

/** Returns the first bytes of a file as text; `undefined` when there is no such file. */
export const readBeginning = (path: string, bytes = 1024): string | undefined =>
  readPart(path, 0, bytes)?.toString();

type PlainRead =
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly mtimeMs: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly why: string };

/** Reads a regular file of at most `limit` bytes. Follows no link, and opens no FIFO or device, because these may never end. */
export function readPlainFile(path: string, limit: number): PlainRead {
  const refused = (why: string): PlainRead => ({ kind: 'refused', why });
  const kind = kindOf(path);
  if (kind === 'none') return { kind };
  if (kind !== 'file') return refused(NOT_PLAIN[kind]);
  let file: number | undefined;
  try {
    // The file may have been replaced since `lstat`.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile()) return refused(NOT_PLAIN.other);
    if (stat.size > limit) return refused(`it has ${stat.size} bytes, at most ${limit} are imported`);
    return { kind: 'file', bytes: readFileSync(file), mtimeMs: stat.mtimeMs };
  } catch (error) {
    return refused(`it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const NOT_PLAIN = {
  link: 'it is a symbolic link',
  folder: 'it is a folder',
  other: 'it is not a regular file',
} as const;

/** Lists the names in a folder, sorted; `undefined` when there is no folder, or only a link to one. */
export function plainFolder(path: string): string[] | undefined {
  return kindOf(path) === 'folder' ? quietly(() => readdirSync(path).sort()) : undefined;
}

/** Returns what exists at a path, without following a link. */
export function kindOf(path: string): 'file' | 'folder' | 'link' | 'other' | 'none' {
  const stat = quietly(() => lstatSync(path, QUIET));
  if (stat === undefined) return 'none';
  if (stat.isSymbolicLink()) return 'link';
  return stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other';
}

/** Returns the paths of the files in a folder whose names a test accepts. */
export function filesNamed(folder: string, accepts: (name: string) => boolean): string[] {
  return (plainFolder(folder) ?? []).filter(accepts).map((name) => join(folder, name));
}

interface PutFile {
  /** Its path from the top, as bytes, with `/` between the parts. */
  readonly path: Buffer;
  /** git's mode: a regular file, an executable one, or a symbolic link. */
  readonly mode: string;
  readonly content: Buffer;
  /** Whether only the file's owner may read it. */
  readonly isPrivate?: boolean;
}

/** A path as text with one character per byte, so that any path can be split and joined. */
const bytesOf = (path: Buffer) => path.toString('latin1');

const inTree = (top: string, bytes: string) =>
  Buffer.concat([Buffer.from(`${top}/`), Buffer.from(bytes, 'latin1')]);

/**
 * Returns what keeps a file from being written to a working tree: a link or a file among its folders, another repository, or a
 * folder at its path. Files in `going` are about to be removed: they do not count, nor do folders that hold only such files.
 */
export function obstacle(top: string, path: Buffer, going?: ReadonlySet<string>): string | undefined {
  const parts = bytesOf(path).split('/');
  if (parts.some((part) => /^(?:\.git|\.{0,2})$/i.test(part)))
    return 'no file of a working tree can have this name';
  for (let length = 1; length < parts.length; length++) {
    const folder = parts.slice(0, length).join('/');
    const name = Buffer.from(folder, 'latin1').toString();
    const stat = lstatSync(inTree(top, folder), QUIET);
    if (stat === undefined) return undefined;
    if (!stat.isDirectory()) return going?.has(name) === true ? undefined : `${name} is not a folder`;
    if (lstatSync(inTree(top, `${folder}/.git`), QUIET) !== undefined)
      return `${name} is a repository of its own`;
  }
  const stat = lstatSync(inTree(top, bytesOf(path)), QUIET);
  const goes = going !== undefined && stat?.isDirectory() === true && holdsOnly(top, path.toString(), going);
  return stat?.isDirectory() === true && !goes ? `${path.toString()} is a folder` : undefined;
}

/** Whether a folder holds no files except these. */
export function holdsOnly(top: string, folder: string, files: ReadonlySet<string>): boolean {
  return readdirSync(join(top, folder), { withFileTypes: true }).every((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? holdsOnly(top, path, files) : files.has(path);
  });
}

/** Whether anything but a folder exists at a path of the working tree. */
export function isOccupied(top: string, path: Buffer): boolean {
  return lstatOf(inTree(top, bytesOf(path)))?.isDirectory() === false;
}

/**
 * Writes a file in one step: a program that reads it meanwhile gets the former content or the new one. Call `obstacle`
 * first, because this follows links among the file's folders.
 */
export function putFile(top: string, { path, mode, content, isPrivate = false }: PutFile): void {
  const name = bytesOf(path);
  const folder = name.slice(0, name.lastIndexOf('/') + 1);
  mkdirSync(inTree(top, folder), { recursive: true });
  const temporary = inTree(top, `${folder}.git-handoff-${randomName()}`);
  try {
    if (mode === '120000') symlinkSync(content, temporary);
    else {
      const everybody = mode === '100755' ? 0o777 : 0o666;
      writeFileSync(temporary, content, { mode: isPrivate ? everybody & 0o700 : everybody, flag: 'wx' });
    }
    renameSync(temporary, inTree(top, name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Replaces a file in one step, and syncs it to the disk. A link is replaced, not followed.
 *
 * @param temporary the file that is written first; none is left if this throws
 * @param prepare called with that file's descriptor before the file takes the place of the old one
 */
export function replaceFile(
  path: string,
  content: Uint8Array,
  mode: number,
  temporary = join(dirname(path), `.git-handoff-${randomName()}`),
  prepare: (file: number) => void = () => undefined,
): void {
  const file = openSync(temporary, 'wx', mode);
  try {
    try {
      for (let at = 0; at < content.length;) at += writeSync(file, content, at);
      prepare(file);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Returns a unique name for events and temporary files. Not for secrets: loading node:crypto would take milliseconds. */
export function randomName(): string {
  const part = () => Math.floor(Math.random() * 2 ** 32).toString(36);
  return `${process.pid.toString(36)}-${Date.now().toString(36)}-${part()}${part()}`;
}

/**
 * `stat`, or `undefined` if the path does not exist. Node throws if one of its folders is a file (`ENOTDIR`), its links form a
 * cycle (`ELOOP`), or it is longer than any path can be (`ENAMETOOLONG`); this returns `undefined` then, too.
 */
export const statOf = (path: string): Stats | undefined => orNothing(() => statSync(path, QUIET));

/** Like `statOf`, but does not follow a link. */
export const lstatOf = (path: string | Buffer): Stats | undefined => orNothing(() => lstatSync(path, QUIET));

/** Like `lstatOf`, but with times in nanoseconds. */
export const exactStatOf = (path: string | Buffer): BigIntStats | undefined =>
  orNothing(() => lstatSync(path, { ...QUIET, bigint: true }));

function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENAMETOOLONG') return undefined;
    throw error;
  }
}
