import { type Oid, type SessionId, canMean, parseOid } from '../domain/names.ts';
import { type GitOptions, runGit, askGit, askForOid, SESSIONS, sessionsIn, records } from './run.ts';

/** Reads commits with git-log(1), independently of the user's settings. */

const QUIET = ['-z', '--no-show-signature', '--no-notes', '--no-color', '--encoding=UTF-8'];

/** A commit, with the sessions that its trailers name. */
export interface LoggedCommit {
  readonly oid: Oid;
  readonly subject: string;
  /** Committer date, seconds since the epoch. */
  readonly seconds: number;
  readonly sessions: readonly string[];
  /** A requested branch that contains the commit. */
  readonly branch: string | undefined;
}

/**
 * The newest `most` commits of a range; none when a name in it does not resolve, like `HEAD` on an unborn branch.
 * `range`: revisions and options of git-log(1); what a user typed comes after `--end-of-options`.
 */
export async function logCommits(
  options: GitOptions,
  range: readonly string[],
  most: number,
): Promise<LoggedCommit[]> {
  const format = `--format=tformat:%H%x00%ct%x00%S%x00${SESSIONS}%x00%s`;
  const output = await askGit(['log', ...QUIET, `--max-count=${most}`, format, ...range, '--'], options);
  return records(output ?? '', 5).flatMap(([name = '', seconds, source = '', ids = '', subject = '']) => {
    const oid = parseOid(name);
    if (oid === undefined) return [];
    // git abbreviates the ref, but keeps `heads/` where a tag has the same name.
    const branch = source === 'HEAD' ? undefined : source.replace(/^(?:refs\/)?heads\//, '');
    return [{ oid, subject: subject.trimEnd(), seconds: Number(seconds), sessions: sessionsIn(ids), branch }];
  });
}

/** How many commits are searched for those of a session; older ones are missed. */
const MAX_LOOK = 200;

/** Commits of a range, by default on any branch or at HEAD, whose trailers name one of the sessions; newest first. */
export async function commitsOf(
  options: GitOptions,
  sessions: readonly SessionId[],
  range: readonly string[] = ['HEAD', '--branches'],
): Promise<LoggedCommit[]> {
  const all = await logCommits(options, range, MAX_LOOK);
  return all.filter((commit) => commit.sessions.some((name) => sessions.some((id) => canMean(name, id))));
}

/**
 * Commits since `from` (`null`: since the beginning) that name no session and that no remote has. When a session works alone, its
 * commits get no trailers, and so name no session.
 */
export async function unsignedCommits(options: GitOptions, from: Oid | null): Promise<LoggedCommit[]> {
  const range = ['HEAD', '--first-parent', '--not', '--remotes', ...(from === null ? [] : [from])];
  const all = await logCommits(options, range, MAX_LOOK);
  return all.filter(({ sessions }) => sessions.length === 0);
}

/** HEAD's commit; `undefined` on an unborn branch. */
export const headCommit = async (options: GitOptions): Promise<LoggedCommit | undefined> =>
  (await logCommits(options, ['HEAD'], 1))[0];

/** Commits that `to` contains and `from` does not, newest first; at most 20. */
export async function commitsBetween(
  options: GitOptions,
  from: Oid | null,
  to: Oid | null,
): Promise<LoggedCommit[]> {
  if (to === null || from === to) return [];
  return logCommits(options, from === null ? [to] : [to, `^${from}`], 20);
}

/** Commits of `from` that neither `to` nor any branch contains; the newest 20, oldest first. */
export async function droppedCommits(
  options: GitOptions,
  from: Oid | null,
  to: Oid | null,
): Promise<LoggedCommit[]> {
  if (from === null || to === null) return [];
  const range = ['--reverse', '--no-merges', from, '--not', to, '--branches'];
  return logCommits(options, range, 20);
}

/**
 * The commits, newest first, that are on no branch any more once `branch` (or `HEAD`, if detached) has moved to `to`. Without
 * `to`, `branch` is deleted, and commits of remote-tracking branches are left out. Empty when a name does not resolve.
 */
export function leftCommits(
  options: GitOptions,
  branch: string,
  to: string | undefined,
): Promise<LoggedCommit[]> {
  const from = branch === 'HEAD' ? 'HEAD' : `refs/heads/${branch}`;
  // git matches `--exclude` as a pattern, without `refs/heads/`.
  const others = [`--exclude=${branch.replace(/[\\*?[]/g, '\\$&')}`, '--branches'];
  const left = to === undefined ? ['--remotes'] : ['--end-of-options', to];
  return logCommits(options, [from, '--not', ...others, ...left], MAX_LOOK);
}

/** The newest commit of a first-parent history that changed a path; `undefined` when git cannot tell. */
export async function lastChange(options: GitOptions, tip: Oid, path: string): Promise<Oid | undefined> {
  const args = ['--literal-pathspecs', 'rev-list', '--first-parent', '--max-count=1', tip, '--', path];
  return askForOid(args, options);
}

/** Where HEAD was at a time (seconds since the epoch), from its reflog; `undefined` when the reflog begins later. */
export async function headAt(options: GitOptions, seconds: number): Promise<Oid | undefined> {
  const name = `HEAD@{${seconds} +0000}`;
  const result = await runGit(['rev-parse', '--verify', '--end-of-options', name], options);
  if (result.code !== 0 || result.stderr.includes('only goes back')) return undefined;
  return parseOid(result.stdout.toString('utf8').trim());
}

/** An entry of a reflog (git-reflog(1)). */
interface ReflogEntry {
  readonly ref: string;
  readonly oid: Oid;
  /** Committer date of the commit, seconds since the epoch. */
  readonly seconds: number;
  readonly message: string;
}

const MAX_ENTRIES = 2000;

/** Entries of the reflogs of some refs, newest first; with `text`, only those whose message has it. None when git fails. */
export async function readReflogs(
  options: GitOptions,
  refs: readonly string[],
  text?: string,
): Promise<ReflogEntry[]> {
  const search = text === undefined ? [] : ['--fixed-strings', `--grep-reflog=${text}`];
  const args = ['log', '--walk-reflogs', ...QUIET, `--max-count=${MAX_ENTRIES}`, ...search];
  const output = await askGit([...args, '--format=%gD %H %ct %gs', ...refs, '--'], options);
  return (output ?? '').split('\0').flatMap((record) => {
    const [, ref = '', name = '', seconds, message = ''] =
      /^((?:(?!@\{)\S)*)@\{[^}]*\} (\w+) (\d+) ([^]*?)\n?$/.exec(record) ?? [];
    const oid = parseOid(name);
    return oid === undefined ? [] : [{ ref, oid, seconds: Number(seconds), message }];
  });
}
