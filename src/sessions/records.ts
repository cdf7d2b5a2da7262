import type { Oid, SessionId } from '../domain/names.ts';
import {
  type Liveness,
  type SessionEnd,
  type SessionRecord,
  formatRecord,
  judgeLiveness,
  parseRecord,
} from '../domain/session.ts';
import { utf8 } from '../git/binary-text.ts';
import { LIVE, liveRef, parseLiveRef } from '../git/namespace.ts';
import { ObjectBatch } from '../git/object-batch.ts';
import { updateRefs } from '../git/ref-updates.ts';
import { type Ref, listRefs } from '../git/refs.ts';
import { type InRepository, objectFormat } from '../git/repository.ts';
import { lastCall } from '../host/folders.ts';
import type { ProcessTable } from '../host/processes.ts';

/** A session's record with its place and the value that the next swap starts from. */
export interface StoredSession {
  readonly worktreeId: string;
  readonly oid: Oid;
  readonly record: SessionRecord;
}

/** A stored session, judged. */
export interface JudgedSession extends StoredSession {
  readonly liveness: Liveness;
  /** Milliseconds since its last call. */
  readonly silentMs: number | undefined;
}

/** Every session on record, of all worktrees, in one process. */
export async function listSessions(repository: InRepository, timeoutMs?: number): Promise<StoredSession[]> {
  const refs = await listRefs(repository, [LIVE], {
    content: true,
    timeoutMs,
  });
  return sessionsFrom(refs);
}

/** The session records among refs that were listed with their content. */
export function sessionsFrom(refs: readonly Ref[]): StoredSession[] {
  return refs.flatMap((ref) => {
    const place = parseLiveRef(ref.name);
    const record = parseRecord(utf8(ref.content));
    if (place === undefined || record === undefined || record.session !== place.session) return [];
    return [{ worktreeId: place.worktreeId, oid: ref.oid, record }];
  });
}

/** The client of each session, as its record tells. */
export function clientsOf(sessions: readonly StoredSession[]): ReadonlyMap<SessionId, string> {
  return new Map(sessions.map(({ record }) => [record.session, record.client]));
}

/** The same, asked for where a message has to name a session. What git does not answer in time is not known. */
export async function readClients(
  repository: InRepository,
  timeoutMs?: number,
): Promise<ReadonlyMap<SessionId, string>> {
  return clientsOf(await listSessions(repository, timeoutMs).catch(() => []));
}

/** Judges sessions by the process table and their last call. `now` in milliseconds since the epoch. */
export function judgeSessions(
  sessions: readonly StoredSession[],
  commonDir: string,
  table: ProcessTable,
  staleAfterMs: number,
  now: number,
): JudgedSession[] {
  return sessions.map((session) => {
    const { session: id, startedAt } = session.record;
    const silentMs = Math.max(0, now - (lastCall(commonDir, id) ?? startedAt));
    const liveness = judgeLiveness(session.record, {
      bootId: table.bootId,
      pidNs: table.pidNs,
      startOf: table.runningSince,
      silentMs,
      staleAfterMs,
    });
    return { ...session, liveness, silentMs };
  });
}

/** Creates or replaces a session's record by compare-and-swap. False when another process was first. */
export async function putRecord(
  repository: InRepository,
  worktree: string,
  record: SessionRecord,
  old: Oid | undefined,
): Promise<boolean> {
  const batch = new ObjectBatch(await objectFormat(repository, old));
  const next = batch.blob(Buffer.from(formatRecord(record)));
  if (next === old) return true;
  await batch.store({ cwd: repository.cwd });
  const ref = liveRef(worktree, record.session);
  const result = await updateRefs(repository, [{ ref, next, old }]);
  return result.kind === 'done';
}

/** Swaps a session's record to `ended`. */
export async function endSession(
  repository: InRepository,
  stored: StoredSession,
  end: SessionEnd,
): Promise<boolean> {
  return putRecord(repository, stored.worktreeId, { ...stored.record, ended: end }, stored.oid);
}

/** Removes records by compare-and-swap; one that changed meanwhile stays. */
export async function removeRecords(
  repository: InRepository,
  sessions: readonly StoredSession[],
): Promise<void> {
  for (const { worktreeId, record, oid } of sessions) {
    await updateRefs(repository, [{ ref: liveRef(worktreeId, record.session), next: undefined, old: oid }]);
  }
}
