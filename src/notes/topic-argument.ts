import { escapeLine, Failure, shellWord } from '../domain/messages.ts';
import {
  type BranchName,
  type Oid,
  type Topic,
  parseBranchName,
  parseTopic,
  shortId,
} from '../domain/names.ts';
import { slugWords, topicFrom } from '../domain/note/topic-slug.ts';
import { type HandoffPath, handoffPath, encodeBranch } from '../git/namespace.ts';
import { type Repository, branchTip } from '../git/repository.ts';
import { type ReadableTopic, type TopicState, readTopic, readTopics } from './topic.ts';

/** A `[<branch>/]<topic>` argument. */
export interface TopicArgument {
  readonly branch: BranchName;
  readonly topic: Topic;
  readonly path: HandoffPath;
  /** Whether the branch was typed, not taken from `HEAD`. */
  readonly explicit: boolean;
}

/**
 * Parses `[<branch>/]<topic>`, split at the last `/`. The default is the current branch.
 *
 * @throws Failure `usage` for names outside the grammar.
 */
export function parseTopicArgument(
  text: string,
  repository: Repository,
  hintFor: (topic: string) => string = () => 'git handoff list --all',
): TopicArgument {
  const slash = text.lastIndexOf('/');
  const branchText = slash < 0 ? undefined : text.slice(0, slash);
  const branch = branchText === undefined ? repository.branch : parseBranchName(branchText);
  if (branch === undefined) {
    throw new Failure('usage', `not a branch name: ${escapeLine(JSON.stringify(branchText))}`, {
      hint: 'git branch --list',
    });
  }
  const topic = parseTopic(text.slice(slash + 1));
  if (topic !== undefined && (topic.includes('-') || topic !== branch.slice(branch.lastIndexOf('/') + 1)))
    return { branch, topic, path: handoffPath(branch, topic), explicit: branchText !== undefined };
  const word = text.slice(slash + 1);
  const better = topicFrom(slugWords(word), 'auth-refresh');
  const name = `not a topic: ${escapeLine(JSON.stringify(word))}`;
  const fault = word.length > 100 ? 'has more than 100 bytes' : 'does not say what the work is';
  const why = /[^a-z0-9-]|^-|--|-$|^$/.test(word)
    ? 'a topic is lower-case words joined by "-"'
    : `it ${topic === undefined ? fault : 'is the name of the branch'}`;
  throw new Failure('usage', `${name}; ${why}`, {
    hint: hintFor(branchText === undefined ? better : typedTopic(branch, better)),
  });
}

/**
 * The commit that a note of this topic is about: the tip of its branch, `undefined` for an unborn one. `head` is `HEAD`'s
 * commit. If the handoff exists already (`stands`), its branch may be gone.
 *
 * @throws Failure `usage` for a new note on a branch that does not exist: nobody would find it.
 */
export async function requireBranch(
  repository: Repository,
  argument: TopicArgument,
  head: Oid | undefined,
  stands: () => Promise<boolean>,
): Promise<Oid | undefined> {
  if (!argument.explicit || argument.branch === repository.branch) return head;
  const tip = await branchTip(repository, argument.branch);
  if (tip !== undefined || (await stands())) return tip;
  throw new Failure('usage', `there is no branch ${escapeLine(argument.branch)}`, {
    hint: `git branch ${shellWord(argument.branch)}`,
  });
}

/** A topic as people type it in this repository: with its branch, quoted for a shell where needed. */
export function typedTopic(branch: string, topic: string): string {
  return shellWord(`${branch}/${topic}`);
}

/**
 * Finds the topic that a reader named, or the newest of the branch. If only another branch has the topic, the hint names it.
 *
 * @throws Failure `not-found`.
 */
export async function findTopic(
  repository: Repository,
  text: string | undefined,
  { note = false, work = false } = {},
): Promise<ReadableTopic> {
  const { branch } = repository;
  if (text === undefined)
    return newestTopic(branch, await readTopics(repository, encodeBranch(branch)), work);
  const argument = parseTopicArgument(text, repository);
  const state = await readTopic(repository, argument.path, { note });
  if (state.tip !== undefined || state.illegal !== undefined) return state;
  const other = (await readTopics(repository)).find(({ topic }) => topic === argument.topic);
  throw new Failure('not-found', `there is no handoff ${typedTopic(argument.branch, argument.topic)}`, {
    hint:
      other === undefined
        ? 'git handoff list --all'
        : `git handoff show ${typedTopic(other.branch, other.topic)}`,
  });
}

/**
 * The newest open handoff of a branch (by committer date, then name). Written ones come before automatic ones; with `work`,
 * those that carry work come before all others.
 *
 * @throws Failure `not-found` when there is none.
 */
export function newestTopic(branch: BranchName, topics: readonly TopicState[], work = false): TopicState {
  const open = topics.filter(({ tip }) => tip?.trailers?.state === 'open');
  const rank = ({ tip }: TopicState) =>
    (work && tip?.trailers?.work === undefined ? 2 : 0) + Number(tip?.trailers?.automatic !== undefined);
  const newest = open.sort((a, b) => rank(a) - rank(b) || byAge(a, b))[0];
  if (newest !== undefined) return newest;
  throw new Failure('not-found', `there is no open handoff on ${branch}`, {
    hint: 'git handoff list --all',
  });
}

/** More automatic notes than this are summed up in one line. */
export const MAX_AUTOMATIC = 3;

/** Ranks the notes of the branch `here` first and, within a branch, automatic notes last. */
export const rankIn = ({ branch, tip }: TopicState, here: string): number =>
  (branch === here ? 0 : 2) + Number(tip?.trailers?.automatic !== undefined);

/** Newest first, then by name, so that topics of the same second have an order, too. */
export function byAge(a: TopicState, b: TopicState): number {
  const age = (b.tip?.seconds ?? 0) - (a.tip?.seconds ?? 0);
  return age !== 0 ? age : a.topic < b.topic ? -1 : 1;
}

/** The tip of a topic, for commands that need one. */
export function requireTip(state: TopicState) {
  if (state.tip !== undefined) return state.tip;
  const name = typedTopic(state.branch, state.topic);
  const bad = shortId(state.illegal?.bad ?? '');
  throw new Failure('integrity', `${name} has no valid handoff (${bad})`, { hint: 'git handoff doctor' });
}
