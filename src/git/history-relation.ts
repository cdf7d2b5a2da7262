import type { Oid } from '../domain/names.ts';
import type { HeadRelation } from '../domain/verification/facts.ts';
import type { Limits } from './branches.ts';
import { runGit } from './run.ts';

/** Beyond this many commits of the note's own line none are looked for under other names. */
const MAX_SOUGHT = 50;
/** Beyond this many others they are not looked for either: each would have to be compared. */
const MAX_AMONG = 2000;

/** How a branch's tip follows from a commit. One process; two more where neither holds the other. */
export async function relate(cwd: string, tip: Oid, base: Oid, limits: Limits): Promise<HeadRelation> {
  if (tip === base) return { kind: 'equal' };
  const counts = await numbers(
    ['rev-list', '--left-right', '--count', `${tip}...${base}`, '--'],
    cwd,
    limits,
  );
  if (counts === undefined) return { kind: (await isShallow(cwd, limits)) ? 'base-shallow' : 'base-missing' };
  const [ours = 0, theirs = 0] = counts;
  if (theirs === 0) return { kind: 'ahead', by: ours };
  if (ours === 0) return { kind: 'behind', by: theirs };
  const [found, trees, shallow] = await Promise.all([
    foundAgain(cwd, tip, base, { ours, theirs }, limits),
    lines(['rev-parse', `${tip}^{tree}`, `${base}^{tree}`], cwd, limits),
    isShallow(cwd, limits),
  ]);
  // Where the history is cut off one may hold the other all the same.
  if (shallow) return { kind: 'base-shallow' };
  return { kind: 'diverged', ours, theirs, found, sameTree: trees[0] !== undefined && trees[0] === trees[1] };
}

/** Whether a branch holds a commit; `undefined`: it cannot be told. */
export async function holds(
  cwd: string,
  refs: readonly string[],
  commit: Oid,
  { timeoutMs }: Limits,
): Promise<boolean | undefined> {
  const args = ['rev-list', '--count', '--max-count=1', commit, ...refs.map((ref) => `^${ref}`), '--'];
  const result = await runGit(args, { cwd, timeoutMs });
  return result.code === 0 ? result.stdout.toString('utf8').trim() === '0' : undefined;
}

/**
 * How many of the commits that only `base` has are among those that only `tip` has, by their patch-ids
 * (git-patch-id(1)): git's own comparison for cherry-picks and rebases, which runs no diff program.
 */
async function foundAgain(
  cwd: string,
  tip: Oid,
  base: Oid,
  { ours, theirs }: { ours: number; theirs: number },
  limits: Limits,
): Promise<number | undefined> {
  if (theirs > MAX_SOUGHT || ours > MAX_AMONG) return undefined;
  const flags = ['--right-only', '--cherry-mark', '--no-merges', '--count'];
  // Out of time: not looked for.
  const counts = await numbers(['rev-list', ...flags, `${tip}...${base}`, '--'], cwd, limits).catch(
    () => undefined,
  );
  const [missing, found] = counts ?? [];
  // A merge has no change of its own: what it brought is looked for commit by commit.
  return missing === 0 ? theirs : found;
}

async function isShallow(cwd: string, limits: Limits): Promise<boolean> {
  return (await lines(['rev-parse', '--is-shallow-repository'], cwd, limits))[0] === 'true';
}

async function numbers(args: readonly string[], cwd: string, limits: Limits) {
  const [line] = await lines(args, cwd, limits);
  return line?.split('\t').map(Number);
}

async function lines(args: readonly string[], cwd: string, { timeoutMs }: Limits): Promise<string[]> {
  const result = await runGit(args, { cwd, timeoutMs });
  return result.code === 0 ? result.stdout.toString('utf8').trim().split('\n') : [];
}
