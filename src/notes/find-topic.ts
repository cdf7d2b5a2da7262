import { Failure } from '../domain/failure.ts';
import { shortId } from '../domain/names.ts';
import { encodeBranch } from '../git/namespace.ts';
import type { Repository } from '../git/repository.ts';
import { type ReadableTopic, type TopicState, readTopic, readTopics } from './topic.ts';
import { parseTopicArgument, typedTopic } from './topic-argument.ts';

/**
 * Finds the topic that a reader named, or the newest of the branch. For a topic that exists only on another branch, the
 * failure's hint names that.
 *
 * @throws Failure `not-found`.
 */
export async function findTopic(
  repository: Repository,
  text: string | undefined,
  { note = false, work = false } = {},
): Promise<ReadableTopic> {
  if (text === undefined) return newestTopic(repository, work);
  const argument = parseTopicArgument(text, repository);
  const state = await readTopic(repository, argument.path, { note });
  if (state.tip !== undefined || state.illegal !== undefined) return state;
  const elsewhere = (await readTopics(repository)).filter(({ topic }) => topic === argument.topic);
  const [other] = elsewhere;
  throw new Failure('not-found', `there is no handoff ${typedTopic(argument.branch, argument.topic)}`, {
    hint:
      other === undefined
        ? 'git handoff list --all'
        : `git handoff show ${typedTopic(other.branch, other.topic)}`,
  });
}

/**
 * The newest open handoff of the current branch (by committer date, then name). Those that somebody wrote come before
 * automatic ones; with `work`, those that carry work come before all others.
 *
 * @throws Failure `not-found` when there is none.
 */
async function newestTopic(repository: Repository, work: boolean): Promise<TopicState> {
  const open = (await readTopics(repository, encodeBranch(repository.branch))).filter(
    ({ tip }) => tip?.trailers?.state === 'open',
  );
  const rank = ({ tip }: TopicState) =>
    (work && tip?.trailers?.work === undefined ? 2 : 0) + Number(tip?.trailers?.automatic !== undefined);
  const newest = open.sort((a, b) => rank(a) - rank(b) || byAge(a, b))[0];
  if (newest !== undefined) return newest;
  throw new Failure('not-found', `there is no open handoff on ${repository.branch}`, {
    hint: 'git handoff list --all',
  });
}

/** More automatic notes than this are summed up in one line: each is about one session that stopped. */
export const MAX_AUTOMATIC = 3;

/** Newest first; a tie is broken by name, so that the order never depends on the clock alone. */
export function byAge(a: TopicState, b: TopicState): number {
  const age = (b.tip?.seconds ?? 0) - (a.tip?.seconds ?? 0);
  return age !== 0 ? age : a.topic < b.topic ? -1 : 1;
}

/** The tip of a topic, for commands that need one. */
export function requireTip(state: TopicState) {
  if (state.tip !== undefined) return state.tip;
  throw new Failure(
    'integrity',
    `${typedTopic(state.branch, state.topic)} has no valid handoff (${shortId(state.illegal?.bad ?? '')})`,
    {
      hint: 'git handoff doctor',
    },
  );
}
