import { type Oid, type SessionId, canMean, parseOid } from '../domain/names.ts';
import { SESSIONS, records, sessionsIn, entriesOf } from './output.ts';
import { runGit, gitFailure } from './run.ts';

/** A commit that a session made. */
export interface SessionCommit {
  readonly oid: Oid;
  readonly subject: string;
  /** Committer date, seconds since the epoch. */
  readonly seconds: number;
}

interface TrailedCommit extends SessionCommit {
  readonly sessions: readonly string[];
}

/** Commits that are looked at, newest first: a session's own are among them unless many others worked since. */
const MAX_LOOK = 200;

/** Commits on any branch, or at HEAD, whose trailers name one of the sessions; newest first. */
export async function commitsOf(
  cwd: string,
  sessions: readonly SessionId[],
  timeoutMs: number,
): Promise<SessionCommit[]> {
  const all = await logCommits(cwd, ['HEAD', '--branches'], timeoutMs);
  return all.filter((commit) => commit.sessions.some((name) => sessions.some((id) => canMean(name, id))));
}

/**
 * Commits since `from` that name no session and that no remote has: those of a session that was alone, where commits
 * get no trailers.
 *
 * @param from `null`: since the beginning
 */
export async function unsignedCommits(
  cwd: string,
  from: Oid | null,
  timeoutMs: number,
): Promise<SessionCommit[]> {
  const range = ['HEAD', '--first-parent', '--not', '--remotes', ...(from === null ? [] : [from])];
  const all = await logCommits(cwd, range, timeoutMs);
  return all.filter(({ sessions }) => sessions.length === 0);
}

/** Where HEAD was at a time (seconds since the epoch), as its log tells; `undefined` when that begins later. */
export async function headAt(cwd: string, seconds: number, timeoutMs: number): Promise<Oid | undefined> {
  const name = `HEAD@{${seconds} +0000}`;
  const result = await runGit(['rev-parse', '--verify', '--end-of-options', name], { cwd, timeoutMs });
  if (result.code !== 0 || result.stderr.includes('only goes back')) return undefined;
  return parseOid(result.stdout.toString('utf8').trim());
}

/** An unborn branch has none. */
async function logCommits(
  cwd: string,
  range: readonly string[],
  timeoutMs: number,
): Promise<TrailedCommit[]> {
  const format = `--format=%H%x00%ct%x00${SESSIONS}%x00%s`;
  const flags = ['-z', `--max-count=${MAX_LOOK}`, format, '--no-show-signature', '--no-notes'];
  const result = await runGit(['log', ...flags, ...range, '--'], { cwd, timeoutMs });
  if (result.code !== 0) return [];
  const found = records(result.stdout.toString('utf8'), 4);
  return found.flatMap(([name = '', seconds = '', trailers = '', subject = '']) => {
    const oid = parseOid(name);
    return oid === undefined
      ? []
      : [{ oid, subject, seconds: Number(seconds), sessions: sessionsIn(trailers) }];
  });
}

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
