import type { Oid } from '../domain/names.ts';
import {
  ACKS,
  REMOTE,
  WORK,
  ackRef,
  handoffRef,
  keptRef,
  parseTrackingRef,
  prunedRef,
  workPrefix,
} from '../git/namespace.ts';
import { ObjectBatch } from '../git/object-batch.ts';
import { type RefUpdate, updateRefs } from '../git/ref-updates.ts';
import type { RefValue } from '../git/refs.ts';
import { type Repository, objectFormat } from '../git/repository.ts';
import { listBookkeeping } from '../git/migrate-ref-lists.ts';
import type { TopicState } from './topic.ts';

/** Topics in one transaction: what moves meanwhile costs one process for each of them. */
const BATCH = 500;

/**
 * Deletes the refs of topics, each by compare-and-swap from what was read: `kept` first, so that a crash in between
 * leaves a handoff and not a deletion by hand. Their acknowledgements and work are deleted with them. What a remote has shown
 * is remembered, so that the next `sync` does not bring it back. Returns the deleted topics; one that moved meanwhile stays.
 */
export async function deleteTopics(
  repository: Repository,
  topics: readonly TopicState[],
): Promise<TopicState[]> {
  const beside = await listBookkeeping(repository, [ACKS, REMOTE, WORK]);
  const traces = { beside, memories: await storeMemories(repository, topics, beside) };
  const gone: TopicState[] = [];
  for (let at = 0; at < topics.length; at += BATCH) {
    const batch = topics.slice(at, at + BATCH);
    if (await deleted(repository, batch, traces)) gone.push(...batch);
    else for (const one of batch) if (await deleted(repository, [one], traces)) gone.push(one);
  }
  return gone;
}

/** What else belongs to topics: acknowledgements, work and tracking refs, and the blobs that remember the deletion. */
interface Traces {
  readonly beside: readonly RefValue[];
  readonly memories: ReadonlyMap<TopicState, Oid>;
}

/** Stores the names of the tips that a remote may still have. */
async function storeMemories(
  repository: Repository,
  topics: readonly TopicState[],
  refs: readonly RefValue[],
): Promise<Map<TopicState, Oid>> {
  const shown = new Set(
    refs.flatMap(({ name }) => {
      const path = parseTrackingRef(name);
      return path === undefined ? [] : [handoffRef(path)];
    }),
  );
  const known = topics.filter(({ path, tip }) => tip !== undefined && shown.has(handoffRef(path)));
  if (known.length === 0) return new Map();
  const batch = new ObjectBatch(await objectFormat(repository, known[0]?.tip?.oid));
  const memories = new Map(known.map((one) => [one, batch.blob(Buffer.from(`${one.tip?.oid}\n`))]));
  await batch.storeMany({ cwd: repository.cwd });
  return memories;
}

async function deleted(
  repository: Repository,
  topics: readonly TopicState[],
  { beside, memories }: Traces,
): Promise<boolean> {
  const updates = topics.flatMap((state): RefUpdate[] => {
    const { path, publicOid, keptOid } = state;
    const memory = memories.get(state);
    return [
      ...(memory === undefined ? [] : [{ ref: prunedRef(path), next: memory, old: undefined }]),
      ...(keptOid === undefined ? [] : [{ ref: keptRef(path), next: undefined, old: keptOid }]),
      ...(publicOid === undefined ? [] : [{ ref: handoffRef(path), next: undefined, old: publicOid }]),
      ...beside
        .filter(({ name }) => name.startsWith(ackRef(path, '')) || name.startsWith(workPrefix(path)))
        .map(({ name, oid }) => ({ ref: name, next: undefined, old: oid })),
    ];
  });
  return (await updateRefs(repository, updates)).kind === 'done';
}
