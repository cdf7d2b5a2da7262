import { ACKS, ackRef, handoffRef, keptRef } from '../git/namespace.ts';
import { type RefUpdate, type RefValue, listRefNames, updateRefs } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import type { TopicState } from './topic.ts';

/** Topics in one transaction: what moves meanwhile costs one process for each of them. */
const BATCH = 500;

/**
 * Deletes the refs of topics, each by compare-and-swap from what was read: `kept` first, so that a crash in between
 * leaves a handoff and not a deletion by hand; what readers acknowledged of it goes along. Returns those that are gone; one that moved meanwhile stays.
 */
export async function deleteTopics(
  repository: Repository,
  topics: readonly TopicState[],
): Promise<TopicState[]> {
  const acks = await listRefNames(repository, [ACKS]);
  const gone: TopicState[] = [];
  for (let at = 0; at < topics.length; at += BATCH) {
    const batch = topics.slice(at, at + BATCH);
    if (await deleted(repository, batch, acks)) gone.push(...batch);
    else for (const one of batch) if (await deleted(repository, [one], acks)) gone.push(one);
  }
  return gone;
}

async function deleted(
  repository: Repository,
  topics: readonly TopicState[],
  acks: readonly RefValue[],
): Promise<boolean> {
  const updates = topics.flatMap(({ path, publicOid, keptOid }): RefUpdate[] => [
    ...(keptOid === undefined ? [] : [{ ref: keptRef(path), next: undefined, old: keptOid }]),
    ...(publicOid === undefined ? [] : [{ ref: handoffRef(path), next: undefined, old: publicOid }]),
    ...acks
      .filter(({ name }) => name.startsWith(ackRef(path, '')))
      .map(({ name, oid }) => ({ ref: name, next: undefined, old: oid })),
  ]);
  return (await updateRefs(repository, updates)).kind === 'done';
}
