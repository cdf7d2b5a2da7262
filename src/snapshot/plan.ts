import { join } from 'node:path';
import type { WorkTree } from '../changes/dirty-work.ts';
import {
  type DirtyPath,
  type FilePath,
  type FileState,
  sameState,
  type TreeStatus,
} from '../domain/ledger/tree-status.ts';
import { type Oid, foldedName } from '../domain/names.ts';
import { type SnapshotItem, contentOf, pathsOfBlobs } from '../domain/snapshot.ts';
import type { TreeConfig } from '../git/config.ts';
import { listTree } from '../git/staged.ts';
import {
  hashContent,
  hashFiles,
  PrivateIndex,
  scratchEnvironment,
  type ScratchStore,
  scratchStore,
  setEntries,
} from '../git/scratch.ts';
import { gitFailure } from '../git/run.ts';
import { lstatOf, holdsOnly, isOccupied, obstacle } from '../host/disk.ts';
import { contentState, stampOf } from '../git/worktrees.ts';
import { readKept } from './commit.ts';
import type { StateMerger } from './three-way.ts';

export interface PlannedPath extends FilePath {
  readonly head: FileState;
  /** What the disk has now, if the restored content is merged into that. */
  readonly mergedInto?: FileState;
  /** What the disk and the index will have. */
  readonly disk: FileState;
  readonly index: FileState;
  /** The blob of the file's exact bytes, if checking out the blob in `disk` would write other ones (filters, line ends). */
  readonly own?: Oid | undefined;
  readonly isPrivate?: boolean;
  /** Whether to add it with `git add --intent-to-add`. */
  readonly intended?: boolean;
  /** Whether HEAD and the work changed the same lines, so that the file gets conflict markers. */
  readonly marked?: boolean;
  /** Whether to change the disk; false if it already has this state. */
  readonly writes: boolean;
  /** Whether to change the index; false if it already has this state: then the entry keeps its cached times. */
  readonly stages: boolean;
  /** Whether uncommitted content at the path would be lost. */
  readonly overwrites?: boolean;
  /** Size, times and inode of the file when the plan was made; empty if there was none. */
  readonly stamp: string;
}

/** The one reason that `--merge` overrides: HEAD and the work changed the same lines. */
export const IN_LINES = 'conflicts with a change in HEAD';

export interface RestorePlan {
  readonly paths: readonly PlannedPath[];
  /** If any path is refused, nothing is restored. */
  readonly refused: readonly RefusedPath[];
  /** The working tree when the plan was made. */
  readonly status: TreeStatus;
}

interface PlanFacts {
  readonly place: WorkTree;
  readonly items: readonly SnapshotItem[];
  readonly status: TreeStatus;
  readonly config: TreeConfig;
  readonly merger: StateMerger;
  /** A temporary store for the disk's contents, which are only compared. */
  readonly store: ScratchStore;
  /** Whether conflict markers are allowed. */
  readonly merge: boolean;
}

/** Returns the name of a file as the disk has it. */
export const nameBytes = ({ path, raw }: FilePath): Buffer =>
  raw === undefined ? Buffer.from(path) : Buffer.from(raw, 'latin1');

/**
 * Plans to restore files whole, as they were, whatever HEAD has now. An item without content removes its file. Changes nothing
 * itself. With a `merger` it undoes an undo: it keeps what others changed since, and includes the index.
 *
 * @throws Failure `integrity` when a content is gone
 */
export async function planWhole(
  place: WorkTree,
  items: readonly SnapshotItem[],
  status: TreeStatus,
  merger: StateMerger | undefined,
): Promise<RestorePlan> {
  const { top } = place;
  await readKept(
    top,
    items.filter((item) => contentOf(item) !== null),
  );
  const atHead = await headStates(top, items, status);
  // git may have been told not to look at a file (`git update-index --assume-unchanged`).
  const clean = [...atHead.keys()].filter((path) => !status.dirty.has(path));
  const onDisk = await hashFiles(top, clean, { all: true });
  const diskOf = merger === undefined ? contentOf : ({ disk }: SnapshotItem) => disk;
  const going = merger && new Set(items.filter(({ disk }) => disk === null).map(({ path }) => path));
  const paths: PlannedPath[] = [];
  const refused: RefusedPath[] = [];
  for (const item of items) {
    const { path, raw, own, isPrivate = false } = item;
    const isGone = diskOf(item) === null && !isOccupied(top, nameBytes(item));
    const why = isGone ? undefined : obstacle(top, nameBytes(item), going);
    if (why !== undefined) {
      refused.push({ path, why });
      continue;
    }
    const [head, disk] = [atHead.get(path) ?? null, diskOf(item)];
    const dirty = status.dirty.get(path);
    // git reports a file's filtered content, and does not list ignored files: so look at the file itself.
    const found = own === undefined ? null : contentState(top, item, own);
    const there = (dirty === undefined ? head : dirty.disk) ?? found;
    const isThere = (found ?? there)?.oid === (own ?? disk?.oid) && there?.mode === disk?.mode;
    // git does not list ignored files, but overwriting one would lose its content, too.
    const content = head?.mode === '120000' ? contentState(top, item, head.oid ?? '')?.oid : onDisk.get(path);
    const isClean = dirty === undefined && head !== null && head.oid === content;
    const overwrites = !isThere && !isClean && isOccupied(top, nameBytes(item));
    const joined =
      merger === undefined || !overwrites || dirty === undefined
        ? undefined
        : await joinUndone(place, item, dirty, merger);
    paths.push(
      joined ?? {
        path,
        raw,
        head,
        disk,
        index: item.index,
        own: disk?.mode === '120000' ? undefined : own,
        isPrivate,
        intended: merger !== undefined && item.intended === true && head === null,
        writes: !isThere,
        stages: merger !== undefined && !sameState(item.index, item.base),
        overwrites,
        stamp: stampOf(top, item),
      },
    );
  }
  return { paths, refused, status };
}

