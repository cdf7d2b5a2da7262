import { type Oid, parseOid } from '../domain/names.ts';
import { counted } from '../domain/messages.ts';
import type { HeadRelation } from '../domain/verification/findings.ts';
import { isDamage } from './objects.ts';
import { type GitOptions, runGit, requireGit, askGit, askForOid, gitFailure, oidsIn } from './run.ts';

/** Every commit that was walked, with its parents. */
export type Parents = ReadonlyMap<Oid, readonly Oid[]>;

/** The most commits that one walk visits: no handoff has so many versions, but a ref may point at a project's history. */
const MAX_COMMITS = 200_000;

/** Why a history could not be walked: a commit is missing or damaged, or there are too many. */
type Unwalked = 'hole' | 'too long';

/**
 * Walks the histories of `tips` in one process; a `^` before a name excludes that commit's history.
 *
 * @throws Failure when git fails for a reason that is not in `Unwalked`
 */
export async function walkHistories(
  options: GitOptions,
  tips: readonly string[],
): Promise<Parents | Unwalked> {
  const args = ['rev-list', '--parents', `--max-count=${MAX_COMMITS}`, '--stdin'];
  const result = await runGit(args, { ...options, input: tips });
  if (result.code !== 0 && isDamage(result.stderr)) return 'hole';
  if (result.code !== 0) throw gitFailure('rev-list', result);
  const parents = new Map<Oid, Oid[]>();
  for (const line of result.stdout.toString('latin1').split('\n')) {
    const [commit, ...rest] = line.split(' ').flatMap((name) => parseOid(name) ?? []);
    if (commit !== undefined) parents.set(commit, rest);
  }
  return parents.size < MAX_COMMITS ? parents : 'too long';
}

/** Walks the histories of many items at once. If that fails, walks each half by itself, so that only the item at fault fails. */
export async function walkEach<Item>(
  options: GitOptions,
  items: readonly Item[],
  tipsOf: (item: Item) => readonly string[],
): Promise<Map<Item, Parents | Unwalked>> {
  if (items.length === 0) return new Map();
  const walked = await walkHistories(options, items.flatMap(tipsOf));
  if (items.length === 1 || typeof walked !== 'string')
    return new Map(items.map((item) => [item, walked] as const));
  const half = Math.ceil(items.length / 2);
  const first = await walkEach(options, items.slice(0, half), tipsOf);
  return new Map([...first, ...(await walkEach(options, items.slice(half), tipsOf))]);
}

/** The commits of a walk that are in the history of `tip`, among them `tip`. */
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

/**
 * The commits in the histories of `names`, as git-rev-list(1) lists them; `^` before a name excludes its history. With
 * `--objects`, also their trees and files.
 *
 * @throws Failure when an object on the way cannot be read
 */
export async function listHistories(
  options: GitOptions,
  flags: readonly string[],
  names: readonly string[],
): Promise<Oid[]> {
  return oidsIn(await requireGit(['rev-list', ...flags, '--stdin'], { ...options, input: names }));
}

/** The best common ancestor of two commits; `undefined` when they have none. */
export const mergeBase = (options: GitOptions, one: string, other: string): Promise<Oid | undefined> =>
  askForOid(['merge-base', '--end-of-options', one, other], options);

/** How a branch's tip relates to a commit. Runs one process, and two more when neither commit contains the other. */
export async function relate(options: GitOptions, tip: Oid, base: Oid): Promise<HeadRelation> {
  if (tip === base) return { code: 'head-equal' };
  const both = `${tip}...${base}`;
  const counts = await askGit(['rev-list', '--left-right', '--count', both, '--'], options);
  if (counts === undefined) return { code: (await isShallow(options)) ? 'base-shallow' : 'base-missing' };
  const [ours = 0, theirs = 0] = counts.split('\t').map(Number);
  if (theirs === 0) return { code: 'head-ahead', commits: counted(ours, 'commit') };
  const commits = counted(theirs, 'commit');
  if (ours === 0) return { code: 'head-behind', commits };
  const [trees, shallow] = await Promise.all([
    askGit(['rev-parse', `${tip}^{tree}`, `${base}^{tree}`], options),
    isShallow(options),
  ]);
  // In a shallow clone, one commit may contain the other beyond the cut.
  if (shallow) return { code: 'base-shallow' };
  const [ourTree, theirTree] = trees?.split('\n') ?? [];
  const isSameTree = ourTree !== undefined && ourTree === theirTree;
  return isSameTree ? { code: 'head-reworded' } : { code: 'head-diverged', commits, more: `${ours}` };
}

/** Whether this is a shallow clone. */
export async function isShallow(options: GitOptions): Promise<boolean> {
  return (await askGit(['rev-parse', '--is-shallow-repository'], options)) === 'true';
}

/** Whether a commit is in another's history. */
export async function isAncestor(options: GitOptions, ancestor: Oid, commit: Oid): Promise<boolean> {
  return (await runGit(['merge-base', '--is-ancestor', ancestor, commit], options)).code === 0;
}
