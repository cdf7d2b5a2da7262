import { MAX_NOTE_BYTES, type HandoffTrailers, parseTrailers } from '../../domain/handoff.ts';
import type { Oid } from '../../domain/names.ts';
import { MAX_BLOBS, SNAPSHOT_FILE, type Snapshot, parseSnapshot } from '../../domain/snapshot.ts';
import type { WorkSize } from '../../domain/work.ts';
import { CommitText } from '../../git/commit-text.ts';
import { formatOf } from '../../git/hash.ts';
import { ObjectBatch } from '../../git/object-batch.ts';
import { type ObjectRequest, type ReadObject, readObjects, parseTree } from '../../git/objects.ts';
import type { GitOptions } from '../../git/run.ts';
import { numberedBlobs } from '../../snapshot/commit.ts';

/** A work commit within the format and its bounds. */
export interface LoadedWork {
  readonly oid: Oid;
  readonly work: Snapshot;
  readonly size: WorkSize;
  readonly trailers: HandoffTrailers;
  /** The committer's name. */
  readonly name: string;
  readonly mail: string;
  /** Seconds since the epoch. */
  readonly seconds: number;
}

/** The size of a tree with the most entries allowed: each has a mode, a name and an object name. */
const MAX_TREE_BYTES = (MAX_BLOBS + 1) * 64;
/** The most bytes that the snapshot's file may have. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

/**
 * Reads a work commit, sizes before contents: nothing in it is trusted. For a commit that cannot be used, returns a
 * text that says why; `undefined` if it is not in this repository.
 *
 * @param maxBytes the limit for the size of all contents together
 */
export async function readWork(
  options: GitOptions,
  oid: Oid,
  maxBytes: number,
): Promise<LoadedWork | string | undefined> {
  const ask = (requests: readonly ObjectRequest[]) => readObjects(options, requests);
  const tree = `${oid}^{tree}`;
  const [head, top] = await ask([
    { name: oid, infoOnly: true },
    { name: tree, infoOnly: true },
  ]);
  if (head === undefined) return undefined;
  if (head.type !== 'commit' || top === undefined) return 'it is no commit';
  if (head.size > MAX_NOTE_BYTES || top.size > MAX_TREE_BYTES) return 'it has too many entries';
  const [commit, listed] = await ask([{ name: oid }, { name: tree }]);
  if (commit === undefined || listed === undefined) return 'it is damaged';
  const text = new CommitText(commit.content.toString('latin1'));
  const trailers = parseTrailers(text.message);
  if (text.parents.length > 0) return 'it has parents';
  if (trailers === undefined) return 'its trailers cannot be read';
  const entries = parseTree(listed.content, formatOf(oid));
  const blobs = numberedBlobs(entries);
  const file = entries.get(SNAPSHOT_FILE);
  // Rebuilding the tree gives the same name: it has no duplicate, folder or submodule, whose contents nobody would count.
  const same = [...entries].map(([name, object]) => ({ name, oid: object }));
  const isPlain = new ObjectBatch(formatOf(oid)).tree(same) === listed.oid;
  if (file === undefined || !isPlain || blobs.length !== entries.size - 1 || blobs.length > MAX_BLOBS)
    return `its tree has entries other than ${SNAPSHOT_FILE} and numbered blobs`;
  const sizes = await ask([file, ...blobs].map((name) => ({ name, infoOnly: true })));
  const why = outOfBounds(sizes, maxBytes);
  if (why !== undefined) return why;
  const [json] = await ask([{ name: file }]);
  const work = parseSnapshot(json?.content.toString('utf8') ?? '', blobs);
  if (typeof work === 'string') return work;
  const bytes = sizeOf(sizes.slice(1));
  const { name, mail, seconds } = text;
  return { oid, work, size: { paths: work.items.length, bytes }, trailers, name, mail, seconds };
}

const sizeOf = (objects: readonly (ReadObject | undefined)[]) =>
  objects.reduce((sum, object) => sum + (object?.size ?? 0), 0);

function outOfBounds(objects: readonly (ReadObject | undefined)[], maxBytes: number): string | undefined {
  if (objects.some((object) => object?.type !== 'blob')) return 'one of its blobs is missing';
  const [file, ...contents] = objects;
  if ((file?.size ?? 0) > MAX_FILE_BYTES) return `${SNAPSHOT_FILE} is too large`;
  const bytes = sizeOf(contents);
  return bytes > maxBytes
    ? `it has ${bytes} bytes, at most ${maxBytes} are allowed (handoff.maxWork)`
    : undefined;
}
