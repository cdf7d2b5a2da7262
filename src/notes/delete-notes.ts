import type { Oid, RefName } from '../domain/names.ts';
import {
  type Apart,
  decideRelation,
  localOnly,
  type RemoteRelation,
  summariseRemotes,
} from '../domain/tracking/relation.ts';
import { formatOf, objectName } from '../git/hash.ts';
import { historyOf, type Parents, walkEach } from '../git/histories.ts';
import { listBookkeeping } from '../git/migrate-ref-lists.ts';
import {
  ackRef,
  ACKS,
  decodeRemote,
  type HandoffPath,
  handoffRef,
  HANDOFFS,
  keptRef,
  lostPrefix,
  parseTrackingRef,
  placeName,
  PRUNED,
  prunedRef,
  REMOTE,
  SENT,
  UNPACKED,
  WORK,
  workPrefix,
} from '../git/namespace.ts';
import { ObjectBatch } from '../git/objects.ts';
import {
  listRefNames,
  type RefUpdate,
  type RefValue,
  type TransactionResult,
  updateRefs,
} from '../git/refs.ts';
import { type InRepository, objectFormat, type Repository } from '../git/repository.ts';
import { gitFailure, runGit } from '../git/run.ts';
import type { Budget } from '../host/io.ts';
import type { TopicState } from './topic.ts';

export type DeletedKind = 'handoff' | 'kept' | 'lost' | 'ack' | 'work' | 'tracking';

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

interface Deletion {
  readonly path: HandoffPath;
  readonly refs: readonly RefValue[];
  /** The commit that a remote may still have; `undefined`: no remote can have the handoff. */
  readonly tip: Oid | undefined;
}

/** Deletes every ref of a handoff with its log. Afterwards no table of reftable holds a deleted ref either. */
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

/** The blob that `prunedRef` points at: the name of the commit at which a handoff was deleted. */
const memoryOf = (tip: Oid) => Buffer.from(`${tip}\n`);

/** The object name of the blob that `prunedRef` points at. */
export const memoryName = (tip: Oid): Oid => objectName(formatOf(tip), 'blob', memoryOf(tip)) as Oid;

/** How many topics one transaction deletes. If one of them moves meanwhile, each of them gets a transaction of its own. */
const BATCH = 500;

/** Deletes the refs of topics, with acknowledgements and work. Returns the deleted topics, not those that moved meanwhile. */
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
      // `kept` is deleted first, so that a crash in between leaves a normal handoff, not one that looks deleted by hand.
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
 * Deletes the refs of handoffs in one transaction, each by compare-and-swap from what was read. It also records the commits
 * that a remote may still have, so that a sync with that remote does not bring the handoffs back.
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

/** Stores the blobs that remember the tips. Returns the updates of their refs, which may exist from an earlier deletion. */
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

/** The time limit for counting, more than any repository needs; after it, counts are `unknown`. Milliseconds. */
const COUNTING_MS = 2000;

/** A handoff and its effective tip in this clone. */
export interface LocalTip {
  readonly path: HandoffPath;
  readonly oid: Oid | undefined;
}

/**
 * Compares local tips with tracking refs, offline. A git process is started only if some tips differ. Returns how a handoff
 * relates to each remote that was ever asked, and a summary of each remote. `refs`: the tracking refs, and those that record
 * deletions here; others are ignored.
 */
export async function compareWithRemotes(
  repository: InRepository,
  refs: readonly RefValue[],
  tips: readonly LocalTip[],
  budget: Budget,
) {
  const remotes = byRemote(refs);
  const local = new Map(tips.flatMap(({ path, oid }) => (oid === undefined ? [] : [[placeName(path), oid]])));
  const deleted = new Map(
    refs.flatMap(({ name, oid }) => (name.startsWith(PRUNED) ? [[name as string, oid]] : [])),
  );
  const isDeleted = (place: string, copy: Oid) => deleted.get(PRUNED + place) === memoryName(copy);
  const pairs = new Map<string, TipPair>();
  const remoteOnly = new Map<string, number>();
  for (const [remote, copies] of remotes) {
    for (const [place, copy] of copies) {
      const tip = local.get(place);
      if (tip === undefined) {
        if (isHandoff(place) && !isDeleted(place, copy))
          remoteOnly.set(remote, (remoteOnly.get(remote) ?? 0) + 1);
      } else if (tip !== copy) pairs.set(`${remote} ${place}`, { local: tip, remote: copy });
    }
  }
  const { cwd } = repository;
  const timeoutMs = budget.part(COUNTING_MS).left();
  const tipsOf = ({ local: ours, remote }: TipPair) => [ours, remote];
  // If the time runs out, no count is known.
  const walks = await walkEach({ cwd, timeoutMs }, [...pairs.values()], tipsOf).catch(() => undefined);
  const apart = new Map([...pairs].map(([key, pair]) => [key, countApart(pair, walks?.get(pair))]));
  const relate = (place: string) =>
    [...remotes].map(([remote, copies]) => {
      if (!copies.has(place)) return localOnly(remote);
      const key = `${remote} ${place}`;
      return decideRelation(remote, apart.has(key) ? apart.get(key) : { ahead: 0, behind: 0 });
    });
  const relations = new Map([...local.keys()].map((place) => [place, relate(place)]));
  return {
    of: (path: HandoffPath): readonly RemoteRelation[] => relations.get(placeName(path)) ?? [],
    summary: summariseRemotes([...remotes.keys()], [...relations.values()].flat(), remoteOnly),
  };
}

interface TipPair {
  readonly local: Oid;
  readonly remote: Oid;
}

/** Counts the commits that only one side has; `undefined` if the histories could not be read. */
function countApart({ local, remote }: TipPair, walked: Parents | string | undefined): Apart | undefined {
  if (typeof walked !== 'object' || !walked.has(local) || !walked.has(remote)) return undefined;
  const [ours, theirs] = [historyOf(walked, local), historyOf(walked, remote)];
  const without = (some: ReadonlySet<Oid>, others: ReadonlySet<Oid>) =>
    [...some].filter((commit) => !others.has(commit)).length;
  return { ahead: without(ours, theirs), behind: without(theirs, ours) };
}

/** The tips that each remote showed, by place (`<branch>/<topic>` as refs spell it). */
function byRemote(refs: readonly RefValue[]): Map<string, Map<string, Oid>> {
  const components = new Map<string, Map<string, Oid>>();
  for (const { name, oid } of refs) {
    if (!name.startsWith(REMOTE)) continue;
    const slash = name.indexOf('/', REMOTE.length);
    if (slash < 0) continue;
    const component = name.slice(REMOTE.length, slash);
    const copies = components.get(component) ?? new Map<string, Oid>();
    components.set(component, copies.set(name.slice(slash + 1), oid));
  }
  return new Map([...components].map(([component, copies]) => [decodeRemote(component), copies]));
}

/** Whether a handoff can have this name: a ref of any other name is not fetched. */
const isHandoff = (place: string) => parseTrackingRef(`${REMOTE}x/${place}`) !== undefined;
