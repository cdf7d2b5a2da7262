import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { randomName } from './random-name.ts';

/** A file of a working tree that is to be written. */
interface PutFile {
  /** Its name from the top, as bytes, with `/` between the parts. */
  readonly path: Buffer;
  /** git's mode: a regular file, an executable one, or a symbolic link. */
  readonly mode: string;
  readonly content: Buffer;
  /** Nobody but its owner may read it. */
  readonly isPrivate?: boolean;
}

const SLASH = '/'.charCodeAt(0);

/** What stands in the way of a path: a folder that is a link or a file, or the path being a folder itself. */
export function obstacle(top: string, path: Buffer): string | undefined {
  const parts = partsOf(path);
  if (parts.some((part) => /^\.git$/i.test(part.toString()) || part.length === 0 || isDots(part)))
    return 'the name is not one of a working tree';
  for (let length = 1; length < parts.length; length++) {
    const folder = joined(top, parts.slice(0, length));
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (!stat.isDirectory()) return `${folder.toString()} is not a folder`;
  }
  const stat = lstatSync(joined(top, parts), { throwIfNoEntry: false });
  return stat?.isDirectory() === true ? 'there is a folder' : undefined;
}

/** Whether anything stands at a path of the working tree. */
export function isOccupied(top: string, path: Buffer): boolean {
  return lstatSync(joined(top, partsOf(path)), { throwIfNoEntry: false }) !== undefined;
}

/**
 * Writes a file in one step: whoever reads it meanwhile has the former content or the new one. Links among its folders
 * are not followed: call `obstacle` first.
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
