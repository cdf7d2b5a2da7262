import { autoMerged } from '../../../domain/overlap.ts';
import type { MergeDrivers } from '../../../git/merge-drivers.ts';
import { type Pair, type Unmerged, mergePairs } from '../../../git/merge-trees.ts';
import { type ScratchStore, scratchEnvironment } from '../../../git/scratch-store.ts';
import type { Remembered, TriedMerge } from './remembered.ts';

const keyOf = (pair: Pair) => pair.join(' ');

/** The outcome of each pair, in order, and what to remember of it. */
interface Tried {
  readonly outcomes: readonly (TriedMerge | Unmerged)[];
  readonly merges: ReadonlyMap<string, TriedMerge>;
}

/**
 * Lets git merge pairs of commits, except those whose outcome is remembered. How git would merge each file is asked again: it
 * depends on the worktree in which git runs.
 *
 * @param known merges that are remembered
 * @param store for objects that nobody keeps
 */
export async function tryMerges(
  cwd: string,
  pairs: readonly Pair[],
  known: Remembered['merges'],
  { store, drivers }: { readonly store: ScratchStore; readonly drivers: MergeDrivers },
): Promise<Tried> {
  const recalled = new Map(
    pairs.flatMap((pair) => {
      const merge = known.get(keyOf(pair));
      return merge === undefined ? [] : [[keyOf(pair), merge] as const];
    }),
  );
  const now = await drivers.waysOf([
    ...new Set([...recalled.values()].flatMap(({ ways }) => Object.keys(ways))),
  ]);
  for (const [key, { ways }] of recalled)
    if (Object.entries(ways).some(([path, way]) => now.get(path) !== way)) recalled.delete(key);
  const missing = pairs.filter((pair) => !recalled.has(keyOf(pair)));
  const reports =
    missing.length === 0
      ? []
      : await mergePairs({ cwd, env: { ...scratchEnvironment(store), ...drivers.env } }, missing);
  const merged = reports.flatMap((report) => (typeof report === 'string' ? [] : autoMerged(report)));
  const ways = await drivers.waysOf([...new Set(merged)]);
  const made = new Map<string, TriedMerge | Unmerged>();
  for (const [n, pair] of missing.entries()) {
    const report = reports[n] ?? 'unreadable';
    const paths = typeof report === 'string' ? [] : autoMerged(report);
    const used = Object.fromEntries(paths.map((path) => [path, ways.get(path) ?? 'text']));
    made.set(keyOf(pair), report === 'unreadable' ? report : { report, ways: used });
  }
  const outcomes = pairs.map((pair) => recalled.get(keyOf(pair)) ?? made.get(keyOf(pair)) ?? 'unreadable');
  const older = [...known].filter(([key]) => !made.has(key));
  const worth = [...made, ...recalled, ...older].flatMap(([key, merge]) =>
    typeof merge === 'string' ? [] : [[key, merge] as const],
  );
  return { outcomes, merges: new Map(worth) };
}
