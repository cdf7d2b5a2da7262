import { type PathOverlap, autoMerged, overlapsOf } from '../../../domain/overlap.ts';
import { readMergeDrivers } from '../../../git/merge-drivers.ts';
import { type Unmerged, mergePairs } from '../../../git/merge-trees.ts';
import { type ScratchStore, scratchEnvironment } from '../../../git/scratch-store.ts';
import type { JudgedSession } from '../../../sessions/records.ts';
import { namedSession } from '../../owner-text.ts';
import type { OverlapShape, OverlapSideShape } from '../../shapes.ts';
import type { Line } from './lines.ts';

export type LinePair = readonly [one: Line, other: Line];

const REASONS: Readonly<Record<Unmerged, string>> = {
  unrelated: 'they have no common history here',
  unreadable: 'objects are missing',
};

const UNBORN = 'there is no commit yet';
const UNLOOKED = 'git cannot look at a worktree';
const isUnlooked = ({ worktree, work }: Line) => worktree !== undefined && work === undefined;

/** Has git merge each pair, and says of each that has something in common what that is. */
export async function compare(
  cwd: string,
  pairs: readonly LinePair[],
  store: ScratchStore,
): Promise<OverlapShape[]> {
  const drivers = await readMergeDrivers(cwd);
  const born = pairs.flatMap((pair) => {
    const [one, other] = pair;
    return one.commit === undefined || other.commit === undefined
      ? []
      : [{ pair, commits: [one.commit, other.commit] as const }];
  });
  const options = { cwd, env: { ...scratchEnvironment(store), ...drivers.env } };
  const reports = await mergePairs(
    options,
    born.map(({ commits }) => commits),
  );
  const merged = reports.flatMap((report) => (typeof report === 'string' ? [] : autoMerged(report)));
  const driven = await drivers.drivenOf([...new Set(merged)]);
  const outcomes = new Map(
    born.map(({ pair }, n) => {
      const report = reports[n] ?? 'unreadable';
      return [
        pair,
        typeof report === 'string' ? REASONS[report] : overlapsOf(report, (path) => driven.has(path)),
      ];
    }),
  );
  return pairs.flatMap((pair): OverlapShape[] => {
    const outcome = outcomes.get(pair) ?? (pair.some(isUnlooked) ? UNLOOKED : UNBORN);
    if (outcome.length === 0) return [];
    const paths = typeof outcome === 'string' ? [] : outcome.map(pathShape);
    const sides = [sideOf(concerned(pair[0], paths)), sideOf(concerned(pair[1], paths))] as const;
    return [{ sides, paths, unknown: typeof outcome === 'string' ? outcome : null }];
  });
}

/** Of several sessions in one worktree those that have changed one of the paths, as far as the ledger knows. */
function concerned(line: Line, paths: readonly { readonly path: string }[]): Line {
  const ledgers = line.work?.ledgers ?? [];
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
