import {
  type Replaced,
  type FileState,
  sameState,
  type DirtyPath,
  type HeadPlace,
  type TreeStatus,
} from '../domain/ledger/tree-status.ts';
import { type Oid, type SessionId, sessionOfOwner } from '../domain/names.ts';
import { type OverlapKind, type Progress, overlapKindOf, progressOf } from '../domain/overlap.ts';
import { pathsBetween } from '../git/commits.ts';
import { mergeBase } from '../git/histories.ts';
import { type MergeWay, mergeWays, TextMerger } from '../git/merge-file.ts';
import { contentReader, type ScratchStore, scratchStore } from '../git/scratch.ts';
import { contentState, readTreeStatus, linkedWorktrees } from '../git/worktrees.ts';
import { realPath } from '../host/disk.ts';
import { knownWorktreeId } from '../host/folders.ts';
import { type LedgerPlace, readLedgers } from '../sessions/journal.ts';
import { type JudgedSession, groupSessions } from '../sessions/records.ts';
import type { WorkTree } from './dirty-work.ts';
import { statesAt } from './windows.ts';

/** A side of a comparison: a working tree as `git status` showed it, or a branch as committed. */
export interface Side {
  /** `null`: no commit yet. */
  readonly head: Oid | null;
  readonly dirty: ReadonlyMap<string, DirtyPath>;
}

/** A path that the two sides have changed differently since their histories diverged. */
interface PathOverlap {
  readonly path: string;
  readonly kind: OverlapKind;
  /** The side that has deleted or moved the file. */
  readonly deletedBy: 0 | 1 | null;
  /** Whether the second side's change is committed, uncommitted, or both. */
  readonly progress: Progress;
}

interface Comparing {
  readonly scratch: ScratchStore;
  readonly timeoutMs: number;
}

/**
 * Compares two sides path by path, and tries to merge each file that both have changed. Runs none of the user's merge drivers:
 * a file that has one is `not-judged`. `cwd` is in the repository whose attributes say how files are merged. Without `paths`,
 * compares all that both sides have changed, and returns `unrelated` if the histories have nothing in common.
 */
export async function overlapsBetween(
  cwd: string,
  [mine, theirs]: readonly [mine: Side, theirs: Side],
  paths: readonly string[] | undefined,
  options: Comparing,
): Promise<PathOverlap[] | 'unrelated'> {
  const base = await baseOf(cwd, mine.head, theirs.head, options);
  if (base === undefined && paths === undefined) return 'unrelated';
  const asked = paths ?? (await changedInBoth(cwd, base, mine, theirs));
  const [was, here, there] = await Promise.all([
    statesAt(cwd, base ?? null, asked, options.timeoutMs),
    standings(cwd, mine, asked, options),
    standings(cwd, theirs, asked, options),
  ]);
  const changed = asked.flatMap((path) => {
    const [one, before, other] = [here(path).disk, was.get(path) ?? null, there(path)];
    const [found, progress] = [overlapKindOf(before, one, other.disk), progressOf(before, other)];
    if (found === undefined || progress === undefined) return [];
    const deletedBy = one === null ? (0 as const) : other.disk === null ? (1 as const) : null;
    const kind = base === undefined ? 'not-judged' : found;
    return [{ path, kind, deletedBy, progress, states: [one, before, other.disk] as const }];
  });
  const read = changed.filter(({ kind }) => kind === 'contents');
  const merged = await tryMerges(cwd, read, options.scratch);
  return changed.map(({ path, kind, deletedBy, progress }) => {
    const judged = kind === 'contents' ? (merged.get(path) ?? 'not-judged') : kind;
    return { path, kind: judged, deletedBy, progress };
  });
}

/** Returns the merge base; `undefined` if there is none, or if one side has no commit yet. */
async function baseOf(
  cwd: string,
  one: Oid | null,
  other: Oid | null,
  { timeoutMs }: Comparing,
): Promise<Oid | undefined> {
  if (one === null || other === null) return undefined;
  return one === other ? one : mergeBase({ cwd, timeoutMs }, one, other);
}

async function changedInBoth(cwd: string, base: Oid | undefined, one: Side, other: Side): Promise<string[]> {
  const changed = async ({ head, dirty }: Side) => [
    ...(head === null || base === undefined || head === base ? [] : await pathsBetween({ cwd }, base, head)),
    ...dirty.keys(),
  ];
  const [mine, theirs] = await Promise.all([changed(one), changed(other)]);
  const known = new Set(theirs);
  return [...new Set(mine)].filter((path) => known.has(path)).sort();
}

/** Returns what HEAD and the disk have at each path on one side. */
async function standings(
  cwd: string,
  { head, dirty }: Side,
  paths: readonly string[],
  options: Comparing,
): Promise<(path: string) => Replaced> {
  const clean = paths.filter((path) => !dirty.has(path));
  const committed = await statesAt(cwd, head, clean, options.timeoutMs);
  return (path) => {
    const changed = dirty.get(path);
    if (changed !== undefined) return { head: changed.head, disk: changed.disk };
    const state = committed.get(path) ?? null;
    return { head: state, disk: state };
  };
}

