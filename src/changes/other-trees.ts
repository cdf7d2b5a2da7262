import type { FileState } from '../domain/ledger/file-state.ts';
import type { HeadPlace } from '../domain/ledger/tree-status.ts';
import { type MergeOutcome, type Progress, type Standing, outcomeOf, progressOf } from '../domain/meeting.ts';
import type { SessionId, Oid } from '../domain/names.ts';
import { mergeBase } from '../git/histories.ts';
import { linkedWorktrees } from '../git/linked-worktrees.ts';
import { listTree } from '../git/list-tree.ts';
import { type MergeWay, readMergeDrivers } from '../git/merge-drivers.ts';
import { TextMerger } from '../git/merge-file.ts';
import { scratchStore, type ScratchStore, readContents } from '../git/scratch-store.ts';
import { readTreeStatus } from '../git/work-tree.ts';
import { realPath } from '../host/disk.ts';
import { knownWorktreeId } from '../host/folders.ts';
import { type JudgedSession, sidesOf } from '../sessions/records.ts';
import type { WorkTree } from './dirty-work.ts';
import { type LedgerPlace, readLedgers } from './ledger.ts';
import { isTouchedKept, readTouched } from './touched.ts';

/** Another worktree in which sessions are at work, and what the paths that both have changed come to. */
export interface OtherTree {
  readonly id: string;
  readonly top: string;
  readonly head: HeadPlace;
  readonly meetings: readonly OtherMeeting[];
}

interface OtherMeeting extends PathMeeting {
  /** Who has changed it there; neither the asking session nor its parents or children. */
  readonly sessions: readonly JudgedSession[];
}

/**
 * Which changes of a worktree meet those of others in which somebody is at work: as the guard has noted them, and looked
 * at now.
 *
 * @param paths from the top, to be asked about
 * @param options `asking`: `undefined` for a person; `timeoutMs` for each look; `now` in milliseconds since the epoch
 */
export async function otherTrees(
  tree: WorkTree,
  paths: readonly string[],
  judged: readonly JudgedSession[],
  options: { readonly asking: SessionId | undefined; readonly timeoutMs: number; readonly now: number },
): Promise<OtherTree[]> {
  const { commonDir, top } = tree;
  const here = knownWorktreeId(tree.gitDir);
  if (here === undefined || !isTouchedKept(commonDir)) return [];
  const noted = paths.map((path) => ({ path, ids: readTouched(commonDir, path) }));
  const { own } = sidesOf(options.asking, judged);
  const looking = { ...options, scratch: scratchStore(commonDir) };
  const trees = linkedWorktrees(commonDir).map(async ({ path, gitDir }): Promise<OtherTree[]> => {
    const id = knownWorktreeId(gitDir);
    if (id === undefined || id === here) return [];
    const live = judged.filter((one) => one.worktreeId === id && one.liveness === 'live');
    const shared = noted.flatMap((one) => (one.ids.includes(id) ? [one.path] : []));
    if (live.length === 0 || shared.length === 0) return [];
    const found = await meetingsOf(top, path, shared, looking);
    const changers = changersIn({ commonDir, worktreeId: id }, live);
    const meetings = found.meetings.map((one) => ({
      ...one,
      sessions: changers(one.path).filter(({ record }) => !own.has(record.session)),
    }));
    return [{ id, top: realPath(path), head: found.head, meetings }];
  });
  return (await Promise.all(trees)).flat();
}

/** Of several sessions in a worktree those that have claimed a path; who works alone claims nothing. */
function changersIn(
  place: LedgerPlace,
  live: readonly JudgedSession[],
): (path: string) => readonly JudgedSession[] {
  const ledgers = live.length < 2 ? [] : readLedgers(place);
  return (path) => {
    const claims = ledgers.filter((ledger) => ledger.claims.has(path)).map(({ session }) => session);
    const claiming = live.filter(({ record }) => claims.includes(record.session));
    return claiming.length === 0 ? live : claiming;
  };
}

/** How paths stand in one working tree. */
interface TreeStanding {
  readonly head: HeadPlace;
  /** The state of each path at a commit, as far as it has one. */
  readonly at: (path: string) => Standing;
}

