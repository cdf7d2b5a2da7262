import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldedName, type Oid } from '../../domain/names.ts';
import { type FileState, sameState } from '../../domain/ledger/file-state.ts';
import type { TreeStatus } from '../../domain/ledger/tree-status.ts';
import { type SnapshotItem, pathsOfBlobs } from '../../domain/snapshot.ts';
import type { TreeConfig } from '../../git/config.ts';
import { listTree } from '../../git/list-tree.ts';
import { readObjects } from '../../git/objects.ts';
import { PrivateIndex, setEntries } from '../../git/private-index.ts';
import { gitFailure } from '../../git/run.ts';
import { type ScratchStore, scratchEnvironment } from '../../git/scratch-store.ts';
import { lstatOf } from '../../git/stat.ts';
import { stampOf } from '../../git/work-tree.ts';
import { type TreePlace, holdsOnly, inTheWay } from './places.ts';
import type { StateMerger } from './three-way.ts';
import type { LoadedWork } from './work-commit.ts';

/** What happens to one path. */
export interface PlannedPath {
  readonly path: string;
  /** What HEAD has there. */
  readonly head: FileState;
  /** What the disk and the index will have. */
  readonly disk: FileState;
  readonly index: FileState;
  /** The blob of the file's raw bytes, if a checkout of `disk` would not write them. */
  readonly raw: Oid | undefined;
  /** To be added by `git add --intent-to-add`. */
  readonly intended: boolean;
  /** HEAD and the work changed the same lines: the file gets conflict markers. */
  readonly marked: boolean;
  /** False: the disk already has it. */
  readonly writes: boolean;
  /** False: the index already has it, and its entry keeps its cached times. */
  readonly stages: boolean;
  /** Size, times and inode of the file when the plan was made; empty if there was none. */
  readonly stamp: string;
}

/** The one reason that `--merge` lifts: HEAD and the work changed the same lines. */
export const IN_LINES = 'conflicts with a change in HEAD';

export interface UnpackPlan {
  readonly paths: readonly PlannedPath[];
  /** If there is any, nothing is unpacked. */
  readonly refused: readonly RefusedPath[];
}

/** What a plan depends on. */
interface PlanFacts {
  readonly place: TreePlace;
  readonly work: LoadedWork;
  readonly snapshot: TreeStatus;
  readonly config: TreeConfig;
  readonly merger: StateMerger;
  /** For the contents of the disk, which are read and not kept. */
  readonly store: ScratchStore;
  /** Whether conflict markers are allowed. */
  readonly merge: boolean;
}

/** Plans what happens to each path of the work, given what is there now. Changes nothing. */
export async function planUnpack(facts: PlanFacts): Promise<UnpackPlan> {
  const { place, work, snapshot } = facts;
  const { items } = work.work;
  const unsafe = await unsafePaths(facts);
  if (unsafe.length > 0) return { paths: [], refused: unsafe };
  const going = new Set(items.filter(({ disk }) => disk === null).map(({ path }) => path));
  const obstacles = items.flatMap(({ path, disk }) => {
    const why = disk === null ? undefined : inTheWay(place.top, path, going);
    return why === undefined ? [] : [{ path, why }];
  });
  const blocked = new Set(obstacles.map(({ path }) => path));
  const free = items.filter(({ path }) => !blocked.has(path));
  const atHead = await headStates(facts);
  const onDisk = await diskStates(facts, free);
  const raws = await rawContents(facts, free);
  const paths: PlannedPath[] = [];
  const refused: RefusedPath[] = [...obstacles];
  for (const item of free) {
    const head = atHead.get(item.path) ?? null;
    const disk = onDisk.get(item.path) ?? null;
    const index = indexState(snapshot, item, head);
    const planned = await planPath(facts, item, { head, disk, index, raw: raws.get(item.path) });
    if ('why' in planned) refused.push(planned);
    else paths.push(planned);
  }
  return { paths, refused };
}

