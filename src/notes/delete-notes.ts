import type { Oid } from '../domain/names.ts';
import { formatOf, objectName } from '../git/hash.ts';
import {
  ACKS,
  HANDOFFS,
  type HandoffPath,
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

/** Deletes the refs of a handoff and their logs in one transaction, each ref by compare-and-swap from what was read. */
export async function deleteAllRefs(
  repository: Repository,
  refs: readonly DeletedRef[],
): Promise<TransactionResult> {
  const sorted = [...refs].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const updates = sorted.map(({ name, oid }) => ({ ref: name, next: undefined, old: oid }));
  const result = await updateRefs(repository, updates);
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

/** Records a deletion, so that a sync with a remote that still has this very commit does not bring the handoff back. */
export async function rememberDeleted(repository: Repository, path: HandoffPath, tip: Oid): Promise<void> {
  const ref = prunedRef(path);
  const [former] = (await listRefNames(repository, [ref])).filter(({ name }) => name === ref);
  const batch = new ObjectBatch(await objectFormat(repository, tip));
  const next = batch.blob(memoryOf(tip));
  await batch.store({ cwd: repository.cwd });
  await updateRefs(repository, [{ ref, next, old: former?.oid }]);
}

/** How many topics one transaction deletes; if one topic moves meanwhile, each topic costs its own process. */
const BATCH = 500;

/**
 * Deletes the refs of topics, each by compare-and-swap from what was read: `kept` first, so that a crash in between
 * leaves a normal handoff, not one that looks deleted by hand. Also deletes acknowledgements and work. Records which topics
 * a remote has shown, so that the next `sync` does not bring them back. Returns the deleted topics, not those that moved.
 */
export async function deleteTopics(
  repository: Repository,
  topics: readonly TopicState[],
): Promise<TopicState[]> {
  const beside = await listBookkeeping(repository, [ACKS, REMOTE, WORK]);
  const memories = await storeMemories(repository, topics, beside);
  const remove = (some: readonly TopicState[]) => deleted(repository, some, beside, memories);
  const gone: TopicState[] = [];
  for (let at = 0; at < topics.length; at += BATCH) {
    const batch = topics.slice(at, at + BATCH);
    if (await remove(batch)) gone.push(...batch);
    else for (const one of batch) if (await remove([one])) gone.push(one);
  }
  return gone;
}

/** Stores the blobs that remember the tips that a remote may still have. */
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
  const known = topics.flatMap((state) =>
    state.tip !== undefined && shown.has(handoffRef(state.path)) ? [{ state, tip: state.tip.oid }] : [],
  );
  if (known.length === 0) return new Map();
  const batch = new ObjectBatch(await objectFormat(repository, known[0]?.tip));
  const memories = new Map(known.map(({ state, tip }) => [state, batch.blob(memoryOf(tip))]));
  await batch.storeMany({ cwd: repository.cwd });
  return memories;
}

/** Deletes topics in one transaction; `beside`: refs among which are their acknowledgements and work. */
async function deleted(
  repository: Repository,
  topics: readonly TopicState[],
  beside: readonly RefValue[],
  memories: ReadonlyMap<TopicState, Oid>,
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
