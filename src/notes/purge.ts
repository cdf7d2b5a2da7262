import { type Oid, type RefName, parseOid } from '../domain/names.ts';
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
import { type TransactionResult, updateRefs } from '../git/ref-updates.ts';
import { type RefValue, listRefNames } from '../git/refs.ts';
import type { InRepository, Repository } from '../git/repository.ts';
import { git, gitFailure, runGit } from '../git/run.ts';
import { listBookkeeping } from '../git/migrate-ref-lists.ts';

export type PurgedKind = 'handoff' | 'kept' | 'lost' | 'ack' | 'work' | 'tracking';

/** A ref of one handoff. */
export interface PurgedRef extends RefValue {
  readonly kind: PurgedKind;
  /** For a tracking ref, and for work that was sent. */
  readonly remote: string | null;
}

/** Every ref that holds anything of one handoff, whether its objects can be read or not. */
export async function refsOf(repository: InRepository, path: HandoffPath): Promise<PurgedRef[]> {
  const place = handoffRef(path).slice(HANDOFFS.length);
  const [lost, acks, work] = [lostPrefix(path), ackRef(path, ''), workPrefix(path)];
  // A ref name holds none of the characters that would make it a pattern (git-check-ref-format(1)).
  const unpacked = `${UNPACKED}${place}/`;
  const elsewhere = [`${REMOTE}*/${place}`, `${SENT}*/${place}/*`];
  const patterns = [handoffRef(path), keptRef(path), lost, acks, work, unpacked, ...elsewhere];
  const refs = await listBookkeeping(repository, patterns);
  const kindOf = (name: RefName): PurgedKind | undefined => {
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

/** What goes first; the handoff itself last, so that a crash in between leaves it where everybody looks. */
const ORDER: readonly PurgedKind[] = ['tracking', 'ack', 'work', 'lost', 'kept', 'handoff'];

/** Deletes the refs of a handoff in one transaction, each by compare-and-swap from what was read, and their logs with them. */
export async function deleteRefs(
  repository: Repository,
  refs: readonly PurgedRef[],
): Promise<TransactionResult> {
  const sorted = [...refs].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const updates = sorted.map(({ name, oid }) => ({ ref: name, next: undefined, old: oid }));
  const result = updates.length === 0 ? ({ kind: 'done' } as const) : await updateRefs(repository, updates);
  if (result.kind === 'done') await dropOldTables(repository);
  return result;
}

/** With reftable the names and logs of deleted refs stand in older tables until those are made one. */
async function dropOldTables({ cwd, commonDir }: Repository): Promise<void> {
  const storage = await runGit(['config', '--get', 'extensions.refStorage'], { cwd });
  if (storage.stdout.toString('utf8').trim() !== 'reftable') return;
  const packed = await runGit(['--git-dir', commonDir, 'pack-refs', '--all'], { cwd });
  if (packed.code !== 0) throw gitFailure('pack-refs', packed);
}

/** The blob by which a handoff is remembered as deleted (`prunedRef`) at this commit. */
export const memoryOf = (tip: Oid): string => `${tip}\n`;

/** Remembers that it was removed, so that a sync with a remote that still has this very commit does not bring it back. */
export async function rememberPurged(repository: InRepository, path: HandoffPath, tip: Oid): Promise<void> {
  const { cwd } = repository;
  const ref = prunedRef(path);
  const [former] = (await listRefNames(repository, [ref])).filter(({ name }) => name === ref);
  const stored = await git(['hash-object', '-w', '--stdin'], { cwd, input: memoryOf(tip) });
  await updateRefs(repository, [{ ref, next: parseOid(stored.trim()), old: former?.oid }]);
}

/** Refs of a handoff that have a log and may have no value: of itself, and of what remotes (their ref components) showed. */
export async function staleLogs(
  repository: InRepository,
  path: HandoffPath,
  remotes: readonly string[],
  more: readonly RefName[] = [],
): Promise<RefName[]> {
  const place = handoffRef(path).slice(HANDOFFS.length);
  const tracking = remotes.map((component) => `${REMOTE}${component}/${place}` as RefName);
  const stale: RefName[] = [];
  for (const ref of new Set([handoffRef(path), keptRef(path), ...tracking, ...more])) {
    const { code } = await runGit(['reflog', 'exists', ref], { cwd: repository.cwd });
    if (code === 0) stale.push(ref);
  }
  return stale;
}

/** Removes logs without a ref. git removes a ref's log along with the ref, so one is made for each, of an empty tree. */
export async function deleteLogs(repository: InRepository, refs: readonly RefName[]): Promise<void> {
  if (refs.length === 0) return;
  const { cwd } = repository;
  const tree = parseOid(
    (await git(['hash-object', '-w', '-t', 'tree', '--stdin'], { cwd, input: '' })).trim(),
  );
  for (const ref of refs) {
    const made = await updateRefs(repository, [{ ref, next: tree, old: undefined }]);
    // Otherwise somebody has just written that handoff anew, and the log is theirs.
    if (made.kind === 'done') await updateRefs(repository, [{ ref, next: undefined, old: tree }]);
  }
}
