import { type DefaultBranch, chooseDefault } from '../domain/branch-history.ts';
import type { Oid } from '../domain/names.ts';
import type { SettingEntry } from '../domain/settings.ts';
import type { Branches } from './branches.ts';
import { commitNamed } from './commits.ts';

const HEADS = 'refs/heads/';

/** What a branch will be merged into: its target. */
interface TargetBranch {
  readonly ref: string;
  /** As users type it: `main`, `origin/main`. */
  readonly name: string;
  readonly commit: Oid;
}

/** The settings that choose a target, as keys for `readSettingEntries`. */
export const TARGET_KEYS = 'branch\\..*\\.gh-merge-base|init\\.defaultbranch';

/**
 * The target of each branch, if it exists here; branches with the same target share one object.
 *
 * @param branches listed with their upstreams
 * @param settings with those of `TARGET_KEYS`
 */
export async function findTargets(
  cwd: string,
  names: readonly string[],
  { heads, origin }: Branches,
  settings: readonly SettingEntry[],
): Promise<ReadonlyMap<string, TargetBranch>> {
  const configured = settings.findLast(([key]) => key === 'init.defaultbranch')?.[1];
  const fallback = chooseDefault({ origin, configured, has: (name) => heads.has(name) });
  const refs = targetRefs(names, heads, settings, fallback);
  const targets = new Map<string, TargetBranch>();
  for (const ref of new Set(refs.values())) {
    const name = ref.replace(/^refs\/(?:heads|remotes)\//, '');
    const known = ref.startsWith(HEADS) ? heads.get(name)?.oid : undefined;
    const commit = known ?? (await commitNamed(cwd, ref));
    if (commit !== undefined) targets.set(ref, { ref, name, commit });
  }
  return new Map(
    [...refs].flatMap(([branch, ref]) => {
      const target = targets.get(ref);
      return target === undefined ? [] : [[branch, target] as const];
    }),
  );
}

/**
 * The ref that each branch will be merged into: `branch.<name>.gh-merge-base`, which GitHub's command line sets, else its
 * upstream where that has another name, else the default branch. A branch is never its own target.
 */
function targetRefs(
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
