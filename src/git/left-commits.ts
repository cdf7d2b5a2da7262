import { type Oid, parseOid } from '../domain/names.ts';
import { runGit } from './run.ts';

/** A commit that a branch leaves behind, with the sessions that its trailers name. */
export interface LeftCommit {
  readonly oid: Oid;
  readonly sessions: readonly string[];
  readonly subject: string;
}

const MAX_COMMITS = 200;

/**
 * The commits that `from` holds and that are left behind when it is moved to `to`, or (without one) that no other
 * branch and no remote-tracking branch holds when it is deleted. Newest first; empty when a name means no commit.
 */
export async function leftCommits(
  cwd: string,
  from: string,
  to: string | undefined,
  timeoutMs: number,
): Promise<LeftCommit[]> {
  const format = '--format=%H %(trailers:key=Claude-Session-Id,valueonly,separator=%x2C) %s';
  const listing = ['log', `--max-count=${MAX_COMMITS}`, '-z', format, '--no-show-signature', '--no-notes'];
  // `--exclude` is matched without `refs/heads/`, as a pattern.
  const name = from.replace(/^refs\/heads\//, '').replace(/[\\*?[]/g, '\\$&');
  const others = [`--exclude=${name}`, '--branches', '--remotes'];
  const range = to === undefined ? [from, '--not', ...others] : ['--end-of-options', from, `^${to}`];
  const result = await runGit([...listing, ...range, '--'], { cwd, timeoutMs });
  if (result.code !== 0) return [];
  return result.stdout
    .toString('utf8')
    .split('\0')
    .flatMap((record) => {
      const match = /^([0-9a-f]+) (\S*) (.*)$/s.exec(record);
      const oid = parseOid(match?.[1] ?? '');
      if (match === null || oid === undefined) return [];
      const sessions = (match[2] ?? '').split(',').filter((id) => id !== '');
      return [{ oid, sessions, subject: (match[3] ?? '').trimEnd() }];
    });
}
