import type { TreeStatus, DirtyPath } from '../../../domain/ledger/tree-status.ts';
import type { Oid } from '../../../domain/names.ts';
import {
  type PathOverlap,
  mayMeet,
  overlapsOf,
  type MergeReport,
  autoMerged,
} from '../../../domain/overlap.ts';
import type { MergeDrivers } from '../../../git/merge-drivers.ts';
import { type Unmerged, type Pair, mergePairs } from '../../../git/merge-trees.ts';
import { ObjectBatch } from '../../../git/object-batch.ts';
import { bytesOf } from '../../../git/rescue-tree.ts';
import { type ScratchStore, scratchEnvironment, hashFiles } from '../../../git/scratch-store.ts';
import { type TreeChange, changeTrees } from '../../../git/trees.ts';
import type { JudgedSession } from '../../../sessions/records.ts';
import { namedSession } from '../../owner-text.ts';
import type { OverlapShape, OverlapSideShape } from '../../shapes.ts';
import { type Line, changesOf, isNotRead } from './lines.ts';

export type LinePair = readonly [one: Line, other: Line];

const REASONS: Readonly<Record<Unmerged, string>> = {
  unrelated: 'they have no common history here',
  unreadable: 'objects are missing',
};

const UNBORN = 'there is no commit yet';
const UNLOOKED = 'git cannot look at a worktree';
const isUnlooked = ({ worktree, snapshot }: Line) => worktree !== undefined && snapshot === undefined;

interface Compared {
  readonly found: OverlapShape[];
  /** The looks at worktrees of which contents were read. */
  readonly read: ReadonlyMap<Line, TreeStatus>;
}

/** Lets git merge the pairs that may overlap, and reports each overlap. */
export async function compare(
  cwd: string,
  pairs: readonly LinePair[],
  options: { readonly store: ScratchStore; readonly drivers: MergeDrivers },
): Promise<Compared> {
  const born = pairs.filter((pair) => pair.every(({ head }) => head !== undefined));
  const meeting = born.filter(([one, other]) => one.head !== other.head || mayMeet(one.extent, other.extent));
  const { commits, read } = await commitLines(cwd, [...new Set(meeting.flat())], options.store);
  const asked = meeting.flatMap((pair) => {
    const [one, other] = pair.map((line) => commits.get(line));
    return one === undefined || other === undefined ? [] : [{ pair, commits: [one, other] as const }];
  });
  const outcomes = await tryMerges(
    cwd,
    asked.map((one) => one.commits),
    options,
  );
  const tried = new Map(asked.map(({ pair }, n) => [pair, outcomes[n] ?? 'unreadable']));
  const apart = new Set(born.filter((pair) => !tried.has(pair)));
  const found = pairs.flatMap((pair): OverlapShape[] => {
    const merge = tried.get(pair);
    const outcome = merge === undefined ? (pair.some(isUnlooked) ? UNLOOKED : UNBORN) : outcomeOf(merge);
    if (apart.has(pair) || outcome.length === 0) return [];
    const paths = typeof outcome === 'string' ? [] : outcome.map(pathShape);
    const sides = [sideOf(concerned(pair[0], paths)), sideOf(concerned(pair[1], paths))] as const;
    return [{ sides, paths, unknown: typeof outcome === 'string' ? outcome : null }];
  });
  return { found, read };
}

function outcomeOf(merge: TriedMerge | Unmerged): string | PathOverlap[] {
  return typeof merge === 'string'
    ? REASONS[merge]
    : overlapsOf(merge.report, (path) => merge.driven.has(path));
}

/** Of several sessions in one worktree those that have changed one of the paths, as far as the ledger knows. */
function concerned(line: Line, paths: readonly { readonly path: string }[]): Line {
  if (line.sessions.length < 2) return line;
  const ledgers = line.work()?.ledgers ?? [];
  const hasOne = ({ record }: JudgedSession) =>
    ledgers.some(
      ({ session, claims }) => session === record.session && paths.some(({ path }) => claims.has(path)),
    );
  const sessions = line.sessions.filter(hasOne);
  return sessions.length === 0 ? line : { ...line, sessions };
}

const pathShape = ({ path, kind, deletedBy }: PathOverlap) => ({
  path,
  kind,
  deletedBy: deletedBy === undefined ? null : deletedBy === 'one' ? (0 as const) : (1 as const),
});