async function headStates({ place, work, snapshot }: PlanFacts): Promise<Map<string, FileState>> {
  const { oid } = snapshot.head;
  const names = work.work.items.map(({ path }) => path);
  const files = oid === null ? [] : await listTree(place.top, oid, names);
  return new Map(files.map(({ path, mode, oid: blob }) => [path, { mode, oid: blob }]));
}

/** The present state of a path. */
interface Standing {
  readonly head: FileState;
  readonly disk: FileState;
  readonly index: FileState | 'in conflict';
  /** The raw bytes that the work has for the file, and whether the disk already has them. */
  readonly raw: { readonly oid: Oid; readonly isThere: boolean } | undefined;
}

function indexState({ dirty }: TreeStatus, { path }: SnapshotItem, head: FileState): Standing['index'] {
  const entry = dirty.get(path);
  if (entry === undefined) return head;
  return entry.index !== null && entry.index.oid === null ? 'in conflict' : entry.index;
}

async function planPath(
  { place, snapshot, config, merger, merge }: PlanFacts,
  item: SnapshotItem,
  { head, disk, index, raw }: Standing,
): Promise<PlannedPath | RefusedPath> {
  const { path } = item;
  const refuse = (why: string): RefusedPath => ({ path, why });
  const { base } = item;
  const onDisk = await merger.merge({ base, ours: head, theirs: item.disk });
  const inIndex = await merger.merge({ base, ours: head, theirs: item.index });
  const isClean = onDisk.kind === 'merged' && inIndex.kind === 'merged';
  if (onDisk.kind === 'conflict') return refuse('conflicts with HEAD in a way that markers cannot show');
  // What cannot be staged cleanly still goes to the disk.
  const next = inIndex.kind === 'merged' ? inIndex.state : head;
  const same = (a: FileState, b: FileState) => sameState(withMode(a, config), withMode(b, config));
  const isWhole = sameState(onDisk.state, item.disk);
  const isThere = same(disk, onDisk.state) && (raw === undefined || !isWhole || raw.isThere);
  if (index === 'in conflict') return refuse('is in conflict');
  // Not on the disk, yet git sees no change: it was told not to check the file out.
  if (!isThere && disk === null && head !== null && !snapshot.dirty.has(path))
    return refuse('is not checked out here');
  if (!isThere && !same(disk, head))
    return refuse(head === null ? 'is here already' : 'has uncommitted changes');
  if (!same(index, head) && !same(index, next)) return refuse('has staged changes');
  // Checked last: `--merge` helps only if nothing else is in the way.
  if (!isClean && !merge) return refuse(IN_LINES);
  return {
    path,
    head,
    disk: onDisk.state,
    index: next,
    raw: isWhole ? raw?.oid : undefined,
    intended: item.intended === true && head === null,
    marked: onDisk.kind === 'marked',
    writes: !isThere,
    stages: !sameState(index, next),
    stamp: stampOf(place.top, { path }),
  };
}

/** Ignores the executable bit where git does. */
function withMode(state: FileState, { fileMode }: TreeConfig): FileState {
  return state === null || fileMode || state.mode !== '100755' ? state : { ...state, mode: '100644' };
}

/** What git cannot store: a pipe, or a folder that must stay. Equals no other state. */
const ODD: FileState = { mode: '000000', oid: null };

/** What is on the disk at these paths, as git would store it. Nothing else is read. */
async function diskStates(
  { place, store, snapshot }: PlanFacts,
  items: readonly SnapshotItem[],
): Promise<Map<string, FileState>> {
  const ours = new Set(items.map(({ path }) => path));
  const odd = new Map<string, FileState>();
  const plain = [...ours].filter((path) => {
    const stat = lstatOf(join(place.top, path));
    if (stat === undefined || stat.isFile() || stat.isSymbolicLink()) return stat !== undefined;
    // A folder that holds only paths of the work: they will be removed, or were unpacked in its place.
    odd.set(path, stat.isDirectory() && holdsOnly(place.top, path, ours) ? null : ODD);
    return false;
  });
  const index = await PrivateIndex.fresh({ ...place, env: scratchEnvironment(store) }, snapshot.head.oid);
  try {
    await index.takeFromDisk(plain, true);
    return new Map([...(await index.read(plain)), ...odd]);
  } finally {
    index.remove();
  }
}

