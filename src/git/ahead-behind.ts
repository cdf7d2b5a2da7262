import { type Oid, parseOid } from '../domain/names.ts';
import type { Apart } from '../domain/tracking/relation.ts';
import type { Limits } from './branches.ts';
import { isDamage } from './objects.ts';
import { runGit } from './run.ts';

/** Two tips of one handoff. */
export interface TipPair {
  readonly local: Oid;
  readonly remote: Oid;
}

/** Commits that are read at most; with more than these nothing is said. */
const MAX_COMMITS = 500_000;

/**
 * Counts for each pair the commits that only one side reaches. One process for all of them (a few more when an
 * object is missing); `undefined` where it cannot be told.
 *
 * @param limits for all of it; when the time is over, what is not counted yet is `undefined`
 */
export async function countApart(
  cwd: string,
  pairs: readonly TipPair[],
  limits: Limits,
): Promise<(Apart | undefined)[]> {
  const end = performance.now() + limits.timeoutMs;
  const left = () => Math.ceil(end - performance.now());
  const counted = async (some: readonly TipPair[]): Promise<(Apart | undefined)[]> => {
    const parents = await readParents(cwd, some, Math.max(left(), 1));
    if (parents !== 'damaged') return some.map((pair) => apart(pair, parents));
    if (some.length === 1 || left() <= 0) return some.map(() => undefined);
    // One missing object fails the whole walk: each half is walked by itself.
    const half = Math.ceil(some.length / 2);
    return [...(await counted(some.slice(0, half))), ...(await counted(some.slice(half)))];
  };
  return pairs.length === 0 ? [] : counted(pairs);
}

/** Parents by commit, of all that the pairs reach. */
type Parents = ReadonlyMap<string, readonly string[]>;

async function readParents(
  cwd: string,
  pairs: readonly TipPair[],
  timeoutMs: number,
): Promise<Parents | 'damaged'> {
  const tips = [...new Set(pairs.flatMap(({ local, remote }) => [local, remote]))];
  const args = ['rev-list', '--parents', '--ignore-missing', `--max-count=${MAX_COMMITS}`, '--stdin'];
  const result = await runGit(args, { cwd, timeoutMs, input: `${tips.join('\n')}\n` }).catch(() => undefined);
  if (result === undefined) return new Map();
  if (result.code !== 0) return isDamage(result.stderr) ? 'damaged' : new Map();
  const parents = new Map<string, readonly string[]>();
  for (const line of result.stdout.toString('latin1').split('\n')) {
    const [commit = '', ...rest] = line.split(' ');
    if (parseOid(commit) !== undefined) parents.set(commit, rest);
  }
  return parents;
}

function apart({ local, remote }: TipPair, parents: Parents): Apart | undefined {
  const [ours, theirs] = [reach(local, parents), reach(remote, parents)];
  if (ours === undefined || theirs === undefined) return undefined;
  return { ahead: without(ours, theirs), behind: without(theirs, ours) };
}

/** All that a tip reaches; `undefined` where a commit was not read. */
function reach(tip: Oid, parents: Parents): ReadonlySet<string> | undefined {
  const seen = new Set<string>([tip]);
  for (const commit of seen) {
    const before = parents.get(commit);
    if (before === undefined) return undefined;
    for (const parent of before) seen.add(parent);
  }
  return seen;
}

function without(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let count = 0;
  for (const one of some) if (!others.has(one)) count++;
  return count;
}
