import type { Oid } from '../domain/names.ts';
import type { HeadRelation } from '../domain/verification/facts.ts';
import type { Limits } from './branches.ts';
import { runGit } from './run.ts';

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
  const [trees, shallow] = await Promise.all([
    lines(['rev-parse', `${tip}^{tree}`, `${base}^{tree}`], cwd, limits),
    isShallow(cwd, limits),
  ]);
  // Where the history is cut off one may hold the other all the same.
  if (shallow) return { kind: 'base-shallow' };
  return { kind: 'diverged', ours, theirs, sameTree: trees[0] !== undefined && trees[0] === trees[1] };
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