/** A line of work as the answer shows it. */
export function sideOf({
  worktree,
  branch,
  sessions,
}: Pick<Line, 'worktree' | 'branch' | 'sessions'>): OverlapSideShape {
  return {
    worktree: worktree?.path ?? null,
    branch: branch ?? null,
    sessions: sessions.map(namedSession),
  };
}

/** The outcome of a trial merge. */
interface TriedMerge {
  readonly report: MergeReport;
  /** The files that a program of the user would merge. */
  readonly driven: ReadonlySet<string>;
}

/**
 * Lets git merge pairs of commits. The outcomes are in the order of the pairs.
 *
 * @param store for objects that nobody keeps
 */
async function tryMerges(
  cwd: string,
  pairs: readonly Pair[],
  { store, drivers }: { readonly store: ScratchStore; readonly drivers: MergeDrivers },
): Promise<(TriedMerge | Unmerged)[]> {
  if (pairs.length === 0) return [];
  const reports = await mergePairs({ cwd, env: { ...scratchEnvironment(store), ...drivers.env } }, pairs);
  const merged = reports.flatMap((report) => (typeof report === 'string' ? [] : autoMerged(report)));
  const ways = await drivers.waysOf([...new Set(merged)]);
  const driven = new Set([...ways].flatMap(([path, way]) => (way === 'driver' ? [path] : [])));
  return pairs.map((_, at) => {
    const report = reports[at] ?? 'unreadable';
    return typeof report === 'string' ? report : { report, driven };
  });
}

/** Who commits what is never kept. */
const NOBODY = { name: 'git-handoff', email: '', seconds: 0, message: 'uncommitted work\n' };

/**
 * Commits what is uncommitted in each worktree, to a store that is removed afterwards. Without changes, or if they cannot be
 * read: HEAD.
 *
 * @param lines those with a commit
 * @returns the commits, and the looks with the contents that were read
 */
async function commitLines(
  cwd: string,
  lines: readonly Line[],
  store: ScratchStore,
): Promise<{ readonly commits: ReadonlyMap<Line, Oid>; readonly read: ReadonlyMap<Line, TreeStatus> }> {
  const commits = new Map<Line, Oid>();
  const read = new Map<Line, TreeStatus>();
  await Promise.all(
    lines.map(async (line) => {
      if (line.head === undefined) return;
      commits.set(line, line.head);
      if (line.worktree === undefined || line.snapshot === undefined) return;
      read.set(line, await withContents(line.worktree.path, line.snapshot, store));
    }),
  );
  const changed = [...read].flatMap(([line, snapshot]) => {
    const changes = changesOf(snapshot).flatMap(treeChange);
    return line.head === undefined || changes.length === 0 ? [] : [{ line, commit: line.head, changes }];
  });
  if (changed.length === 0) return { commits, read };
  const format = changed[0]?.commit.length === 64 ? 'sha256' : 'sha1';
  const options = { cwd, env: scratchEnvironment(store) };
  const batch = new ObjectBatch(format);
  const trees = await changeTrees(options, format, batch, changed);
  for (const [n, { line, commit }] of changed.entries()) {
    const tree = trees[n];
    if (tree !== undefined) commits.set(line, batch.commit({ ...NOBODY, tree, parents: [commit] }));
  }
  await batch.storeMany(options);
  return { commits, read };
}

/** The same look, with the contents of the changed files read and hashed. */
async function withContents(top: string, snapshot: TreeStatus, scratch: ScratchStore): Promise<TreeStatus> {
  const unread = changesOf(snapshot).filter((one) => isNotRead(one) && one.disk?.mode.startsWith('100'));
  const oids = await hashFiles(
    top,
    unread.map(({ path }) => path),
    { scratch },
  ).catch(() => new Map<string, Oid>());
  const dirty = new Map(snapshot.dirty);
  for (const [key, one] of dirty) {
    const oid = isNotRead(one) ? oids.get(one.path) : undefined;
    if (oid !== undefined && one.disk !== null) dirty.set(key, { ...one, disk: { ...one.disk, oid } });
  }
  return { ...snapshot, dirty };
}

function treeChange(dirty: DirtyPath): TreeChange[] {
  const { disk } = dirty;
  const path = bytesOf(dirty);
  if (disk === null) return [{ path, state: null }];
  return disk.oid === null ? [] : [{ path, state: { mode: disk.mode, oid: disk.oid } }];
}
