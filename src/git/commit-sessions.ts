import { type Oid, parseOid } from '../domain/names.ts';
import { SESSIONS, entriesOf, sessionsIn } from './output.ts';
import { gitFailure, runGit } from './run.ts';

/** A commit and the sessions that its trailers name. */
export interface CommitSessions {
  readonly oid: Oid;
  readonly sessions: readonly string[];
}

/** The commit that HEAD is at, as far as the checks need it. */
export interface HeadCommit extends CommitSessions {
  readonly subject: string;
}

/** HEAD's commit; `undefined` on an unborn branch. */
export async function headCommit(cwd: string, timeoutMs?: number): Promise<HeadCommit | undefined> {
  const format = `--format=%H%x00${SESSIONS}%x00%s`;
  const args = ['log', '-1', format, '--no-show-signature', '--no-notes', 'HEAD', '--'];
  const result = await runGit(args, { cwd, timeoutMs });
  const [name = '', trailers = '', subject = ''] = result.stdout.toString('utf8').split('\0');
  const oid = parseOid(name);
  if (result.code !== 0 || oid === undefined) return undefined;
  return { oid, sessions: sessionsIn(trailers), subject: subject.trimEnd() };
}

/** Commits that `to` has and `from` has not, newest first; at most 20. */
export async function commitSessions(
  cwd: string,
  from: Oid | null,
  to: Oid,
  timeoutMs?: number,
): Promise<CommitSessions[]> {
  const format = `--format=%H ${SESSIONS}`;
  const range = from === null ? [to] : [to, `^${from}`];
  const args = ['log', '--max-count=20', '-z', format, '--no-show-signature', '--no-notes', ...range, '--'];
  const result = await runGit(args, { cwd, timeoutMs });
  if (result.code !== 0) throw gitFailure('log', result);
  return entriesOf(result).flatMap((record) => {
    const [name = '', trailers = ''] = record.trim().split(' ');
    const oid = parseOid(name);
    return oid === undefined ? [] : [{ oid, sessions: sessionsIn(trailers) }];
  });
}
