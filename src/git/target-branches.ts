import type { DefaultBranch } from '../domain/branch-history.ts';
import type { Oid } from '../domain/names.ts';
import { type Branches, type Limits, findDefaultBranch } from './branches.ts';
import { commitNamed } from './commit-paths.ts';
import { entriesOf, records } from './output.ts';
import { gitFailure, runGit } from './run.ts';

const HEADS = 'refs/heads/';

/** What a branch will be merged into. */
export interface TargetBranch {
  readonly ref: string;
  /** As people type it: `main`, `origin/main`. */
  readonly name: string;
  readonly commit: Oid;
  /** It is the default branch. */
  readonly isDefault: boolean;
}

/** What each branch will be merged into, as far as it is here; branches with one target have the same object. */
export async function findTargets(
  cwd: string,
  names: readonly string[],
  branches: Branches,
  limits: Limits,
): Promise<ReadonlyMap<string, TargetBranch>> {
  const fallback = await findDefaultBranch(cwd, branches, limits);
  const refs = await targetRefs(cwd, names, branches.heads, fallback);
  const targets = new Map<string, TargetBranch>();
  for (const ref of new Set(refs.values())) {
    const commit = await commitNamed(cwd, ref);
    const name = ref.replace(/^refs\/(?:heads|remotes)\//, '');
    const isDefault = fallback?.refs.includes(ref) === true;
    if (commit !== undefined) targets.set(ref, { ref, name, commit, isDefault });
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
 * upstream where that has another name, else the default branch. Its own name is left out.
 */
async function targetRefs(
  cwd: string,
  branches: readonly string[],
  heads: Branches['heads'],
  fallback: DefaultBranch | undefined,
): Promise<ReadonlyMap<string, string>> {
  if (branches.length === 0) return new Map();
  const [chosen, upstreams] = await Promise.all([chosenBases(cwd), upstreamsOf(cwd, branches)]);
  const refOf = (branch: string): string | undefined => {
    const base = chosen.get(branch);
    if (base !== undefined) return heads.has(base) ? HEADS + base : `refs/remotes/origin/${base}`;
    const upstream = upstreams.get(branch);
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

async function chosenBases(cwd: string): Promise<Map<string, string>> {
  const result = await runGit(['config', '-z', '--get-regexp', '^branch\\..*\\.gh-merge-base$'], { cwd });
  if (result.code > 1) throw gitFailure('config', result);
  return new Map(
    entriesOf(result).flatMap((entry) => {
      const [, branch, base] = /^branch\.([^\n]*)\.gh-merge-base\n([^]*)$/.exec(entry) ?? [];
      return branch === undefined || base === undefined ? [] : [[branch, base] as const];
    }),
  );
}

/** What each branch follows: its name where it is, and in this repository. */
async function upstreamsOf(
  cwd: string,
  branches: readonly string[],
): Promise<Map<string, { readonly there: string; readonly here: string }>> {
  const refs = branches.map((branch) => HEADS + branch);
  const format = '--format=%(refname)%00%(upstream:remoteref)%00%(upstream)%00';
  const result = await runGit(['for-each-ref', format, '--', ...refs], { cwd });
  if (result.code !== 0) throw gitFailure('for-each-ref', result);
  return new Map(
    records(result.stdout.toString('utf8'), 3).flatMap(([name = '', there = '', here = '']) =>
      here === '' ? [] : [[name.replace(/^\n/, '').slice(HEADS.length), { there, here }] as const],
    ),
  );
}
