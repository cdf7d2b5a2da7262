import { Failure } from '../../domain/failure.ts';
import { type Limits, renamedBranches } from '../../git/branches.ts';
import { encodeBranch } from '../../git/namespace.ts';
import type { Repository } from '../../git/repository.ts';
import { byAge, findTopic } from '../../notes/find-topic.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { type ReadableTopic, type TopicState, readTopic, readTopics } from '../../notes/topic.ts';
import { latestName } from './branch-place.ts';

/** The note to go on from, and all topics of its branch. */
export interface Chosen {
  readonly state: ReadableTopic;
  readonly beside: readonly TopicState[];
}

/**
 * The topic that was named; else the newest open note of the branch that a session wrote, and only then the newest that
 * was left automatically.
 *
 * @throws Failure `not-found` with the next command.
 */
export async function chooseNote(
  repository: Repository,
  topic: string | undefined,
  limits: Limits,
): Promise<Chosen> {
  if (topic !== undefined) {
    const state = await findTopic(repository, topic, { note: true });
    return { state, beside: await readTopics(repository, state.path.component) };
  }
  const beside = await readTopics(repository, encodeBranch(repository.branch));
  const open = beside.filter(({ tip }) => tip?.trailers?.state === 'open').sort(byAge);
  const newest = open.find(({ tip }) => tip?.trailers?.automatic === undefined) ?? open[0];
  if (newest === undefined) throw await nothingHere(repository, limits);
  return { state: await readTopic(repository, newest.path, { note: true }), beside };
}

/** Names the note of a former name of the branch, if there is one. */
async function nothingHere(repository: Repository, limits: Limits): Promise<Failure> {
  const former = await listRenamed(repository, limits);
  const all = former.length === 0 ? [] : await readTopics(repository);
  const found = all
    .filter(({ tip, branch }) => tip?.trailers?.state === 'open' && former.includes(branch))
    .sort(byAge)[0];
  return new Failure('not-found', `there is no open handoff on ${repository.branch}`, {
    hint:
      found === undefined
        ? 'git handoff list --all'
        : `git handoff boot ${typedTopic(found.branch, found.topic)}`,
  });
}

/** The names that the current branch had before. */
async function listRenamed({ cwd, branch }: Repository, limits: Limits): Promise<string[]> {
  try {
    const renamed = await renamedBranches(cwd, limits);
    return [...renamed.keys()].filter((old) => latestName(renamed, old) === branch);
  } catch {
    return [];
  }
}
