import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A working tree that work is packed from or unpacked into. */
export interface TreePlace {
  readonly top: string;
  readonly gitDir: string;
  readonly commonDir: string;
  /** The path of the worktree's index. */
  readonly indexFile: string;
}

/**
 * What keeps a file from being written to the working tree now: a link or a file among its folders, another repository, or a
 * folder in its place. Paths in `going` are about to be removed, and do not count.
 */
export function inTheWay(top: string, path: string, going: ReadonlySet<string>): string | undefined {
  const parts = path.split('/');
  for (let length = 1; length < parts.length; length++) {
    const folder = parts.slice(0, length).join('/');
    const stat = lstatSync(join(top, folder), { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (!stat.isDirectory()) return going.has(folder) ? undefined : `${folder} is not a folder`;
    if (lstatSync(join(top, folder, '.git'), { throwIfNoEntry: false }) !== undefined)
      return `${folder} is a repository of its own`;
  }
  const stat = lstatSync(join(top, path), { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true || holdsOnly(top, path, going)) return undefined;
  return `${path} is a folder`;
}

/** Whether a folder holds only these files. */
export function holdsOnly(top: string, folder: string, files: ReadonlySet<string>): boolean {
  return readdirSync(join(top, folder), { withFileTypes: true }).every((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? holdsOnly(top, path, files) : files.has(path);
  });
}
