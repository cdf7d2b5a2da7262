import { type Oid, parseOid } from '../domain/names.ts';
import { records } from './output.ts';
import { gitFailure, runGit } from './run.ts';

/** A branch's tip and the targets it may be merged into. The branch's own commits lie between them. */
export interface OwnRange {
  readonly tip: Oid;
  readonly targets: readonly Oid[];
}

/** The ids and messages of a branch's own commits, merges left out, oldest first. */
export async function ownMessages(
  cwd: string,
  { tip, targets }: OwnRange,
): Promise<{ readonly oid: string; readonly message: string }[]> {
  const flags = ['-z', '--no-merges', '--reverse', '--topo-order', '--encoding=UTF-8'];
  const format = ['--no-show-signature', '--no-notes', '--format=%H%x00%B'];
  const result = await runGit(['log', ...flags, ...format, tip, '--not', ...targets, '--'], { cwd });
  if (result.code !== 0) throw gitFailure('log', result);
  return records(result.stdout.toString('utf8'), 2).map(([oid = '', message = '']) => ({ oid, message }));
}

/** The given commits that no target has, and the point where the branch left the targets. */
export async function sinceFork(
  cwd: string,
  { tip, targets }: OwnRange,
  commits: readonly Oid[],
): Promise<ReadonlySet<Oid>> {
  if (commits.length === 0) return new Set();
  const input = `${[...commits, ...targets.map((target) => `^${target}`)].join('\n')}\n`;
  const results = await Promise.all([
    runGit(['rev-list', '--ignore-missing', '--stdin'], { cwd, input }),
    runGit(['merge-base', tip, ...targets], { cwd }),
  ]);
  const found = results.flatMap(({ stdout }) => stdout.toString('utf8').split('\n'));
  return new Set(found.flatMap((name) => parseOid(name) ?? []));
}
