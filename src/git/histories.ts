import { type Oid, parseOid } from '../domain/names.ts';
import { isDamage } from './objects.ts';
import { type GitOptions, gitFailure, runGit } from './run.ts';

/** Every commit that was walked, with its parents. */
export type Parents = ReadonlyMap<Oid, readonly Oid[]>;

/** Commits walked at most: no handoff has so many versions, and a ref may have been pointed at a project's history. */
const MAX_COMMITS = 200_000;

/**
 * Walks the histories of `tips`, less those of `without`, in one process.
 *
 * @returns `undefined` when a history has a hole (a missing or damaged commit)
 * @throws Failure when git fails for any other reason
 */
export async function walkHistories(
  options: GitOptions,
  tips: readonly Oid[],
  without: readonly Oid[] = [],
): Promise<Parents | undefined> {
  const args = ['rev-list', '--parents', `--max-count=${MAX_COMMITS}`, '--stdin'];
  const input = [...tips, ...without.map((oid) => `^${oid}`), ''].join('\n');
  const result = await runGit(args, { ...options, input });
  if (result.code !== 0 && isDamage(result.stderr)) return undefined;
  if (result.code !== 0) throw gitFailure('rev-list', result);
  const parents = new Map<Oid, Oid[]>();
  for (const line of result.stdout.toString('latin1').split('\n')) {
    const [commit, ...rest] = line.split(' ').flatMap((name) => parseOid(name) ?? []);
    if (commit !== undefined) parents.set(commit, rest);
  }
  return parents;
}

/** The commits of a walk that are in the history of `tip`, itself included. */
export function historyOf(walked: Parents, tip: Oid): ReadonlySet<Oid> {
  const seen = new Set<Oid>();
  const todo = [tip];
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    const parents = walked.get(at);
    if (parents === undefined || seen.has(at)) continue;
    seen.add(at);
    todo.push(...parents);
  }
  return seen;
}

/** The best common ancestor of two commits; `undefined` when they have none. */
export async function mergeBase(options: GitOptions, one: Oid, other: Oid): Promise<Oid | undefined> {
  const result = await runGit(['merge-base', '--end-of-options', one, other], options);
  return result.code === 0 ? parseOid(result.stdout.toString('utf8').trim()) : undefined;
}
