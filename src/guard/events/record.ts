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
import type { TreeCall } from '../call.ts';

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
  call: TreeCall,
  known: Parted,
  table: ProcessTable,
): Promise<SessionRecord> {
  const worktree = worktreeId(call.tree.gitDir);
  let { own, others } = known;
  for (let tries = 1; ; tries += 1) {
    const record = describe(call, own, others, table);
    if (isSameRecord(own?.record, record)) return record;
    const repository = await openRepository(call.tree.folder);
    if ((await putRecord(repository, worktree, record, own?.oid)) || tries === TRIES) return record;
    ({ own, others } = parted(await judged(call, table), call.session, worktree));
  }
}

/** Whether a record says already what it should. */
export function isSameRecord(known: SessionRecord | undefined, record: SessionRecord): boolean {
  return JSON.stringify(known) === JSON.stringify(record);
}

/** The sessions on record, of all worktrees, judged. */
export async function judged(
  call: TreeCall,
  table: ProcessTable,
  listed?: readonly StoredSession[],
): Promise<JudgedSession[]> {
  const sessions = listed ?? (await listSessions({ cwd: call.tree.folder }, call.budget.left()));
  return judgeSessions(sessions, call.tree.commonDir, table, call.settings.staleAfterMs, call.now);
}

/** The record of the calling session as it should be. */
export function describe(
  call: TreeCall,
  own: JudgedSession | undefined,
  others: readonly JudgedSession[],
  table: ProcessTable,
): SessionRecord {
  const chain = clientChain(call, table);
  const [client] = chain;
  const isStart = call.event.kind === 'session-start';
  const known = own?.record;
  const keep = isOpen(known) && own?.liveness === 'live';
  // It goes on calling although that process is gone: it was no client, but what started the hook. Its calls count then.
  const isUnknown = isOpen(known) && !isStart && (known.pid === null || own?.liveness === 'dead');
  const recorded = keep ? known : isUnknown ? undefined : client;
  return {
    v: 1,
    session: call.session,
    client: call.dialect.client,
    pid: recorded?.pid ?? null,
    start: recorded?.start ?? null,
    bootId: table.bootId,
    pidNs: table.pidNs,
    parent: known?.parent ?? parentSession(chain.slice(1), others),
    succeeds: known?.succeeds ?? (isStart ? succeeded(call, client, others) : null),
    startedAt: known?.startedAt ?? call.now,
    ended: null,
    ...(isVisitor(call, known) ? { visiting: true } : {}),
  };
}

/** Whether a session is here by its calls alone. Who has worked here is no visitor, wherever its next call is made. */
export function isVisitor({ tree }: TreeCall, known: SessionRecord | undefined): boolean {
  return tree.visiting === true && (!isOpen(known) || known.visiting === true);
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
  call: TreeCall,
  client: { pid: number; start: string } | undefined,
  others: readonly JudgedSession[],
): SessionId | null {
  if (call.event.source !== 'clear' || client === undefined) return null;
  const former = others
    .filter(
      ({ record }) =>
        record.ended?.reason === 'clear' && record.pid === client.pid && record.start === client.start,
    )
    .sort((a, b) => (b.record.ended?.at ?? 0) - (a.record.ended?.at ?? 0));
  return former[0]?.record.session ?? null;
}
