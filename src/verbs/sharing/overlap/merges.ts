import { type MergeReport, autoMerged } from '../../../domain/overlap.ts';
import type { MergeDrivers } from '../../../git/merge-drivers.ts';
import { type Pair, type Unmerged, mergePairs } from '../../../git/merge-trees.ts';
import { type ScratchStore, scratchEnvironment } from '../../../git/scratch-store.ts';

/** The outcome of a trial merge. */
export interface TriedMerge {
  readonly report: MergeReport;
  /** The files that a program of the user would merge. */
  readonly driven: ReadonlySet<string>;
}

/**
 * Lets git merge pairs of commits. The outcomes are in the order of the pairs.
 *
 * @param store for objects that nobody keeps
 */
export async function tryMerges(
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