/** Plans to merge what an undo removed into a file that others have changed; `undefined` if that is not possible cleanly. */
async function joinUndone(
  { top, commonDir }: WorkTree,
  item: SnapshotItem,
  dirty: DirtyPath,
  merger: StateMerger,
): Promise<PlannedPath | undefined> {
  const { path, head, index, stamp } = dirty;
  const scratch = scratchStore(commonDir);
  const oid = (await hashFiles(top, [path], { scratch, all: true })).get(path);
  if (dirty.disk === null || oid === undefined) return undefined;
  const now = { ...dirty.disk, oid };
  const undone = await undoneState(top, item, scratch);
  if (undone === undefined) return undefined;
  const left = item.left ?? item.base;
  const joined = await merger.merge({ base: left, ours: now, theirs: undone });
  if (joined.kind !== 'merged') return undefined;
  const unstaged = await merger.merge({ base: undone, ours: item.index, theirs: left });
  const base = unstaged.kind === 'merged' ? unstaged.state : head;
  const isStaged = !sameState(item.index, item.base);
  const staged = isStaged ? await merger.merge({ base, ours: index, theirs: item.index }) : undefined;
  return {
    ...{ path, head, stamp, mergedInto: now },
    disk: joined.state,
    index: staged?.kind === 'merged' ? staged.state : index,
    isPrivate: item.isPrivate === true,
    writes: !sameState(joined.state, now),
    stages: staged?.kind === 'merged',
  };
}

/** Returns the state that an undo removed, computed from the file's own bytes; `undefined` if these were not kept. */
async function undoneState(top: string, item: SnapshotItem, scratch: ScratchStore) {
  if (item.disk === null) return null;
  const [bytes] = item.own === undefined ? [] : await readKept(top, [item]);
  const oid = bytes && (await hashContent(top, item.path, bytes, scratch, STORING_MS));
  return oid === undefined ? undefined : { ...item.disk, oid };
}

const STORING_MS = 10_000;

/**
 * Plans to apply a snapshot on top of what HEAD has now, and to stage what was staged. Overwrites a file only if its content
 * is the snapshot's or HEAD's. Changes nothing itself.
 */
export async function planMerge(facts: PlanFacts): Promise<RestorePlan> {
  const { place, items, status } = facts;
  const unsafe = await unsafePaths(facts);
  if (unsafe.length > 0) return { paths: [], refused: unsafe, status };
  const going = new Set(items.filter(({ disk }) => disk === null).map(({ path }) => path));
  const obstacles = items.flatMap(({ path, disk }) => {
    const why = disk === null ? undefined : obstacle(place.top, Buffer.from(path), going);
    return why === undefined ? [] : [{ path, why: `cannot be written: ${why}` }];
  });
  const blocked = new Set(obstacles.map(({ path }) => path));
  const free = items.filter(({ path }) => !blocked.has(path));
  const atHead = await headStates(place.top, items, status);
  const onDisk = await diskStates(facts, free);
  const paths: PlannedPath[] = [];
  const refused: RefusedPath[] = [...obstacles];
  for (const item of free) {
    const [head, disk] = [atHead.get(item.path) ?? null, onDisk.get(item.path) ?? null];
    const planned = await planPath(facts, item, head, disk);
    if ('why' in planned) refused.push(planned);
    else paths.push(planned);
  }
  return { paths, refused, status };
}

async function headStates(
  top: string,
  items: readonly SnapshotItem[],
  { head: { oid } }: TreeStatus,
): Promise<Map<string, FileState>> {
  const names = items.map(({ path }) => path);
  const files = oid === null ? [] : await listTree({ cwd: top }, oid, names);
  return new Map(files.map(({ path, mode, oid: blob }) => [path, { mode, oid: blob }]));
}

