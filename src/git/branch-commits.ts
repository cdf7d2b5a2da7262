import { type Oid, parseOid } from '../domain/names.ts';
import { records } from './output.ts';
import { gitFailure, runGit } from './run.ts';

/** A branch's tip, and the commits of what it will be merged into: its own are those between them. */
export interface OwnRange {
  readonly tip: Oid;
  readonly targets: readonly Oid[];
}

/** The messages of a branch's own commits with their names, without merges, the oldest first. */
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

/** Those of some commits that the targets do not have, and the place where the branch left them. */
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
