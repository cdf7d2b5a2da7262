import type { Snapshot } from '../../domain/ledger/snapshot.ts';
import { Failure } from '../../domain/failure.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { listTree } from '../../git/list-tree.ts';
import { hashFiles } from '../../git/scratch-store.ts';
import { obstacle, isOccupied } from '../../host/put-file.ts';
import { type StoredFile, readStored } from './contents.ts';
import { gone } from './show.ts';

/** A file to bring back, and what stands there now. */
export interface RestoredFile {
  readonly file: StoredFile;
  readonly content: Buffer;
  /** `same`: it is there already · `free`: nothing is lost by writing it · `dirty`: uncommitted work stands there. */
  readonly state: 'same' | 'free' | 'dirty';
}

/**
 * Looks at what each file would write over.
 *
 * @throws Failure `refused` where a folder or a link stands in the way; `integrity` when a content is gone
 */
export async function planFiles(
  top: string,
  files: readonly StoredFile[],
  { dirty, head }: Snapshot,
): Promise<RestoredFile[]> {
  const contents = await readStored(top, files);
  const named = files.map(({ path }) => path);
  const tracked = head.oid === null ? [] : await listTree(top, head.oid, named);
  const atHead = new Map(tracked.map((one) => [one.path, one]));
  // git may have been told not to look at a file (`git update-index --assume-unchanged`).
  const clean = tracked.filter(({ path }) => !dirty.has(path)).map(({ path }) => path);
  const onDisk = await hashFiles(top, clean, {});
  return files.map((file, at): RestoredFile => {
    const content = contents[at];
    if (content === undefined) throw gone(file.path);
    const why = obstacle(top, pathBytes(file));
    if (why !== undefined) throw inTheWay(file, why);
    const now = dirty.get(file.path);
    const there = now === undefined ? atHead.get(file.path) : now.disk;
    if (there?.oid === file.oid && there.mode === file.mode) return { file, content, state: 'same' };
    // What git ignores is in no list, and is lost just as well.
    const isClean = now === undefined && atHead.get(file.path)?.oid === onDisk.get(file.path);
    const isFree = !isOccupied(top, pathBytes(file)) || (isClean && atHead.has(file.path));
    return { file, content, state: isFree ? 'free' : 'dirty' };
  });
}

/** The name of a file as the disk has it. */
export function pathBytes({ path, raw }: Pick<StoredFile, 'path' | 'raw'>): Buffer {
  return raw === undefined ? Buffer.from(path) : Buffer.from(raw, 'latin1');
}

function inTheWay({ path }: StoredFile, why: string): Failure {
  return new Failure('refused', `${escapeLine(path)} cannot be restored: ${escapeLine(why)}`, {
    hint: `git handoff rescue show --raw -- ${shellWord(path)}`,
  });
}