async function planPath(
  { place, status, config, merger, merge }: PlanFacts,
  item: SnapshotItem,
  head: FileState,
  disk: FileState,
): Promise<PlannedPath | RefusedPath> {
  const { path, base } = item;
  const dirty = status.dirty.get(path);
  const index = dirty === undefined ? head : dirty.index;
  const refuse = (why: string): RefusedPath => ({ path, why });
  const onDisk = await merger.merge({ base, ours: head, theirs: item.disk });
  const inIndex = await merger.merge({ base, ours: head, theirs: item.index });
  const isClean = onDisk.kind === 'merged' && inIndex.kind === 'merged';
  if (onDisk.kind === 'conflict') return refuse('conflicts with HEAD in a way that markers cannot show');
  // What cannot be staged cleanly still goes to the disk.
  const next = inIndex.kind === 'merged' ? inIndex.state : head;
  const same = (a: FileState, b: FileState) => sameState(withMode(a, config), withMode(b, config));
  const isWhole = sameState(onDisk.state, item.disk);
  // Without a limit, because a snapshot keeps larger files than a claim reads.
  const found = item.own === undefined ? undefined : contentState(place.top, { path }, item.own, Infinity);
  const hasBytes = found?.oid === item.own;
  const isThere = same(disk, onDisk.state) && (hasBytes || !isWhole);
  if (index !== null && index.oid === null) return refuse('is in conflict');
  // The file is not on the disk, yet git sees no change: git was told not to check it out.
  if (!isThere && disk === null && head !== null && dirty === undefined)
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
    own: isWhole ? item.own : undefined,
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

/** The state of what git cannot store: a pipe, or a folder that must stay. It equals no other state. */
const ODD: FileState = { mode: '000000', oid: null };

/** Returns what is on the disk at these paths, as git would store it. Reads no other paths. */
async function diskStates(
  { place, store, status }: PlanFacts,
  items: readonly SnapshotItem[],
): Promise<Map<string, FileState>> {
  const ours = new Set(items.map(({ path }) => path));
  const odd = new Map<string, FileState>();
  const plain = [...ours].filter((path) => {
    const stat = lstatOf(join(place.top, path));
    if (stat === undefined || stat.isFile() || stat.isSymbolicLink()) return stat !== undefined;
    // A folder with only paths of the snapshot counts as missing: its files will be removed, or an earlier run made the folder.
    odd.set(path, stat.isDirectory() && holdsOnly(place.top, path, ours) ? null : ODD);
    return false;
  });
  const index = await PrivateIndex.fresh({ ...place, env: scratchEnvironment(store) }, status.head.oid);
  try {
    await index.takeFromDisk(plain, true);
    return new Map([...(await index.read(plain)), ...odd]);
  } finally {
    index.remove();
  }
}

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

/** Finds names that git refuses, names that this disk does not tell apart, and paths that lead through another file. */
async function unsafePaths({ place, items, config, store }: PlanFacts): Promise<RefusedPath[]> {
  const files = new Set(items.filter(({ disk }) => disk !== null).map(({ path }) => path));
  const folded = new Map<string, string>();
  const refused: RefusedPath[] = [];
  for (const path of files) {
    const above = foldersOf(path).find((folder) => files.has(folder));
    if (above !== undefined) refused.push({ path, why: `is inside ${above}, which is a file` });
    const name = config.ignoreCase ? foldedName(path) : path;
    const other = folded.get(name);
    if (other !== undefined) refused.push({ path, why: `is the same file as ${other} here` });
    folded.set(name, path);
  }
  const [oid] = pathsOfBlobs(items).keys();
  if (refused.length > 0 || oid === undefined) return refused;
  const index = await PrivateIndex.fresh({ ...place, env: scratchEnvironment(store) }, null);
  try {
    // The index may have a file where the disk has a folder.
    for (const side of ['disk', 'index'] as const) {
      const paths = items.filter((item) => item[side] !== null).map(({ path }) => path);
      const entries = new Map(paths.map((path) => [path, { mode: '100644', oid }]));
      const result = await setEntries(place.top, entries, { ...index.env, ...ON_ANY_SYSTEM });
      if (result.code !== 0) throw gitFailure('update-index', result);
      // git skips a name that it refuses, and only says so on stderr.
      for (const [path, state] of await index.read(paths))
        if (state === null && !refused.some((one) => one.path === path))
          refused.push({ path, why: 'is not a name that git accepts' });
    }
    return refused;
  } finally {
    index.remove();
  }
}

/** Returns the folders of a path, outermost first. */
function foldersOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}
