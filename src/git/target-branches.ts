import type { DefaultBranch } from '../domain/branch-history.ts';
import type { SettingEntry } from '../domain/settings.ts';
import type { Branches } from './branches.ts';

const HEADS = 'refs/heads/';

/**
 * The ref that each branch will be merged into: `branch.<name>.gh-merge-base`, which GitHub's command line sets, else its
 * upstream where that has another name, else the default branch. Its own name is left out.
 *
 * @param heads listed with their upstreams
 * @param settings with those of branches
 */
export function targetRefs(
  branches: readonly string[],
  heads: Branches['heads'],
  settings: readonly SettingEntry[],
  fallback: DefaultBranch | undefined,
): ReadonlyMap<string, string> {
  const chosen = new Map(
    settings.flatMap(([key, base]) => {
      const branch = /^branch\.([^]*)\.gh-merge-base$/.exec(key)?.[1];
      return branch === undefined || base === undefined ? [] : [[branch, base] as const];
    }),
  );
  const refOf = (branch: string): string | undefined => {
    const base = chosen.get(branch);
    if (base !== undefined) return heads.has(base) ? HEADS + base : `refs/remotes/origin/${base}`;
    const upstream = heads.get(branch)?.upstream;
    if (upstream !== undefined && upstream.there !== HEADS + branch) return upstream.here;
    return fallback?.name === branch ? undefined : fallback?.refs[0];
  };
  return new Map(
    branches.flatMap((branch) => {
      const ref = refOf(branch);
      return ref === undefined || ref === HEADS + branch ? [] : [[branch, ref] as const];
    }),
  );
}
