import { type Oid, parseOid } from '../domain/names.ts';
import { SESSIONS, entriesOf, sessionsIn } from './output.ts';
import { runGit } from './run.ts';

/** A commit that a branch leaves behind, with the sessions that its trailers name. */
export interface LeftCommit {
  readonly oid: Oid;
  readonly sessions: readonly string[];
  readonly subject: string;
}

const MAX_COMMITS = 200;

/**
 * The commits that a branch holds and that no other branch does once it is moved to `to`; without one it is deleted,
 * and remote-tracking branches count, too. Newest first; empty when a name means no commit.
 *
 * @param branch short name of a branch, or `HEAD` for a detached one
 */
export async function leftCommits(
  cwd: string,
  branch: string,
  to: string | undefined,
  timeoutMs: number,
): Promise<LeftCommit[]> {
  const format = `--format=%H ${SESSIONS} %s`;
  const listing = ['log', `--max-count=${MAX_COMMITS}`, '-z', format, '--no-show-signature', '--no-notes'];
  const from = branch === 'HEAD' ? 'HEAD' : `refs/heads/${branch}`;
  // `--exclude` is matched without `refs/heads/`, as a pattern.
  const others = [`--exclude=${branch.replace(/[\\*?[]/g, '\\$&')}`, '--branches'];
  const left = to === undefined ? ['--remotes'] : ['--end-of-options', to];
  const range = [from, '--not', ...others, ...left];
  const result = await runGit([...listing, ...range, '--'], { cwd, timeoutMs });
  if (result.code !== 0) return [];
  return entriesOf(result).flatMap((record) => {
    const match = /^([0-9a-f]+) (\S*) (.*)$/s.exec(record);
    const oid = parseOid(match?.[1] ?? '');
    if (match === null || oid === undefined) return [];
    return [{ oid, sessions: sessionsIn(match[2] ?? ''), subject: (match[3] ?? '').trimEnd() }];
  });
}

/** The newest commit of a first-parent history that changed a path; `undefined` when git cannot tell. */
export async function lastChange(cwd: string, tip: Oid, path: string): Promise<Oid | undefined> {
  const args = ['--literal-pathspecs', 'rev-list', '--first-parent', '--max-count=1', tip, '--', path];
  const result = await runGit(args, { cwd });
  return result.code === 0 ? parseOid(result.stdout.toString('utf8').trim()) : undefined;
}
