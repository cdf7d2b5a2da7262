import { escapeLine, Failure } from '../domain/messages.ts';
import type { Oid } from '../domain/names.ts';
import {
  SNAPSHOT_FILE,
  type Snapshot,
  type SnapshotItem,
  contentOf,
  formatSnapshot,
  parseSnapshot,
} from '../domain/snapshot.ts';
import { formatOf } from '../git/hash.ts';
import { type ObjectBatch, parseTree, readObjects } from '../git/objects.ts';
import type { GitOptions } from '../git/run.ts';

interface Signed {
  readonly message: string;
  readonly name?: string;
  readonly email?: string | undefined;
  /** Seconds since the epoch. */
  readonly seconds: number;
}

/**
 * Adds the commit of a snapshot to a batch; the batch or the repository already has the files' contents. The commit has no
 * parents, so it holds nothing but what was changed.
 */
export function addSnapshot(
  batch: ObjectBatch,
  snapshot: Snapshot,
  { message, name = '', email = '', seconds }: Signed,
): Oid {
  const { text, blobs } = formatSnapshot(snapshot);
  const tree = batch.tree([
    { name: SNAPSHOT_FILE, oid: batch.blob(Buffer.from(text)) },
    ...blobs.map((oid, number) => ({ name: String(number), oid })),
  ]);
  return batch.commit({ name, email, message, seconds, tree, parents: [] });
}

/** The blobs of a snapshot's tree in the order of their numbers, up to the first number that is missing. */
export function numberedBlobs(entries: ReadonlyMap<string, Oid>): Oid[] {
  const blobs = Array.from({ length: entries.size }, (_, number) => entries.get(String(number)));
  const end = blobs.indexOf(undefined);
  return blobs.slice(0, end < 0 ? undefined : end).flatMap((oid) => oid ?? []);
}

/** Reads snapshots of this clone, in order; `undefined` for a commit that is damaged or is not a snapshot. */
export async function readSnapshots(
  options: GitOptions,
  commits: readonly Oid[],
): Promise<(Snapshot | undefined)[]> {
  const names = commits.flatMap((oid) => [`${oid}^{tree}`, `${oid}:${SNAPSHOT_FILE}`]);
  const found = await readObjects(options, names);
  return commits.map((oid, at) => {
    const [tree, file] = found.slice(2 * at, 2 * at + 2);
    if (tree === undefined || file?.type !== 'blob') return undefined;
    const blobs = numberedBlobs(parseTree(tree.content, formatOf(oid)));
    const snapshot = parseSnapshot(file.content.toString('utf8'), blobs, true);
    return typeof snapshot === 'string' ? undefined : snapshot;
  });
}

/**
 * Reads the bytes that a snapshot keeps of these files, in order.
 *
 * @throws Failure `integrity` if an object is missing
 */
export async function readKept(cwd: string, items: readonly SnapshotItem[]): Promise<Buffer[]> {
  const oids = items.map((item) => {
    const oid = item.own ?? contentOf(item)?.oid ?? undefined;
    if (oid === undefined) throw gone(item.path);
    return oid;
  });
  const found = await readObjects({ cwd }, oids);
  return items.map(({ path }, at) => {
    const object = found[at];
    if (object?.type !== 'blob') throw gone(path);
    return object.content;
  });
}

function gone(path: string): Failure {
  return new Failure('integrity', `the kept content of ${escapeLine(path)} is missing or damaged`, {
    hint: 'git fsck',
  });
}
