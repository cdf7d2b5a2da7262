import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkTree } from '../changes/dirty-work.ts';
import { escapeLine, Failure } from '../domain/messages.ts';
import type { FileState, DirtyPath } from '../domain/ledger/tree-status.ts';
import type { Oid } from '../domain/names.ts';
import { type Snapshot, type SnapshotItem, pathsOfBlobs, type WorkSize } from '../domain/snapshot.ts';
import { filteredPaths, plainCheckouts } from '../git/filters.ts';
import { ObjectBatch, lookUpObjects, readObjects } from '../git/objects.ts';
import { PrivateIndex, readEntries, scratchEnvironment, type ScratchStore } from '../git/scratch.ts';
import { objectFormat } from '../git/repository.ts';
import type { GitOptions } from '../git/run.ts';
import { oidOfFile } from './three-way.ts';

type IndexedTree = WorkTree & { readonly indexFile: string };

/** A path that the work includes. */
interface TakenPath {
  readonly dirty: DirtyPath;
  /** What to carry instead of the file on the disk; `undefined`: the file itself. */
  readonly instead: FileState | undefined;
}

/** Work with its contents, read but not stored yet. */
export interface ReadContents {
  readonly work: Snapshot;
  /** Has the blobs that the repository lacks. */
  readonly batch: ObjectBatch;
  readonly size: WorkSize;
  /** The contents, each with the first path that has it, to be checked before they are stored. */
  readonly contents: readonly { readonly path: string; readonly content: Buffer }[];
}

/**
 * Reads the contents of paths in HEAD, the index and on the disk. `head` is `null` on an unborn branch. `store` receives what
 * `git add` would store. `composed` maps object names to contents that are stored nowhere yet. `checkSize` is called before the
 * contents are read, and throws if they are too large together.
 */
export async function readWorkContents(
  place: IndexedTree,
  head: Oid | null,
  taken: readonly TakenPath[],
  {
    store,
    composed,
    checkSize,
  }: {
    readonly store: ScratchStore;
    readonly composed: ReadonlyMap<Oid, Buffer>;
    readonly checkSize: (bytes: number) => void;
  },
): Promise<ReadContents> {
  const { top: cwd } = place;
  const git = { cwd, env: scratchEnvironment(store) };
  const whole = taken.filter(({ instead }) => instead === undefined).map(({ dirty }) => dirty.path);
  const onDisk = await indexForms(place, head, whole, git.env);
  const own = await ownBytes(git, onDisk);
  const named = taken.map(({ dirty }) => dirty.path);
  const staged = await readEntries(cwd, named);
  const batch = new ObjectBatch(await objectFormat({ cwd }, head ?? undefined));
  const items = taken.map(({ dirty: { path, head: base, index }, instead }): SnapshotItem => {
    const bytes = own.get(path);
    return {
      path,
      base,
      index: instead === undefined ? index : base,
      disk: instead === undefined ? (onDisk.get(path) ?? null) : instead,
      ...(bytes === undefined ? {} : { own: batch.blob(bytes) }),
      // An index entry without content: `git add --intent-to-add`.
      ...(index === null && staged.get(path) ? { intended: true as const } : {}),
    };
  });
  const paths = pathsOfBlobs(items);
  const known = new Map([
    ...composed,
    ...[...own.values()].map((bytes) => [batch.blob(bytes), bytes] as const),
  ]);
  const rest = [...paths.keys()].filter((oid) => !known.has(oid));
  const sizes = [
    ...(await lookUpObjects(git, rest)).map((info) => info?.size ?? 0),
    ...[...paths.keys()].map((oid) => known.get(oid)?.length ?? 0),
  ];
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  checkSize(bytes);
  const read = await readObjects(git, rest);
  const all = new Map([...known, ...rest.map((oid, at) => [oid, read[at]?.content] as const)]);
  // HEAD and the index hold these already.
  const stored = new Set(items.flatMap(({ base, index }) => [base?.oid, index?.oid]));
  const contents = [...paths].map(([oid, path]) => {
    const content = all.get(oid);
    if (content === undefined)
      throw new Failure(
        'environment',
        `the content of ${escapeLine(path)} cannot be read; nothing was written`,
        {
          hint: 'git handoff status',
        },
      );
    if (!stored.has(oid)) batch.blob(content);
    return { path, content };
  });
  return { work: { base: head, items }, batch, size: { paths: items.length, bytes }, contents };
}

/** Stores files as `git add` would, but in a separate store. The user's filters run, so that what they hide stays hidden. */
async function indexForms(
  place: IndexedTree,
  head: Oid | null,
  paths: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Map<string, FileState>> {
  const index = await PrivateIndex.open({ ...place, env }, head);
  try {
    // A file may have replaced a folder.
    await index.takeFromDisk(paths, true);
    return await index.read(paths);
  } catch (error) {
    // A wrong encoding or a failing filter: `git add` would refuse the file, too.
    const why = error instanceof Error ? error.message : String(error);
    const message = `git cannot store an uncommitted change, so a note cannot carry it; nothing was written: ${why}`;
    throw new Failure('refused', message, { hint: 'git add --dry-run --all' });
  } finally {
    index.remove();
  }
}

/** Returns the bytes of files that a checkout would write differently. Leaves out files with a filter. */
async function ownBytes(
  options: GitOptions,
  forms: ReadonlyMap<string, FileState>,
): Promise<Map<string, Buffer>> {
  const files = [...forms].flatMap(([path, state]) => {
    const oid = oidOfFile(state);
    return oid === undefined ? [] : [{ path, oid }];
  });
  const names = files.map(({ path }) => path);
  const filtered = await filteredPaths(options, names);
  const plain = files.filter(({ path }) => !filtered.has(path));
  const checkouts = await plainCheckouts(options, plain);
  const own = new Map<string, Buffer>();
  for (const [at, { path }] of plain.entries()) {
    const bytes = readFileSync(join(options.cwd, path));
    if (checkouts[at]?.equals(bytes) !== true) own.set(path, bytes);
  }
  return own;
}
