import type { Oid, RefName } from '../domain/names.ts';
import { formatOf, objectName } from '../git/hash.ts';
import {
  ACKS,
  HANDOFFS,
  type HandoffPath,
  PRUNED,
  REMOTE,
  SENT,
  UNPACKED,
  WORK,
  ackRef,
  decodeRemote,
  handoffRef,
  keptRef,
  lostPrefix,
  parseTrackingRef,
  prunedRef,
  workPrefix,
} from '../git/namespace.ts';
import { listBookkeeping } from '../git/migrate-ref-lists.ts';
import { ObjectBatch } from '../git/objects.ts';
import {
  type RefUpdate,
  type TransactionResult,
  updateRefs,
  type RefValue,
  listRefNames,
} from '../git/refs.ts';
import { type InRepository, type Repository, objectFormat } from '../git/repository.ts';
import { gitFailure, runGit } from '../git/run.ts';
import type { TopicState } from './topic.ts';

export type DeletedKind = 'handoff' | 'kept' | 'lost' | 'ack' | 'work' | 'tracking';

/** A ref of one handoff. */
export interface DeletedRef extends RefValue {
  readonly kind: DeletedKind;
  /** The remote of a tracking ref, or of work that was sent. */
  readonly remote: string | null;
}

/** Every ref that holds anything of one handoff, whether its objects can be read or not. */
export async function refsOfTopic(repository: InRepository, path: HandoffPath): Promise<DeletedRef[]> {
  const place = handoffRef(path).slice(HANDOFFS.length);
  const here: readonly (readonly [DeletedKind, name: string])[] = [
    ['handoff', handoffRef(path)],
    ['kept', keptRef(path)],
    ['lost', lostPrefix(path)],
    ['ack', ackRef(path, '')],
    ['work', workPrefix(path)],
    ['work', `${UNPACKED}${place}/`],
  ];
  // A ref name holds none of the characters that would make it a pattern (git-check-ref-format(1)).
  const patterns = [...here.map(([, name]) => name), `${REMOTE}*/${place}`, `${SENT}*/${place}/*`];
  const refs = await listBookkeeping(repository, patterns);
  return refs.flatMap((ref): DeletedRef[] => {
    const { name } = ref;
    const found = here.find(([, start]) => (start.endsWith('/') ? name.startsWith(start) : name === start));
    if (found !== undefined) return [{ ...ref, kind: found[0], remote: null }];
    const isSent = name.startsWith(SENT);
    const [component = '', ...rest] = name.slice((isSent ? SENT : REMOTE).length).split('/');
    const isOfTopic = isSent ? rest.slice(0, -1).join('/') === place : rest.join('/') === place;
    if (!isOfTopic || !(isSent || name.startsWith(REMOTE))) return [];
    return [{ ...ref, kind: isSent ? 'work' : 'tracking', remote: decodeRemote(component) }];
  });
}

/** The order of deletion: the handoff itself goes last, so that a crash in between leaves it where everybody looks. */
const ORDER: readonly DeletedKind[] = ['tracking', 'ack', 'work', 'lost', 'kept', 'handoff'];

/** A handoff to delete. */
interface Deletion {
  readonly path: HandoffPath;
  readonly refs: readonly RefValue[];
  /** The commit that a remote may still have; `undefined`: no remote can have the handoff. */
  readonly tip: Oid | undefined;
}

/** Deletes every ref of a handoff with its log. Afterwards no table of the refs' storage holds the deleted refs either. */
export async function deleteAllRefs(
  repository: Repository,
  { path, refs, tip }: Deletion & { readonly refs: readonly DeletedRef[] },
): Promise<TransactionResult> {
  const sorted = [...refs].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const all = [{ path, refs: sorted, tip }];
  const result = await deleteHandoffs(repository, all, await storeMemories(repository, all));
  if (result.kind === 'done') await dropOldTables(repository);
  return result;
}

