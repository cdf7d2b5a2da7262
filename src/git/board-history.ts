import { type HandoffCommit, parseTrailers } from '../domain/handoff.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import type { InRepository } from './repository.ts';
import { SESSIONS, records, sessionsIn } from './output.ts';
import { gitFailure, runGit } from './run.ts';

/** A commit of a handoff's chain, without what stands in its tree. */
export type ChainCommit = Omit<HandoffCommit, 'recorded' | 'hasNote'>;

const QUIET = ['-z', '--no-show-signature', '--no-notes', '--no-color'];

/**
 * Commits of the chains that end in `tips`, newest first and at most `max` of them; first parents only. One process for
 * any number of handoffs.
 *
 * @throws Failure when an object on the way cannot be read
 */
export async function handoffChains(
  repository: InRepository,
  tips: readonly Oid[],
  max: number,
): Promise<ChainCommit[]> {
  if (tips.length === 0) return [];
  const format = '--format=tformat:%H%x00%P%x00%ct%x00%cn%x00%ce%x00%B';
  const args = ['log', ...QUIET, '--first-parent', `--max-count=${max}`, format, '--stdin'];
  const result = await runGit(args, { cwd: repository.cwd, input: `${tips.join('\n')}\n` });
  if (result.code !== 0) throw gitFailure('log', result);
  return records(result.stdout.toString('utf8'), 6).flatMap((fields) => {
    const [commit = '', parents = '', seconds = '', name = '', mail = '', message = ''] = fields;
    const oid = parseOid(commit);
    if (oid === undefined) return [];
    const [summary = ''] = message.split('\n', 1);
    const parentOids = parents.split(' ').flatMap((one) => parseOid(one) ?? []);
    const trailers = parseTrailers(message);
    return [{ oid, parents: parentOids, seconds: Number(seconds), name, mail, summary, trailers }];
  });
}

/** A commit on a branch whose trailers name sessions. */
interface SignedCommit {
  readonly oid: Oid;
  readonly subject: string;
  /** Committer date, seconds since the epoch. */
  readonly seconds: number;
  readonly sessions: readonly string[];
  /** A branch that it is on. */
  readonly branch: string | undefined;
}

/** Among the newest `look` commits on any branch or at HEAD those that name sessions, and how many were looked at. */
export async function signedCommits(
  repository: InRepository,
  look: number,
): Promise<{ commits: SignedCommit[]; looked: number }> {
  const format = `--format=tformat:%H%x00%ct%x00%S%x00${SESSIONS}%x00%s`;
  const args = ['log', ...QUIET, '--source', `--max-count=${look}`, format, '--branches', 'HEAD', '--'];
  const result = await runGit(args, { cwd: repository.cwd });
  // An unborn branch has no commits.
  if (result.code !== 0) return { commits: [], looked: 0 };
  const found = records(result.stdout.toString('utf8'), 5);
  const commits = found.flatMap(([name = '', seconds = '', source = '', ids = '', subject = '']) => {
    const oid = parseOid(name);
    const sessions = sessionsIn(ids);
    if (oid === undefined || sessions.length === 0) return [];
    // As git abbreviates it: `heads/` stays where a tag has the same name.
    const branch = source === 'HEAD' ? undefined : source.replace(/^(?:refs\/)?heads\//, '');
    return [{ oid, subject, seconds: Number(seconds), sessions, branch }];
  });
  return { commits, looked: found.length };
}
