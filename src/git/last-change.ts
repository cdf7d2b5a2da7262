import { type Oid, parseOid } from '../domain/names.ts';
import { runGit } from './run.ts';

/** The newest commit of a first-parent history that changed a path; `undefined` when git cannot tell. */
export async function lastChange(cwd: string, tip: Oid, path: string): Promise<Oid | undefined> {
  const args = ['--literal-pathspecs', 'rev-list', '--first-parent', '--max-count=1', tip, '--', path];
  const result = await runGit(args, { cwd });
  return result.code === 0 ? parseOid(result.stdout.toString('utf8').trim()) : undefined;
}
