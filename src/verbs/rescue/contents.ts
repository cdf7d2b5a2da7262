import { dirname, join, relative, resolve, sep } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import type { Oid } from '../../domain/names.ts';
import type { RescuedFile } from '../../domain/rescue.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { type TreeFile, listTree } from '../../git/list-tree.ts';
import { readObjects } from '../../git/objects.ts';
import { realPath } from '../../host/disk.ts';
import type { KnownRescue } from './rescues.ts';

/** A rescued file with where its content is. */
export interface StoredFile extends RescuedFile {
  readonly oid: Oid;
  /** The bytes of a name that is not UTF-8, one character each. */
  readonly raw?: string;
}

/** Finds the contents of some files of a rescue; one whose content is gone is left out. */
export async function storedFiles(
  cwd: string,
  rescue: KnownRescue,
  files: readonly RescuedFile[],
): Promise<StoredFile[]> {
  const blobs = rescue.kind === 'stash' ? rescue.held : await savedBlobs(cwd, rescue.files);
  // Names that are not UTF-8 may look alike: each file takes the next of them.
  const byPath = new Map<string, TreeFile[]>();
  for (const blob of blobs) byPath.set(blob.path, [...(byPath.get(blob.path) ?? []), blob]);
  return files.flatMap((file) => {
    const found = byPath.get(file.path)?.shift();
    if (found === undefined) return [];
    return [{ ...file, oid: found.oid, ...(found.raw === undefined ? {} : { raw: found.raw }) }];
  });
}

const savedBlobs = (cwd: string, tree: Oid | undefined) => (tree === undefined ? [] : listTree(cwd, tree));

/** The bytes of files, in order; `undefined` where an object is missing. */
export async function readStored(cwd: string, files: readonly StoredFile[]): Promise<(Buffer | undefined)[]> {
  const found = await readObjects(
    { cwd },
    files.map(({ oid }) => ({ name: oid })),
  );
  return found.map((object) => (object?.type === 'blob' ? object.content : undefined));
}

/**
 * The paths of a command line, from the top of the working tree. What is asked for may be gone from the disk, with
 * its folder.
 *
 * @throws Failure `usage` for a path outside of the working tree
 */
export function wantedPaths(typed: readonly string[], cwd: string, top: string | undefined): string[] {
  if (typed.length === 0) return [];
  const root = top === undefined ? undefined : realPath(top);
  return typed.map((path) => {
    // `:/src/a.ts` is meant from the top, as git's pathspecs have it: messages are read in any folder.
    const absolute =
      path.startsWith(':/') && top !== undefined ? resolve(top, path.slice(2)) : resolve(cwd, path);
    const real = join(realPath(dirname(absolute)), relative(dirname(absolute), absolute));
    const inside = root === undefined ? undefined : relative(root, real).replaceAll(sep, '/');
    if (inside === undefined || path === '' || inside === '..' || inside.startsWith('../')) {
      throw new Failure('usage', `${escapeLine(path)} is not a path in this worktree`, {
        hint: 'git handoff rescue list',
      });
    }
    return inside;
  });
}
