import type { Snapshot } from '../../../domain/ledger/snapshot.ts';
import { type PathOverlap, mayMeet, overlapsOf } from '../../../domain/overlap.ts';
import type { MergeDrivers } from '../../../git/merge-drivers.ts';
import type { Unmerged } from '../../../git/merge-trees.ts';
import type { ScratchStore } from '../../../git/scratch-store.ts';
import type { JudgedSession } from '../../../sessions/records.ts';
import { namedSession } from '../../owner-text.ts';
import type { OverlapShape, OverlapSideShape } from '../../shapes.ts';
import type { Line } from './lines.ts';
import { commitLines } from './commits.ts';
import { type TriedMerge, tryMerges } from './merges.ts';

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
  readonly read: ReadonlyMap<Line, Snapshot>;
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
