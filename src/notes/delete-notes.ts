import type { Oid, RefName } from '../domain/names.ts';
import { formatOf, objectName } from '../git/hash.ts';
import {
  HANDOFFS,
  type HandoffPath,
  REMOTE,
  SENT,
  UNPACKED,
  ackRef,
  decodeRemote,
  handoffRef,
  keptRef,
  lostPrefix,
  parseTrackingRef,
  prunedRef,
  workPrefix,
} from '../git/namespace.ts';
import { ObjectBatch } from '../git/objects.ts';
import { type RefValue, type TransactionResult, isReftable, listRefNames, updateRefs } from '../git/refs.ts';
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
  const [lost, acks, work] = [lostPrefix(path), ackRef(path, ''), workPrefix(path)];
  // A ref name holds none of the characters that would make it a pattern (git-check-ref-format(1)).
  const unpacked = `${UNPACKED}${place}/`;
  const elsewhere = [`${REMOTE}*/${place}`, `${SENT}*/${place}/*`];
  const patterns = [handoffRef(path), keptRef(path), lost, acks, work, unpacked, ...elsewhere];
  const refs = await listRefNames(repository, patterns);
  const kindOf = (name: RefName): DeletedKind | undefined => {
    if (name === handoffRef(path)) return 'handoff';
    if (name === keptRef(path)) return 'kept';
    if (name.startsWith(lost)) return 'lost';
    if (name.startsWith(acks)) return 'ack';
    if (name.startsWith(work) || name.startsWith(unpacked) || sentTo(name, path) !== null) return 'work';
    return name.startsWith(REMOTE) && name.endsWith(`/${place}`) ? 'tracking' : undefined;
  };
  return refs.flatMap((ref) => {
    const kind = kindOf(ref.name);
    const remote =
      kind === 'tracking' ? (parseTrackingRef(ref.name)?.remote ?? null) : sentTo(ref.name, path);
    return kind === undefined ? [] : [{ ...ref, kind, remote }];
  });
}

/** The remote that a work commit of this handoff was sent to. */
function sentTo(name: RefName, path: HandoffPath): string | null {
  const component = name.startsWith(SENT) ? (name.slice(SENT.length).split('/')[0] ?? '') : '';
  const { topic, component: branch } = path;
  return component !== '' && name.startsWith(`${SENT}${component}/${branch}/${topic}/`)
    ? decodeRemote(component)
    : null;
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

/** Merges the tables of reftable: until then, older ones hold the names and logs of deleted refs. */
async function dropOldTables({ commonDir }: Repository): Promise<void> {
  if (!isReftable(commonDir)) return;
  const packed = await runGit(['--git-dir', commonDir, 'pack-refs', '--all'], { cwd: commonDir });
  if (packed.code !== 0) throw gitFailure('pack-refs', packed);
}

/** The content of the blob by which a handoff is remembered as deleted (`prunedRef`) at this commit. */
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

/**
 * Deletes closed topics with their acknowledgements and work, each by compare-and-swap from what was read; refused texts
 * stay. What a remote has shown is remembered. Returns the deleted topics, not those that moved.
 */
export async function deleteTopics(
  repository: Repository,
  topics: readonly TopicState[],
): Promise<TopicState[]> {
  const gone: TopicState[] = [];
  for (const state of topics) {
    const { path, publicOid, keptOid, tip } = state;
    const refs = await refsOfTopic(repository, path);
    const read: Partial<Record<DeletedKind, Oid | undefined>> = { handoff: publicOid, kept: keptOid };
    // Work that was sent or unpacked is settled by the next sync.
    const going = refs.filter(
      ({ name, kind, remote }) => remote === null && kind !== 'lost' && !name.startsWith(UNPACKED),
    );
    const hasMoved = going.some(({ kind, oid }) => kind in read && read[kind] !== oid);
    if (hasMoved || (await deleteAllRefs(repository, going)).kind !== 'done') continue;
    gone.push(state);
    if (tip !== undefined && refs.some(({ kind }) => kind === 'tracking'))
      await rememberDeleted(repository, path, tip.oid);
  }
  return gone;
}
