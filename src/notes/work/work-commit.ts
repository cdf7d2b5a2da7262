import {
  MAX_NOTE_BYTES,
  type HandoffTrailers,
  parseTrailers,
  type HandoffCommit,
} from '../../domain/handoff.ts';
import type { Oid } from '../../domain/names.ts';
import {
  MAX_BLOBS,
  SNAPSHOT_FILE,
  type Snapshot,
  parseSnapshot,
  type WorkSize,
  parseWorkSize,
} from '../../domain/snapshot.ts';
import { CommitText } from '../../git/commits.ts';
import { formatOf } from '../../git/hash.ts';
import {
  ObjectBatch,
  type ObjectRequest,
  type ReadObject,
  readObjects,
  parseTree,
} from '../../git/objects.ts';
import type { GitOptions } from '../../git/run.ts';
import { numberedBlobs } from '../../snapshot/commit.ts';
import {
  type HandoffPath,
  WORK,
  parseWorkRef,
  workPrefix,
  workRef,
  refBelow,
  remoteWorkPrefix,
} from '../../git/namespace.ts';
import { listRefNames, listRefs, type RefValue, updateRefs } from '../../git/refs.ts';
import type { InRepository } from '../../git/repository.ts';
import { refFailure } from '../handoffs.ts';
import { readHistory, readTopics } from '../topic.ts';
import type { PushedRef } from '../../git/push-range.ts';

/** A work commit that has the right format and is not too large. */
export interface LoadedWork {
  readonly oid: Oid;
  readonly work: Snapshot;
  readonly size: WorkSize;
  readonly trailers: HandoffTrailers;
  readonly name: string;
  readonly mail: string;
  /** Seconds since the epoch. */
  readonly seconds: number;
}

/** The size of a tree with the most entries allowed: each has a mode, a name and an object name. */
const MAX_TREE_BYTES = (MAX_BLOBS + 1) * 64;
const MAX_FILE_BYTES = 8 * 1024 * 1024;

/**
 * Reads a work commit, its sizes before its contents, because nothing in it is trusted. `maxBytes` limits all contents together.
 * Returns a text that says why a commit cannot be used; `undefined` if it is not in this repository.
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
  // If rebuilding the tree gives the same name, the tree has no duplicates, folders or submodules, which would go uncounted.
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

/** The work that a note carries, according to its trailers. */
export interface CarriedWork {
  readonly oid: Oid;
  /** `undefined`: the trailer does not state it. */
  readonly size: WorkSize | undefined;
}

function named({ trailers }: HandoffCommit): CarriedWork | undefined {
  const oid = trailers?.work;
  return oid === undefined ? undefined : { oid, size: parseWorkSize(trailers?.workSize) };
}

/**
 * Returns the work that the tip names or, because version 0.1.0 drops that trailer, the work that the history named last. If the
 * commit that named it is closed and the tip is open again, the topic carries no work.
 */
export async function carriedWork(
  repository: InRepository,
  tip: HandoffCommit,
): Promise<CarriedWork | undefined> {
  const carried = named(tip);
  if (carried !== undefined || tip.parents.length === 0) return carried;
  const newest = (await readHistory(repository, tip.oid)).find(
    ({ trailers }) => trailers?.work !== undefined,
  );
  const isOver = newest?.trailers?.state === 'closed' && tip.trailers?.state !== 'closed';
  return newest === undefined || isOver ? undefined : named(newest);
}

/**
 * Creates the ref of a work commit. Returns false if the same work was kept already.
 *
 * @throws Failure `environment` when a lock is held, `integrity` when the ref cannot be made
 */
export async function keepWork(repository: InRepository, path: HandoffPath, oid: Oid): Promise<boolean> {
  // The ref is named after the commit. If it exists, it has this value already, and creating it succeeds, too.
  const isThere = (await keptWork(repository, path)).some((one) => one.oid === oid);
  const result = await updateRefs(repository, [{ ref: workRef(path, oid), next: oid, old: undefined }]);
  if (result.kind === 'done' || result.kind === 'moved') return !isThere;
  throw refFailure(result);
}

/** The work commits that this clone keeps for a topic. */
export function keptWork(repository: InRepository, path: HandoffPath): Promise<readonly RefValue[]> {
  return listRefNames(repository, [workPrefix(path)]);
}

export interface KeptWork extends RefValue {
  readonly path: HandoffPath;
}

/** Work that no open note carries, because the note was closed on another machine, or never written. */
export async function leftWork(repository: InRepository): Promise<KeptWork[]> {
  const refs = (await listRefNames(repository, [WORK])).flatMap(({ name, oid }): KeptWork[] => {
    const path = parseWorkRef(name, WORK);
    return path === undefined ? [] : [{ name, oid, path }];
  });
  if (refs.length === 0) return [];
  // A note that cannot be read may be open.
  const open = (await readTopics(repository)).filter(({ tip }) => tip?.trailers?.state !== 'closed');
  const places = new Set(open.map(({ path }) => workPrefix(path)));
  const carried = new Set(open.flatMap(({ tip }) => tip?.trailers?.work ?? []));
  return refs.filter(({ path, oid }) => !places.has(workPrefix(path)) && !carried.has(oid));
}

/** Deletes refs of work. There is no race to lose, because these refs never move. */
export async function dropWork(repository: InRepository, refs: readonly RefValue[]): Promise<void> {
  if (refs.length === 0) return;
  await updateRefs(
    repository,
    refs.map(({ name, oid }) => ({ ref: name, next: undefined, old: oid })),
  );
}

/** A pushed ref of a handoff or of work, even if its name is not valid. `prefix` is that of the remote's handoffs. */
export interface PushedNote {
  readonly ref: PushedRef;
  readonly prefix: string;
}

/**
 * Returns why this push of work is refused; `undefined`: it is allowed. Work may only be created, under its own name and
 * within the bounds of its format (`maxBytes`: of all contents together).
 */
export async function judgeWork(
  { cwd }: InRepository,
  { ref: { local, remote, remoteRef }, prefix }: PushedNote,
  maxBytes: number,
): Promise<string | undefined> {
  const path = parseWorkRef(remoteRef, remoteWorkPrefix(prefix));
  // A badly named ref may be deleted.
  if (local === undefined) return path === undefined || remote === undefined ? undefined : 'deleted';
  if (path === undefined || path.oid !== local) return 'badly named: work is <branch>/<topic>/<object name>';
  if (remote !== undefined) return remote === local ? undefined : 'work may only be created, never moved';
  const work = await readWork({ cwd }, local, maxBytes);
  return typeof work === 'object' ? undefined : `not the work of a note: ${work ?? 'it is missing'}`;
}

/** Whether an open note in this repository carries this work, which then must not be deleted. */
export async function isCarried({ cwd }: InRepository, { ref, prefix }: PushedNote): Promise<boolean> {
  const path = parseWorkRef(ref.remoteRef, remoteWorkPrefix(prefix));
  if (path === undefined) return false;
  const note = refBelow(prefix, path);
  const found = await listRefs({ cwd }, [note], { content: true });
  return found.some(
    ({ name, content }) =>
      name === note && parseTrailers(new CommitText(content).message)?.state !== 'closed',
  );
}
