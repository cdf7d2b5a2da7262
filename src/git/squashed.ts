import type { Oid } from '../domain/names.ts';
import type { Limits } from './branches.ts';
import { gitFailure, runGit } from './run.ts';

/** How many commits of the default branch are compared. */
const MAX_COMMITS = 50;
/** Everything that could make the text of a diff another one, or run a program for it, is settled. */
const PATCH = [
  '--patch',
  '--no-ext-diff',
  '--no-textconv',
  '--no-renames',
  '--full-index',
  '--binary',
  '--unified=3',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--diff-algorithm=myers',
  '--ignore-submodules=none',
];

/**
 * Whether one commit of the default branch brought all that `tip` has changed since it left it: a squash merge. Told
 * by the patch-id (git-patch-id(1)) of the whole change, so not where the same lines were changed meanwhile.
 */
export async function isSquashed(
  cwd: string,
  refs: readonly string[],
  tip: Oid,
  { timeoutMs }: Limits,
): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  const options = () => ({ cwd, timeoutMs: Math.max(1, Math.ceil(end - performance.now())) });
  const [ref = ''] = refs;
  const log = ['log', `--max-count=${MAX_COMMITS}`, '--no-merges', '--format=commit %H', '--no-notes'];
  try {
    const [whole, theirs] = await Promise.all([
      runGit(['diff-tree', ...PATCH, '--merge-base', ref, tip, '--'], options()),
      runGit([...log, ...PATCH, ...refs, `^${tip}`, '--'], options()),
    ]);
    if (whole.code !== 0 || theirs.code !== 0 || whole.stdout.length === 0) return false;
    const input = Buffer.concat([
      Buffer.from(`commit ${tip}\n\n`),
      whole.stdout,
      Buffer.from('\n'),
      theirs.stdout,
    ]);
    const ids = await runGit(['patch-id', '--stable'], { ...options(), input });
    if (ids.code !== 0) throw gitFailure('patch-id', ids);
    const lines = ids.stdout.toString('utf8').trim().split('\n');
    const [own, ...others] = lines.map((line) => line.split(' ')[0]);
    return own !== undefined && others.includes(own);
  } catch {
    // Out of time, or unrelated histories.
    return false;
  }
}
