import type { Oid } from '../domain/names.ts';
import { gitFailure, runGit } from './run.ts';

/**
 * A stored content as a checkout would write it to a path: line ends and filters as the repository says. This runs a
 * smudge filter that the repository names.
 *
 * @throws Failure `environment` when a required filter fails
 */
export async function asCheckedOut(cwd: string, path: string, oid: Oid): Promise<Buffer> {
  const result = await runGit(['cat-file', '--filters', `--path=${path}`, oid], { cwd });
  if (result.code !== 0) throw gitFailure('cat-file', result);
  return result.stdout;
}