/** Merges the tables of reftable: otherwise the older tables still hold the names and logs of deleted refs. */
async function dropOldTables({ cwd, commonDir }: Repository): Promise<void> {
  const storage = await runGit(['config', '--get', 'extensions.refStorage'], { cwd });
  if (storage.stdout.toString('utf8').trim() !== 'reftable') return;
  const packed = await runGit(['--git-dir', commonDir, 'pack-refs', '--all'], { cwd });
  if (packed.code !== 0) throw gitFailure('pack-refs', packed);
}

/** The content of the blob that records that a handoff was deleted at this commit (`prunedRef`). */
const memoryOf = (tip: Oid) => Buffer.from(`${tip}\n`);

/** The object name of that blob. */
export const memoryName = (tip: Oid): Oid => objectName(formatOf(tip), 'blob', memoryOf(tip)) as Oid;

/** How many topics one transaction deletes; if one topic moves meanwhile, each topic costs a transaction of its own. */
const BATCH = 500;

/**
 * Deletes the refs of topics with their acknowledgements and work. Returns the deleted topics, not those that moved since they
 * were read.
 */
export async function deleteTopics(
  repository: Repository,
  topics: readonly TopicState[],
): Promise<TopicState[]> {
  const beside = await listBookkeeping(repository, [ACKS, REMOTE, WORK]);
  const shown = new Set(
    beside.flatMap(({ name }) => {
      const path = parseTrackingRef(name);
      return path === undefined ? [] : [handoffRef(path)];
    }),
  );
  const all = topics.map((state) => {
    const { path, publicOid, keptOid, tip } = state;
    const [acks, works] = [ackRef(path, ''), workPrefix(path)];
    const refs = [
      ...beside.filter(({ name }) => name.startsWith(acks) || name.startsWith(works)),
      // `kept` first, so that a crash in between leaves a normal handoff, not one that looks deleted by hand.
      ...(keptOid === undefined ? [] : [{ name: keptRef(path), oid: keptOid }]),
      ...(publicOid === undefined ? [] : [{ name: handoffRef(path), oid: publicOid }]),
    ];
    return { state, path, refs, tip: shown.has(handoffRef(path)) ? tip?.oid : undefined };
  });
  const memories = await storeMemories(repository, all);
  const isDone = async (some: typeof all) =>
    (await deleteHandoffs(repository, some, memories)).kind === 'done';
  const gone: TopicState[] = [];
  for (let at = 0; at < all.length; at += BATCH) {
    const batch = all.slice(at, at + BATCH);
    const isWhole = await isDone(batch);
    for (const one of batch) if (isWhole || (await isDone([one]))) gone.push(one.state);
  }
  return gone;
}

/**
 * Deletes the refs of handoffs in one transaction, each by compare-and-swap from what was read. It also records the commits that
 * a remote may still have, so that a sync with it does not bring the handoffs back.
 */
async function deleteHandoffs(
  repository: Repository,
  deletions: readonly Deletion[],
  memories: ReadonlyMap<RefName, RefUpdate>,
): Promise<TransactionResult> {
  const remembered = deletions.flatMap(({ path }) => memories.get(prunedRef(path)) ?? []);
  const removals = deletions
    .flatMap(({ refs }) => refs)
    .map(({ name, oid }) => ({ ref: name, next: undefined, old: oid }));
  return updateRefs(repository, [...remembered, ...removals]);
}

/** Stores the blobs that remember the tips. Returns the updates of their refs, which may remember former handoffs. */
async function storeMemories(
  repository: Repository,
  deletions: readonly Deletion[],
): Promise<ReadonlyMap<RefName, RefUpdate>> {
  const remembered = deletions.flatMap(({ path, tip }) =>
    tip === undefined ? [] : [{ ref: prunedRef(path), tip }],
  );
  if (remembered.length === 0) return new Map();
  const former = new Map((await listRefNames(repository, [PRUNED])).map(({ name, oid }) => [name, oid]));
  const batch = new ObjectBatch(await objectFormat(repository, remembered[0]?.tip));
  const updates = remembered.map(({ ref, tip }) => {
    return [ref, { ref, next: batch.blob(memoryOf(tip)), old: former.get(ref) }] as const;
  });
  await batch.storeMany({ cwd: repository.cwd });
  return new Map(updates);
}