interface FileOfThree {
  readonly path: string;
  readonly states: readonly [mine: FileState, base: FileState, theirs: FileState];
}

async function tryMerges(
  cwd: string,
  files: readonly FileOfThree[],
  scratch: ScratchStore,
): Promise<Map<string, OverlapKind>> {
  const kinds = new Map<string, OverlapKind>();
  if (files.length === 0) return kinds;
  const paths = files.map(({ path }) => path);
  const ways = await mergeWays(cwd, paths);
  const merger = new TextMerger();
  try {
    for (const { path, states } of files) {
      const settled = WITHOUT_TRYING[ways.get(path) ?? 'text'];
      kinds.set(path, settled ?? (await mergeTexts(cwd, states, scratch, merger)));
    }
  } finally {
    merger.close();
  }
  return kinds;
}

const WITHOUT_TRYING: Readonly<Record<MergeWay, OverlapKind | undefined>> = {
  text: undefined,
  binary: 'conflict',
  union: 'same-file',
  driver: 'not-judged',
};

async function mergeTexts(
  cwd: string,
  states: FileOfThree['states'],
  scratch: ScratchStore,
  merger: TextMerger,
): Promise<OverlapKind> {
  // The content was too big to be kept.
  if (states.some((state) => state?.oid === null)) return 'not-judged';
  // If both sides added the file, the base is empty.
  const oids = states.map((state) => state?.oid ?? null);
  const read = await contentReader(cwd, scratch, oids);
  const [mine, base, theirs] = oids.map(read);
  if (mine === undefined || base === undefined || theirs === undefined) return 'not-judged';
  const { kind } = await merger.apply(mine, base, theirs);
  return kind === 'merged' ? 'same-file' : 'conflict';
}

/** Another worktree where sessions are at work, and its overlaps with uncommitted changes in the asker's worktree. */
export interface OtherTree {
  readonly id: string;
  readonly top: string;
  readonly head: HeadPlace;
  readonly overlaps: readonly OtherOverlap[];
}

interface OtherOverlap extends PathOverlap {
  /** The sessions that changed the path there, except the asking session, its parents and its children. */
  readonly sessions: readonly JudgedSession[];
}

/**
 * Finds which `dirty` changes of a worktree overlap with other worktrees where sessions are at work.
 * `asking`: `undefined` for a person; `timeoutMs` for each git command; `now` in milliseconds since the epoch.
 */
export async function overlapsElsewhere(
  { top, gitDir, commonDir }: WorkTree,
  dirty: Iterable<DirtyPath>,
  judged: readonly JudgedSession[],
  options: { readonly asking: SessionId | undefined; readonly timeoutMs: number; readonly now: number },
): Promise<OtherTree[]> {
  const changes = [...dirty];
  const { own } = groupSessions(options.asking, judged, []);
  const looking = { ...options, scratch: scratchStore(commonDir) };
  const trees = linkedWorktrees(commonDir).map(async (other): Promise<OtherTree[]> => {
    const id = knownWorktreeId(other.gitDir);
    const live = judged.filter((one) => one.worktreeId === id && one.liveness === 'live');
    if (id === undefined || other.gitDir === gitDir || live.length === 0) return [];
    const paths = changes.filter((one) => mayOverlap(other.path, one)).map(({ path }) => path);
    if (paths.length === 0) return [];
    const look = (folder: string) => readTreeStatus(folder, { ...looking, paths });
    // One worktree that git cannot read (its folder may be gone) must not hide the others.
    const [mine, theirs] = await Promise.all([look(top), look(other.path).catch(() => undefined)]);
    if (theirs === undefined) return [];
    const found = await overlapsBetween(top, [sideOf(mine), sideOf(theirs)], paths, looking);
    const changers = changersIn({ commonDir, worktreeId: id }, live);
    const overlaps = (found === 'unrelated' ? [] : found).map((one) => ({
      ...one,
      sessions: changers(one.path).filter(({ record }) => !own.has(record.session)),
    }));
    return [{ id, top: realPath(other.path), head: theirs.head, overlaps }];
  });
  return (await Promise.all(trees)).flat();
}

/** Whether a path may overlap, judged without git: the other worktree's file differs from the file here and from HEAD here. */
function mayOverlap(otherTop: string, dirty: DirtyPath): boolean {
  const { head, disk } = dirty;
  const there = contentState(otherTop, dirty, head?.oid ?? disk?.oid ?? '');
  return !sameState(there, head) && !sameState(there, disk);
}

const sideOf = ({ head, dirty }: TreeStatus): Side => ({ head: head.oid, dirty });

/** Returns the sessions in a worktree that claim a path, or all if none does: a session that works alone claims nothing. */
export function changersIn(
  place: LedgerPlace,
  live: readonly JudgedSession[],
): (path: string) => readonly JudgedSession[] {
  const ledgers = live.length < 2 ? [] : readLedgers(place);
  return (path) => {
    const claims = ledgers
      .filter((ledger) => ledger.claims.has(path))
      .map(({ session }) => sessionOfOwner(session));
    const claiming = live.filter(({ record }) => claims.includes(record.session));
    return claiming.length === 0 ? live : claiming;
  };
}
