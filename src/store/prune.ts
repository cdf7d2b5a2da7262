import { handoffRef, keptRef } from '../git/namespace.ts';
import { type RefUpdate, updateRefs } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import type { TopicState } from './topic.ts';

/** Topics in one transaction: what moves meanwhile costs one process for each of them. */
const BATCH = 500;

/**
 * Deletes the refs of topics, each by compare-and-swap from what was read: `kept` first, so that a crash in between
 * leaves a handoff and not a deletion by hand. Returns those that are gone; one that moved meanwhile stays.
 */
export async function deleteTopics(
  repository: Repository,
  topics: readonly TopicState[],
): Promise<TopicState[]> {
  const gone: TopicState[] = [];
  for (let at = 0; at < topics.length; at += BATCH) {
    const batch = topics.slice(at, at + BATCH);
    if (await deleted(repository, batch)) gone.push(...batch);
    else for (const one of batch) if (await deleted(repository, [one])) gone.push(one);
  }
  return gone;
}

async function deleted(repository: Repository, topics: readonly TopicState[]): Promise<boolean> {
  const updates = topics.flatMap(({ path, publicOid, keptOid }): RefUpdate[] => [
    ...(keptOid === undefined ? [] : [{ ref: keptRef(path), next: undefined, old: keptOid }]),
    ...(publicOid === undefined ? [] : [{ ref: handoffRef(path), next: undefined, old: publicOid }]),
  ]);
  return (await updateRefs(repository, updates)).kind === 'done';
}
