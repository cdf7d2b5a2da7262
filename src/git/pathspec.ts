import { Failure } from '../domain/failure.ts';
import { escapeLine } from '../domain/surfacing.ts';
import { pathspecModes } from './environment.ts';
import { entriesOf } from './output.ts';
import { runGit } from './run.ts';

/**
 * The dirty paths that pathspecs (gitglossary(7)) match, relative to the top of the working tree.
 *
 * @param cwd what the pathspecs are relative to
 * @throws Failure `usage` when git refuses a pathspec
 */
export async function matchingPaths(cwd: string, pathspecs: readonly string[]): Promise<Set<string>> {
  const flags = ['--porcelain', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=dirty'];
  const result = await runGit(['status', ...flags, '--', ...pathspecs], {
    cwd,
    env: pathspecModes(process.env),
  });
  if (result.code !== 0) {
    const [line = ''] = result.stderr.trim().split('\n');
    throw new Failure('usage', escapeLine(line.replace(/^fatal: /, '')), { hint: 'git handoff status' });
  }
  return new Set(entriesOf(result).map((line) => line.slice('XY '.length)));
}
