import { constants, fchmodSync, fchownSync, promises as fs, statSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { Failure } from '../domain/messages.ts';
import { kindOf, quietly, randomName, replaceFile } from '../host/disk.ts';

const MAX_LINKS = 40;

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/** Turns an error of the file system into a failure that names the path. */
export function diskFailure(action: string, path: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const isLocked = codeOf(error) === 'EEXIST';
  const why = isLocked ? `another process holds ${path}.lock` : (codeOf(error) ?? String(error));
  const hint = isLocked
    ? 'git handoff doctor --fix'
    : 'make it writable for this user (or free some space), then run the command again';
  return new Failure('environment', `cannot ${action} ${path}: ${why}`, { hint, cause: error });
}

/** Where a path leads when its symbolic links are followed. The target need not exist. */
export async function followLinks(path: string): Promise<string> {
  let at = path;
  for (let hops = 0; hops < MAX_LINKS; hops++) {
    const target = await fs.readlink(at).catch(() => undefined);
    if (target === undefined) return at;
    at = resolve(dirname(at), target);
  }
  throw new Failure('environment', `too many symbolic links: ${path}`);
}

export interface DiskFile {
  readonly path: string;
  readonly bytes: Buffer | undefined;
}

/** Reads one file, through its symbolic links. */
export async function readFileFacts(path: string): Promise<DiskFile> {
  const real = await followLinks(path);
  return { path: real, bytes: await readBytes(real) };
}

/** Reads one file as `readFileFacts` does; undefined for a folder, a device, or links that lead in a circle. */
export async function plainFileFacts(path: string): Promise<DiskFile | undefined> {
  const real = await followLinks(path).catch(() => undefined);
  if (real === undefined) return undefined;
  const stat = await fs.stat(real).catch(() => undefined);
  return stat === undefined || stat.isFile() ? { path: real, bytes: await readBytes(real) } : undefined;
}

/** The file's bytes; undefined when there is no file. Fails for a FIFO, which may block, and for a device, which may not end. */
export async function readBytes(path: string): Promise<Buffer | undefined> {
  let file: fs.FileHandle | undefined;
  try {
    file = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile() && !stat.isDirectory()) throw Object.assign(new Error(), { code: 'not a file' });
    return await file.readFile();
  } catch (error) {
    if (/^(?:ENOENT|ENOTDIR|ELOOP)$/.test(codeOf(error) ?? '')) return undefined;
    throw diskFailure('read', path, error);
  } finally {
    await file?.close();
  }
}

/** Whether anything is there, a dangling link included. */
export const pathExists = (path: string): boolean => kindOf(path) !== 'none';

/** Whether `path` is `folder` or lies in it. Both must be absolute and free of symbolic links. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}

/** The folders on the way to `path` (inclusive) that do not exist, outermost first. */
export function missingFolders(path: string): string[] {
  if (pathExists(path)) return [];
  const parent = dirname(path);
  return parent === path ? [] : [...missingFolders(parent), path];
}

/**
 * Checks that a file in this folder can be made or replaced, before anything is changed.
 *
 * @throws Failure `environment`
 */
export async function requireWritable(folder: string): Promise<void> {
  const [outermost] = missingFolders(folder);
  const present = outermost === undefined ? folder : dirname(outermost);
  try {
    if (!(await fs.stat(present)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    await fs.access(present, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw diskFailure('write to', present, error);
  }
}

/**
 * Puts a whole file in place at once: a reader sees the old bytes or the new ones, never a part. With `lock`, the temporary
 * file is `<path>.lock`, as git's is, so that only one writer at a time can create it.
 *
 * @throws the file system's error; no temporary file is left
 */
export function placeFile(path: string, bytes: Buffer, mode: number, lock: boolean): void {
  const temporary = path + (lock ? '.lock' : `.handoff-${randomName()}`);
  const former = quietly(() => statSync(path));
  replaceFile(path, bytes, former === undefined ? mode : 0o600, temporary, (file) => {
    // A new file was created with the right mode: `mode` less the umask.
    if (former === undefined) return;
    if (former.uid !== process.getuid?.() || former.gid !== process.getgid?.())
      quietly(() => fchownSync(file, former.uid, former.gid));
    fchmodSync(file, former.mode & 0o7777);
  });
}
