import type { SessionId } from '../../domain/names.ts';
import type { SessionRecord } from '../../domain/session.ts';
import { openRepository } from '../../git/repository.ts';
import { worktreeId } from '../../host/folders.ts';
import type { ProcessTable } from '../../host/processes.ts';
import {
  type JudgedSession,
  type StoredSession,
  judgeSessions,
  listSessions,
  putRecord,
} from '../../sessions/records.ts';
import { clientChain } from '../presence.ts';
import type { Scene } from '../scene.ts';

/** A session's own record in this worktree, and those of other sessions anywhere. */
export interface Parted {
  readonly own: JudgedSession | undefined;
  readonly others: readonly JudgedSession[];
}

/** Parts a session's own record from the others. */
export function parted(sessions: readonly JudgedSession[], session: SessionId, worktree: string): Parted {
  return {
    own: sessions.find((one) => one.record.session === session && one.worktreeId === worktree),
    others: sessions.filter((one) => one.record.session !== session),
  };
}

/** How often another process of the same session may be first to change the record. */
const TRIES = 5;

/** Creates the session's record or brings it up to date, whatever another process of it does at the same time. */
export async function putOnRecord(
  scene: Scene,
  session: SessionId,
  known: Parted,
  table: ProcessTable,
): Promise<SessionRecord> {
  const worktree = worktreeId(scene.place?.gitDir ?? '');
  let { own, others } = known;
  for (let tries = 1; ; tries += 1) {
    const record = describe(scene, session, own, others, table);
    if (isSameRecord(own?.record, record)) return record;
    const repository = await openRepository(scene.folder);
    if ((await putRecord(repository, worktree, record, own?.oid)) || tries === TRIES) return record;
    ({ own, others } = parted(await judged(scene, table), session, worktree));
  }
}

/** Whether a record says already what it should. */
export function isSameRecord(known: SessionRecord | undefined, record: SessionRecord): boolean {
  return JSON.stringify(known) === JSON.stringify(record);
}

/** The sessions on record, of all worktrees, judged. */
export async function judged(
  scene: Scene,
  table: ProcessTable,
  listed?: readonly StoredSession[],
): Promise<JudgedSession[]> {
  const sessions = listed ?? (await listSessions({ cwd: scene.folder }, scene.budget.left()));
  return judgeSessions(sessions, scene.place?.commonDir ?? '', table, scene.settings.staleAfterMs, scene.now);
}

/** The record of the calling session as it should be. */
export function describe(
  scene: Scene,
  session: SessionId,
  own: JudgedSession | undefined,
  others: readonly JudgedSession[],
  table: ProcessTable,
): SessionRecord {
  const chain = clientChain(scene, table);
  const [client] = chain;
  const isStart = scene.event.kind === 'session-start';
  const known = own?.record;
  const keep = isOpen(known) && own?.liveness === 'live';
  // It goes on calling although that process is gone: it was no client, but what started the hook. Its calls count then.
  const isUnknown = isOpen(known) && !isStart && (known.pid === null || own?.liveness === 'dead');
  const recorded = keep ? known : isUnknown ? undefined : client;
  return {
    v: 1,
    session,
    client: scene.dialect.client,
    pid: recorded?.pid ?? null,
    start: recorded?.start ?? null,
    bootId: table.bootId,
    pidNs: table.pidNs,
    parent: known?.parent ?? parentSession(chain.slice(1), others),
    succeeds: known?.succeeds ?? (isStart ? succeeded(scene, client, others) : null),
    startedAt: known?.startedAt ?? scene.now,
    ended: null,
    ...(isVisitor(scene, known) ? { visiting: true } : {}),
  };
}

/** Whether a session is here by its calls alone. Who has worked here is no visitor, wherever its next call is made. */
export function isVisitor({ visiting }: Scene, known: SessionRecord | undefined): boolean {
  return visiting === true && (!isOpen(known) || known.visiting === true);
}

/** It has not ended. */
function isOpen(known: SessionRecord | undefined): known is SessionRecord {
  return known !== undefined && known.ended === null;
}

/** The session in whose process tree this one's client runs. */
function parentSession(
  chain: readonly { pid: number; start: string }[],
  others: readonly JudgedSession[],
): SessionId | null {
  for (const { pid, start } of chain) {
    const found = others.find(
      ({ record, liveness }) => liveness === 'live' && record.pid === pid && record.start === start,
    );
    if (found !== undefined) return found.record.session;
  }
  return null;
}

/** Only a conversation that ended by `clear`, in the same process, goes on in the one that starts by `clear`. */
function succeeded(
  scene: Scene,
  client: { pid: number; start: string } | undefined,
  others: readonly JudgedSession[],
): SessionId | null {
  if (scene.event.source !== 'clear' || client === undefined) return null;
  const former = others
    .filter(
      ({ record }) =>
        record.ended?.reason === 'clear' && record.pid === client.pid && record.start === client.start,
    )
    .sort((a, b) => (b.record.ended?.at ?? 0) - (a.record.ended?.at ?? 0));
  return former[0]?.record.session ?? null;
}
