import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldedName } from '../../domain/folded-name.ts';
import { type FileState, sameState } from '../../domain/ledger/file-state.ts';
import type { Snapshot } from '../../domain/ledger/snapshot.ts';
import type { Oid } from '../../domain/names.ts';
import type { WorkItem, WorkState } from '../../domain/work.ts';
import type { TreeConfig } from '../../git/config.ts';
import { listTree } from '../../git/list-tree.ts';
import { readObjects } from '../../git/objects.ts';
import { PrivateIndex, setEntries } from '../../git/private-index.ts';
import { type ScratchStore, scratchEnvironment } from '../../git/scratch-store.ts';
import { lstatOf } from '../../git/stat.ts';
import { stampOf } from '../../git/work-tree.ts';
import type { LoadedWork } from './work-commit.ts';
import { type TreePlace, holdsOnly, inTheWay } from './places.ts';
import type { StateMerger } from './three-way.ts';

/** What becomes of a path. */
export interface PlannedPath {
  readonly path: string;
  /** What HEAD has there. */
  readonly head: FileState;
  /** What the disk and the index get. */
  readonly disk: FileState;
  readonly index: FileState;
  /** The bytes of the file, where a checkout of `disk` would not give them. */
  readonly raw: Oid | undefined;
  /** The index gets the name without a content. */
  readonly intended: boolean;
  /** The same lines were changed here: both stand between conflict markers. */
  readonly marked: boolean;
  /** False: the disk has it already. */
  readonly writes: boolean;
  /** False: the index has it already. What is not staged keeps the times that git knows it by. */
  readonly stages: boolean;
  /** What stood there when it was planned: size, times and inode; empty for nothing. */
  readonly stamp: string;
}

/** Why a path cannot be unpacked. */
interface RefusedPath {
  readonly path: string;
  readonly why: string;
}

/** Why markers are needed: both changed the same lines. */
export const IN_LINES = 'conflicts with a change in HEAD';

export interface UnpackPlan {
  readonly paths: readonly PlannedPath[];
  /** With any of these nothing is unpacked. */
  readonly refused: readonly RefusedPath[];
}

/** What a plan is made from. */
interface PlanFacts {
  readonly place: TreePlace;
  readonly work: LoadedWork;
  readonly snapshot: Snapshot;
  readonly config: TreeConfig;
  readonly merger: StateMerger;
  /** For what stands on the disk, which is looked at and not kept. */
  readonly store: ScratchStore;
  /** Conflicts in text may be left between markers. */
  readonly merge: boolean;
}

/** Looks at what each path of a work would become, and at what is there now. Nothing is changed. */
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

/** What stands at a path now. */
interface Standing {
  readonly head: FileState;
  readonly disk: FileState;
  readonly index: FileState | 'in conflict';
  /** The bytes that the work has for the file, and whether the disk has the same. */
  readonly raw: { readonly oid: Oid; readonly isThere: boolean } | undefined;
}

function indexState({ dirty }: Snapshot, { path }: WorkItem, head: FileState): Standing['index'] {
  const entry = dirty.get(path);
  if (entry === undefined) return head;
  return entry.index !== null && entry.index.oid === null ? 'in conflict' : entry.index;
}

async function planPath(
  { place, work, snapshot, config, merger, merge }: PlanFacts,
  item: WorkItem,
  { head, disk, index, raw }: Standing,
): Promise<PlannedPath | RefusedPath> {
  const { path } = item;
  const refuse = (why: string): RefusedPath => ({ path, why });
  const stateOf = (state: WorkState): FileState =>
    state === null ? null : { mode: state.mode, oid: work.blobs[state.blob] ?? null };
  const base = stateOf(item.base);
  const onDisk = await merger.merge({ base, ours: head, theirs: stateOf(item.disk) });
  const inIndex = await merger.merge({ base, ours: head, theirs: stateOf(item.index) });
  const isClean = onDisk.kind === 'merged' && inIndex.kind === 'merged';
  if (onDisk.kind === 'conflict') return refuse('conflicts with HEAD, and not in lines alone');
  // What cannot be staged cleanly is on the disk all the same.
  const next = inIndex.kind === 'merged' ? inIndex.state : head;
  const same = (a: FileState, b: FileState) => sameState(withMode(a, config), withMode(b, config));
  const isWhole = sameState(onDisk.state, stateOf(item.disk));
  const isThere = same(disk, onDisk.state) && (raw === undefined || !isWhole || raw.isThere);
  if (index === 'in conflict') return refuse('is in conflict');
  // Not on the disk, and no change to git: it was told not to check it out.
  if (!isThere && disk === null && head !== null && !snapshot.dirty.has(path))
    return refuse('is not checked out here');
  if (!isThere && !same(disk, head))
    return refuse(head === null ? 'is here already' : 'has uncommitted changes');
  if (!same(index, head) && !same(index, next)) return refuse('has staged changes');
  // Last: `--merge` helps only where nothing else is in the way.
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

/** Where git does not see the executable bit, it is no difference. */
function withMode(state: FileState, { fileMode }: TreeConfig): FileState {
  return state === null || fileMode || state.mode !== '100755' ? state : { ...state, mode: '100644' };
}

/** What git cannot store: a pipe, a folder that stays. Like no other state. */
const ODD: FileState = { mode: '000000', oid: null };

/** What stands on the disk at these paths, as git would store it; nothing else is looked at. */
async function diskStates(
  { place, store, snapshot }: PlanFacts,
  items: readonly WorkItem[],
): Promise<Map<string, FileState>> {
  const ours = new Set(items.map(({ path }) => path));
  const odd = new Map<string, FileState>();
  const plain = [...ours].filter((path) => {
    const stat = lstatOf(join(place.top, path));
    if (stat === undefined || stat.isFile() || stat.isSymbolicLink()) return stat !== undefined;
    // A folder with nothing else than paths of the work: they go, or have come in its place.
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
  { place, work }: PlanFacts,
  items: readonly WorkItem[],
): Promise<Map<string, { oid: Oid; isThere: boolean }>> {
  const wanted = items.flatMap(({ path, raw }) => {
    const oid = raw === undefined ? undefined : work.blobs[raw];
    return oid === undefined ? [] : [{ path, oid }];
  });
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

/** git takes no name that leads into `.git` on any system, whatever the settings say. */
const ON_ANY_SYSTEM = {
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'core.protectHFS',
  GIT_CONFIG_VALUE_0: 'true',
  GIT_CONFIG_KEY_1: 'core.protectNTFS',
  GIT_CONFIG_VALUE_1: 'true',
};

/** Names that git does not take, or that are one name on this disk; a file below another file. */
async function unsafePaths({ place, work, config, store }: PlanFacts): Promise<RefusedPath[]> {
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
  const [oid] = work.blobs;
  if (refused.length > 0 || oid === undefined) return refused;
  const index = await PrivateIndex.fresh({ ...place, env: scratchEnvironment(store) }, null);
  try {
    // One layer after the other, for a folder may go where a file comes.
    for (const paths of layersOf(items.map(({ path }) => path))) {
      const entries = new Map(paths.map((path) => [path, { mode: '100644', oid }]));
      await setEntries(place.top, entries, { ...index.env, ...ON_ANY_SYSTEM });
      // git passes over a name that it does not take, and says so on stderr only.
      for (const [path, state] of await index.read(paths))
        if (state === null) refused.push({ path, why: 'is not a name that git takes' });
    }
    return refused;
  } finally {
    index.remove();
  }
}

/** Paths in parts in none of which one is below another. */
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
