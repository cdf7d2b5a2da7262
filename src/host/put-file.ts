import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomName } from './random-name.ts';

/** A file of a working tree that is to be written. */
interface PutFile {
  /** Its name from the top, as bytes, with `/` between the parts. */
  readonly path: Buffer;
  /** git's mode: a regular file, an executable one, or a symbolic link. */
  readonly mode: string;
  readonly content: Buffer;
  /** Whether only its owner may read it. */
  readonly isPrivate?: boolean;
}

const SLASH = '/'.charCodeAt(0);
const DOT_GIT = Buffer.from('.git');

/**
 * What keeps a file from being written to a working tree: a link or a file among its folders, another repository, or a folder
 * in its place. Files in `going` are about to be removed: they do not count, nor do folders that hold nothing else.
 */
export function obstacle(top: string, path: Buffer, going?: ReadonlySet<string>): string | undefined {
  const parts = partsOf(path);
  if (parts.some((part) => /^\.git$/i.test(part.toString()) || part.length === 0 || isDots(part)))
    return 'the name is not one of a working tree';
  for (let length = 1; length < parts.length; length++) {
    const folder = joined(top, parts.slice(0, length));
    const name = folder.toString().slice(top.length + 1);
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (!stat.isDirectory()) return going?.has(name) === true ? undefined : `${name} is not a folder`;
    if (lstatSync(joined(top, [...parts.slice(0, length), DOT_GIT]), { throwIfNoEntry: false }) !== undefined)
      return `${name} is a repository of its own`;
  }
  const stat = lstatSync(joined(top, parts), { throwIfNoEntry: false });
  const goes = going !== undefined && stat?.isDirectory() === true && holdsOnly(top, path.toString(), going);
  return stat?.isDirectory() === true && !goes ? `${path.toString()} is a folder` : undefined;
}

/** Whether a folder holds no other files than these. */
export function holdsOnly(top: string, folder: string, files: ReadonlySet<string>): boolean {
  return readdirSync(join(top, folder), { withFileTypes: true }).every((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? holdsOnly(top, path, files) : files.has(path);
  });
}

/** Whether anything exists at a path of the working tree. */
export function isOccupied(top: string, path: Buffer): boolean {
  return lstatSync(joined(top, partsOf(path)), { throwIfNoEntry: false }) !== undefined;
}

/**
 * Writes a file in one step: whoever reads it meanwhile gets the former content or the new one. Call `obstacle` first, so
 * that no link among the file's folders is followed.
 */
export function putFile(top: string, { path, mode, content, isPrivate = false }: PutFile): void {
  const parts = partsOf(path);
  const folder = joined(top, parts.slice(0, -1));
  mkdirSync(folder, { recursive: true });
  const temporary = Buffer.concat([folder, Buffer.from(`/.git-handoff-${randomName()}`)]);
  try {
    if (mode === '120000') symlinkSync(content, temporary);
    else {
      const everybody = mode === '100755' ? 0o777 : 0o666;
      writeFileSync(temporary, content, { mode: isPrivate ? everybody & 0o700 : everybody, flag: 'wx' });
    }
    renameSync(temporary, joined(top, parts));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function partsOf(path: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (let at = path.indexOf(SLASH); at >= 0; at = path.indexOf(SLASH, start)) {
    parts.push(path.subarray(start, at));
    start = at + 1;
  }
  return [...parts, path.subarray(start)];
}

const isDots = (part: Buffer) => part.equals(Buffer.from('.')) || part.equals(Buffer.from('..'));

function joined(top: string, parts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(top), ...parts.flatMap((part) => [Buffer.from('/'), part])]);
}