async function rawContents(
  { place }: PlanFacts,
  items: readonly SnapshotItem[],
): Promise<Map<string, { oid: Oid; isThere: boolean }>> {
  const wanted = items.flatMap(({ path, raw: oid }) => (oid === undefined ? [] : [{ path, oid }]));
  const read = await readObjects(
    { cwd: place.top },
    wanted.map(({ oid: name }) => ({ name })),
  );
  return new Map(
    wanted.map(({ path, oid }, at) => {
      const file = join(place.top, path);
      const bytes = lstatOf(file)?.isFile() === true ? readFileSync(file) : undefined;
      return [path, { oid, isThere: bytes !== undefined && read[at]?.content.equals(bytes) === true }];
    }),
  );
}

/** Why a path cannot be unpacked. */
interface RefusedPath {
  readonly path: string;
  readonly why: string;
}

/** Makes git refuse names that lead into `.git` on any system, whatever the settings say. */
const ON_ANY_SYSTEM = {
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'core.protectHFS',
  GIT_CONFIG_VALUE_0: 'true',
  GIT_CONFIG_KEY_1: 'core.protectNTFS',
  GIT_CONFIG_VALUE_1: 'true',
};

/** Names that git refuses, names that this disk does not tell apart, and files below other files. */
async function unsafePaths({
  place,
  work,
  config,
  store,
}: {
  readonly place: TreePlace;
  readonly work: LoadedWork;
  readonly config: TreeConfig;
  readonly store: ScratchStore;
}): Promise<RefusedPath[]> {
  const { items } = work.work;
  const files = new Set(items.filter(({ disk }) => disk !== null).map(({ path }) => path));
  const folded = new Map<string, string>();
  const refused: RefusedPath[] = [];
  for (const path of files) {
    const above = foldersOf(path).find((folder) => files.has(folder));
    if (above !== undefined) refused.push({ path, why: `is below ${above}, which is a file` });
    const name = config.ignoreCase ? foldedName(path) : path;
    const other = folded.get(name);
    if (other !== undefined) refused.push({ path, why: `is the same file as ${other} here` });
    folded.set(name, path);
  }
  const [oid] = pathsOfBlobs(work.work).keys();
  if (refused.length > 0 || oid === undefined) return refused;
  const index = await PrivateIndex.fresh({ ...place, env: scratchEnvironment(store) }, null);
  try {
    // Layer by layer: a file may replace the folder of another path.
    for (const paths of layersOf(items.map(({ path }) => path))) {
      const entries = new Map(paths.map((path) => [path, { mode: '100644', oid }]));
      const result = await setEntries(place.top, entries, { ...index.env, ...ON_ANY_SYSTEM });
      if (result.code !== 0) throw gitFailure('update-index', result);
      // git skips a name that it refuses, and only says so on stderr.
      for (const [path, state] of await index.read(paths))
        if (state === null) refused.push({ path, why: 'is not a name that git accepts' });
    }
    return refused;
  } finally {
    index.remove();
  }
}

/** Splits paths into layers, so that no path is below another of its layer. */
function layersOf(paths: readonly string[]): string[][] {
  const left = new Set(paths);
  const isAbove = (path: string) => !foldersOf(path).some((folder) => left.has(folder));
  const top = paths.filter(isAbove);
  const below = paths.filter((path) => !isAbove(path));
  return below.length === 0 ? [top] : [top, ...layersOf(below)];
}

const foldersOf = (path: string) =>
  path
    .split('/')
    .slice(1)
    .map((_, at) =>
      path
        .split('/')
        .slice(0, at + 1)
        .join('/'),
    );
