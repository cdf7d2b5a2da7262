import type { FileState } from '../domain/ledger/file-state.ts';
import type { DirtyPath } from '../domain/ledger/tree-status.ts';
import { type MergeOutcome, type Progress, type Standing, outcomeOf, progressOf } from '../domain/meeting.ts';
import type { Oid } from '../domain/names.ts';
import { pathsBetween } from '../git/commits.ts';
import { mergeBase } from '../git/histories.ts';
import { listTree } from '../git/list-tree.ts';
import { type MergeWay, mergeWays, TextMerger } from '../git/merge-file.ts';
import { type ScratchStore, readContents } from '../git/scratch-store.ts';

/** One of two that are compared: a working tree as it was looked at, or a branch as it is committed. */
export interface Side {
  /** `null`: no commit yet. */
  readonly head: Oid | null;
  /** What is not committed. */
  readonly dirty: ReadonlyMap<string, DirtyPath>;
}

/** What a path that both sides have changed comes to; `progress` is the other one's. */
export interface PathMeeting {
  readonly path: string;
  /** `undefined`: it is not changed there, or is again what the histories had in common. */
  readonly progress: Progress | undefined;
  /** `undefined`: both have the same, or one has changed nothing. */
  readonly outcome: MergeOutcome | undefined;
  /** Which side has no such file: it was deleted there, or moved. */
  readonly goneFrom: 'mine' | 'theirs' | undefined;
}

/** What a comparison may cost, and where contents are. */
interface Comparing {
  readonly scratch: ScratchStore;
  readonly timeoutMs: number;
}

/**
 * Compares two sides path by path, and tries the merge of each file that both have changed. No program of the user's is
 * started: what one would merge is not judged.
 *
 * @param cwd a folder of the repository, whose attributes say how files are merged
 * @param paths those to compare; `undefined`: all that both have changed
 * @returns `unrelated`: the two have no history in common
 */
export async function meetingsBetween(
  cwd: string,
  [mine, theirs]: readonly [mine: Side, theirs: Side],
  paths: readonly string[] | undefined,
  options: Comparing,
): Promise<PathMeeting[] | 'unrelated'> {
  const base = await baseOf(cwd, mine.head, theirs.head, options);
  if (base === undefined && paths === undefined) return 'unrelated';
  const asked = paths ?? (await changedInBoth(cwd, base, mine, theirs));
  const [was, here, there] = await Promise.all([
    statesAt(cwd, base, asked, options),
    standings(cwd, mine, asked, options),
    standings(cwd, theirs, asked, options),
  ]);
  const tries = asked.map((path) => {
    const [one, other] = [here(path), there(path)];
    const state = was.get(path) ?? null;
    const outcome = outcomeOf(state, one.disk, other.disk);
    return {
      path,
      progress: progressOf(state, other),
      outcome: base === undefined && outcome !== undefined ? 'unjudged' : outcome,
      states: [one.disk, state, other.disk] as const,
    };
  });
  const read = tries.flatMap((one) => (one.outcome === 'contents' ? [one] : []));
  const outcomes = await tryMerges(cwd, read, options.scratch);
  return tries.map(({ path, progress, outcome, states: [one, , other] }) => ({
    path,
    progress,
    outcome: outcome === 'contents' ? (outcomes.get(path) ?? 'unjudged') : outcome,
    goneFrom: one === null ? 'mine' : other === null ? 'theirs' : undefined,
  }));
}

/** Where the histories part; `undefined`: nowhere, or one has none yet. */
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

/** How paths stand on one side. */
async function standings(
  cwd: string,
  { head, dirty }: Side,
  paths: readonly string[],
  options: Comparing,
): Promise<(path: string) => Standing> {
  const clean = paths.filter((path) => !dirty.has(path));
  const committed = await statesAt(cwd, head, clean, options);
  return (path) => {
    const changed = dirty.get(path);
    if (changed !== undefined) return { head: changed.head, disk: changed.disk };
    const state = committed.get(path) ?? null;
    return { head: state, disk: state };
  };
}

async function statesAt(
  cwd: string,
  commit: Oid | null | undefined,
  paths: readonly string[],
  { timeoutMs }: Comparing,
): Promise<ReadonlyMap<string, FileState>> {
  if (commit === null || commit === undefined || paths.length === 0) return new Map();
  const files = await listTree(cwd, commit, paths, { timeoutMs });
  return new Map(files.map(({ path, mode, oid }) => [path, { mode, oid }]));
}

interface FileOfThree {
  readonly path: string;
  readonly states: readonly [mine: FileState, base: FileState, theirs: FileState];
}

async function tryMerges(
  cwd: string,
  files: readonly FileOfThree[],
  scratch: ScratchStore,
): Promise<Map<string, MergeOutcome>> {
  const outcomes = new Map<string, MergeOutcome>();
  if (files.length === 0) return outcomes;
  const ways = await mergeWays(
    cwd,
    files.map(({ path }) => path),
  );
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
