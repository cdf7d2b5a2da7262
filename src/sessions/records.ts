import { ago } from '../domain/messages.ts';
import type { SessionGroups } from '../domain/ledger/ownership.ts';
import {
  type Oid,
  type SessionId,
  type WithClients,
  agentOfOwner,
  peerName,
  sessionOfOwner,
} from '../domain/names.ts';
import {
  type Liveness,
  type SessionRecord,
  formatRecord,
  judgeLiveness,
  parseRecord,
  related,
  succeededBy,
} from '../domain/session.ts';
import { LIVE, liveRef, parseLiveRef } from '../git/namespace.ts';
import { ObjectBatch } from '../git/objects.ts';
import { utf8 } from '../git/run.ts';
import { listRefs, type Ref, updateRefs } from '../git/refs.ts';
import { type InRepository, objectFormat } from '../git/repository.ts';
import { statOf } from '../host/disk.ts';
import { journalFile, lastCall, lastEvent } from '../host/folders.ts';
import { type ProcessTable, stillRuns } from '../host/processes.ts';

/** A session's record, its worktree, and the object name that the next update of its ref expects. */
export interface StoredSession {
  readonly worktreeId: string;
  readonly oid: Oid;
  readonly record: SessionRecord;
}

export interface JudgedSession extends StoredSession {
  readonly liveness: Liveness;
  /** Milliseconds since its last call. */
  readonly silentMs: number | undefined;
  /** Whether it is live and does not wait for its user. If so, only a person may take what it owns. */
  readonly isAtWork: boolean;
}

/** Reads the sessions on record in all worktrees, with one git process. */
export async function listSessions(repository: InRepository, timeoutMs?: number): Promise<StoredSession[]> {
  return sessionsFrom(await listRefs(repository, [LIVE], { content: true, timeoutMs }));
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

/** Returns the client of each session, as its record has it. */
export function clientsOf(sessions: readonly StoredSession[]): ReadonlyMap<SessionId, string> {
  return new Map(sessions.map(({ record }) => [record.session, record.client]));
}

/** Reads the client of each session on record, for a message that names one; empty if git does not answer in time. */
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
  return sessions.map((stored) => {
    const session = isOfCopiedClone(stored.record, commonDir) ? asEnded(stored) : stored;
    const { session: id, startedAt } = session.record;
    const silentMs = Math.max(0, now - (lastCall(commonDir, id) ?? startedAt));
    const liveness = judgeLiveness(session.record, {
      bootId: table.bootId,
      pidNs: table.pidNs,
      stillRuns: (process) => stillRuns(process, table),
      silentMs,
      staleAfterMs,
    });
    const isAtWork = liveness === 'live' && !waitsForUser(session.record, commonDir, silentMs);
    return { ...session, liveness, silentMs, isAtWork };
  });
}

/**
 * Whether the record was copied here with another clone (`cp -r`): both clones have the session's journal. False if the other
 * clone is not found: it was moved to this place, or its folder has another name in its container or machine.
 */
function isOfCopiedClone({ session, clone }: SessionRecord, commonDir: string): boolean {
  if (clone === null || clone === commonDir) return false;
  const [here, there] = [commonDir, clone].map((folder) => statOf(journalFile(folder, session)));
  return here !== undefined && there !== undefined && (here.ino !== there.ino || here.dev !== there.dev);
}

/** In the copy, the session counts as over, even if it goes on in the original. */
const asEnded = (stored: StoredSession): StoredSession => ({
  ...stored,
  record: { ...stored.record, ended: { at: stored.record.startedAt, reason: 'copied' } },
});

/** The clients that report the end of each turn. */
const REPORTING = new Set(['claude', 'codex', 'copilot', 'cursor', 'gemini', 'grok', 'qwen']);
/** A session of any other client counts as waiting for its user after this time without a call. Milliseconds. */
const QUIET_MS = 10 * 60_000;

function waitsForUser({ session, client }: SessionRecord, commonDir: string, silentMs: number): boolean {
  return idleSince(commonDir, session) !== undefined || (!REPORTING.has(client) && silentMs >= QUIET_MS);
}

/** Creates a session's record, or replaces the one that `old` names. False when another process was first. */
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

/** Removes records; a record that has changed meanwhile stays. */
export async function removeRecords(
  repository: InRepository,
  sessions: readonly StoredSession[],
): Promise<void> {
  for (const { worktreeId, record, oid } of sessions) {
    await updateRefs(repository, [{ ref: liveRef(worktreeId, record.session), next: undefined, old: oid }]);
  }
}

/**
 * Groups the sessions: `own` are the asking session, those whose conversation it continues, its parents and its children;
 * `foreign` are the other live sessions. A session that is over, or may be, is not foreign. For a person, `own` is empty. For
 * a sub-agent, its running siblings are foreign; for everybody else, a sub-agent is in the group of its session.
 *
 * @param asking an owner, or `undefined` for a person
 * @param agents the running sub-agents, as owners
 */
export function groupSessions(
  asking: SessionId | undefined,
  sessions: readonly JudgedSession[],
  agents: readonly SessionId[],
): SessionGroups {
  const session = asking === undefined ? undefined : sessionOfOwner(asking);
  const records = sessions.map(({ record }) => record);
  const own = new Set<SessionId>();
  if (session !== undefined) {
    for (const id of [session, ...succeededBy(session, records)]) own.add(id);
    for (const { session: other } of records) if (related(session, other, records)) own.add(other);
  }
  // A conversation that continues after `/clear` still owns the work of its former id.
  const idsOf = (some: readonly JudgedSession[]) =>
    some.flatMap(({ record: { session: id } }) => [id, ...succeededBy(id, records)]);
  const live = sessions.filter(({ liveness }) => liveness === 'live');
  const foreign = new Set(idsOf(live).filter((id) => !own.has(id)));
  const atWork = new Set(idsOf(live.filter((one) => one.isAtWork)));
  const idle = new Set([...foreign].filter((id) => !atWork.has(id)));
  for (const agent of agents) {
    const of = sessionOfOwner(agent);
    const isSibling = asking !== session && asking !== agent && of === session;
    if (isSibling || foreign.has(of)) foreign.add(agent);
    else if (own.has(of)) own.add(agent);
  }
  return { own, foreign, idle, clients: clientsOf(sessions) };
}

/** Since when a session waits for its user, in milliseconds since the epoch; `undefined`: it is at work, or we do not know. */
function idleSince(commonDir: string, session: SessionId): number | undefined {
  if (agentOfOwner(session) !== undefined) return undefined;
  return lastEvent(commonDir, session) === 'stop' ? lastCall(commonDir, session) : undefined;
}

/** Returns "claude aaaaaaaa went idle 2 minutes ago. " for each idle session, which hears nothing until its user returns. */
export function idleText(
  commonDir: string,
  sessions: Iterable<SessionId>,
  records: WithClients,
  now: number,
): string {
  const texts = [...new Set(sessions)].flatMap((session) => {
    const since = idleSince(commonDir, session);
    return since === undefined ? [] : [`${peerName(session, records)} went idle ${ago(since, now)}. `];
  });
  return texts.join('');
}
