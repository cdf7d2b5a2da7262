import { type HandoffCommit, parseTrailers } from '../domain/handoff.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import type { InRepository } from './repository.ts';
import { gitFailure, runGit } from './run.ts';

/** A commit of a handoff's chain, without what stands in its tree. */
export type ChainCommit = Pick<HandoffCommit, 'oid' | 'parents' | 'trailers' | 'summary' | 'seconds'>;

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
  const format = '--format=tformat:%H%x00%P%x00%ct%x00%B';
  const args = ['log', ...QUIET, '--first-parent', `--max-count=${max}`, format, '--stdin'];
  const result = await runGit(args, { cwd: repository.cwd, input: `${tips.join('\n')}\n` });
  if (result.code !== 0) throw gitFailure('log', result);
  return records(result.stdout, 4).flatMap(([name = '', parents = '', seconds = '', message = '']) => {
    const oid = parseOid(name);
    if (oid === undefined) return [];
    const [summary = ''] = message.split('\n', 1);
    const parentOids = parents.split(' ').flatMap((one) => parseOid(one) ?? []);
    return [
      { oid, parents: parentOids, seconds: Number(seconds), summary, trailers: parseTrailers(message) },
    ];
  });
}

/** A commit on a branch whose trailers name sessions. */
export interface SignedCommit {
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
  const trailers = '%(trailers:key=Claude-Session-Id,valueonly,separator=%x2C)';
  const format = `--format=tformat:%H%x00%ct%x00%S%x00${trailers}%x00%s`;
  const args = ['log', ...QUIET, '--source', `--max-count=${look}`, format, '--branches', 'HEAD', '--'];
  const result = await runGit(args, { cwd: repository.cwd });
  // An unborn branch has no commits.
  if (result.code !== 0) return { commits: [], looked: 0 };
  const found = records(result.stdout, 5);
  const commits = found.flatMap(([name = '', seconds = '', source = '', ids = '', subject = '']) => {
    const oid = parseOid(name);
    const sessions = ids.split(',').flatMap((id) => (id.trim() === '' ? [] : [id.trim()]));
    if (oid === undefined || sessions.length === 0) return [];
    // As git abbreviates it: `heads/` stays where a tag has the same name.
    const branch = source === 'HEAD' ? undefined : source.replace(/^(?:refs\/)?heads\//, '');
    return [{ oid, subject, seconds: Number(seconds), sessions, branch }];
  });
  return { commits, looked: found.length };
}

/** Splits the output of `-z` with a format of `width` fields. */
function records(output: Buffer, width: number): string[][] {
  const fields = output.toString('utf8').split('\0');
  const found: string[][] = [];
  for (let at = 0; at + width <= fields.length; at += width) found.push(fields.slice(at, at + width));
  return found;
}