/** What a look may cost, and where contents are kept. */
interface Looking {
  readonly scratch: ScratchStore;
  readonly timeoutMs: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Looks at some paths of a working tree. */
async function standingIn(top: string, paths: readonly string[], options: Looking): Promise<TreeStanding> {
  const { head, dirty } = await readTreeStatus(top, { ...options, paths });
  const isClean = (path: string) => !dirty.has(path);
  const committed = await statesAt(top, head.oid, paths.filter(isClean), options);
  return {
    head,
    at: (path) => {
      const changed = dirty.get(path);
      if (changed !== undefined) return { head: changed.head, disk: changed.disk };
      const state = committed.get(path) ?? null;
      return { head: state, disk: state };
    },
  };
}

async function statesAt(
  cwd: string,
  commit: Oid | null | undefined,
  paths: readonly string[],
  { timeoutMs }: Looking,
): Promise<ReadonlyMap<string, FileState>> {
  if (commit === null || commit === undefined || paths.length === 0) return new Map();
  const files = await listTree(cwd, commit, paths, { timeoutMs });
  return new Map(files.map(({ path, mode, oid }) => [path, { mode, oid }]));
}

/** What a path that two worktrees have changed comes to; `progress` is the other one's. */
interface PathMeeting {
  readonly path: string;
  /** `undefined`: it is not changed there, or is again what the histories had in common. */
  readonly progress: Progress | undefined;
  /** `undefined`: both have the same, or one has changed nothing. */
  readonly outcome: MergeOutcome | undefined;
}

/**
 * Looks at two working trees of a repository, compares them path by path, and tries the merge of each file that both have
 * changed.
 *
 * @returns where HEAD is in the other one, and what each path comes to
 */
async function meetingsOf(
  top: string,
  other: string,
  paths: readonly string[],
  options: Looking,
): Promise<{ readonly head: HeadPlace; readonly meetings: readonly PathMeeting[] }> {
  const look = (folder: string) => standingIn(folder, paths, options);
  const [mine, theirs] = await Promise.all([look(top), look(other)]);
  return { head: theirs.head, meetings: await compare(top, [mine, theirs], paths, options) };
}

async function compare(
  top: string,
  [mine, theirs]: readonly [mine: TreeStanding, theirs: TreeStanding],
  paths: readonly string[],
  options: Looking,
): Promise<PathMeeting[]> {
  const [one, other] = [mine.head.oid, theirs.head.oid];
  const limits = { cwd: top, timeoutMs: options.timeoutMs };
  const base = one === null || other === null ? undefined : await mergeBase(limits, one, other);
  const states = await statesAt(top, base, paths, options);
  const tries = paths.map((path) => {
    const was = states.get(path) ?? null;
    const outcome = outcomeOf(was, mine.at(path).disk, theirs.at(path).disk);
    return {
      path,
      progress: progressOf(was, theirs.at(path)),
      outcome: base === undefined && outcome !== undefined ? 'unjudged' : outcome,
      states: [mine.at(path).disk, was, theirs.at(path).disk] as const,
    };
  });
  const read = tries.flatMap((one) => (one.outcome === 'contents' ? [one] : []));
  const outcomes = await tryMerges(top, read, options.scratch);
  return tries.map(({ path, progress, outcome }) => ({
    path,
    progress,
    outcome: outcome === 'contents' ? (outcomes.get(path) ?? 'unjudged') : outcome,
  }));
}

interface FileOfThree {
  readonly path: string;
  readonly states: readonly [mine: FileState, base: FileState, theirs: FileState];
}

/** No program of the user's is started: what one would merge is not judged. */
async function tryMerges(
  cwd: string,
  files: readonly FileOfThree[],
  scratch: ScratchStore,
): Promise<Map<string, MergeOutcome>> {
  const outcomes = new Map<string, MergeOutcome>();
  if (files.length === 0) return outcomes;
  const drivers = await readMergeDrivers(cwd);
  const ways = await drivers.waysOf(files.map(({ path }) => path));
  const merger = new TextMerger();
  try {
    for (const { path, states } of files) {
      const settled = WITHOUT_TRYING[ways.get(path) ?? 'text'];
      outcomes.set(path, settled ?? (await mergeTexts(cwd, states, scratch, merger)));
    }
  } finally {
    merger.close();
  }
  return outcomes;
}

const WITHOUT_TRYING: Readonly<Record<MergeWay, MergeOutcome | undefined>> = {
  text: undefined,
  binary: 'conflicts',
  union: 'merges',
  driver: 'unjudged',
};

async function mergeTexts(
  cwd: string,
  states: FileOfThree['states'],
  scratch: ScratchStore,
  merger: TextMerger,
): Promise<MergeOutcome> {
  const oids = states.flatMap((state) => state?.oid ?? []);
  const found = await readContents(cwd, scratch, oids);
  const contents = new Map(oids.map((oid, n) => [oid, found[n]]));
  // Both sides added it.
  const [mine, base, theirs] = states.map((state) =>
    state === null ? Buffer.alloc(0) : contents.get(state.oid ?? ('' as Oid)),
  );
  if (mine === undefined || base === undefined || theirs === undefined) return 'unjudged';
  const { kind } = await merger.apply(mine, base, theirs);
  return kind === 'merged' ? 'merges' : 'conflicts';
}
