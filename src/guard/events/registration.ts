import { type SessionId, shortId } from '../../domain/names.ts';
import type { ProcessId, SessionRecord } from '../../domain/session.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { openRepository } from '../../git/repository.ts';
import { beat, worktreeId } from '../../host/folders.ts';
import { type ProcessTable, ancestorsOf, processTable } from '../../host/processes.ts';
import { registeredProcesses, rememberRegistration } from '../../sessions/registered.ts';
import { isSolo, removeSolo, writeSolo } from '../../sessions/solo.ts';
import {
  type JudgedSession,
  type StoredSession,
  judgeSessions,
  listSessions,
  putRecord,
} from '../../sessions/records.ts';
import { rememberRepository } from '../../sessions/visits.ts';
import { isPaused } from '../../changes/windows.ts';
import type { Company } from '../effects/arrival.ts';
import { clientChain } from '../presence.ts';
import type { Scene } from '../scene.ts';

/** A session that is on record, and who else is. */
export interface Registered {
  readonly record: SessionRecord;
  /** It was on no record of this worktree before. */
  readonly isNew: boolean;
  /** Other sessions of the repository, judged. */
  readonly others: readonly JudgedSession[];
  /** Pid of another live process with the same session id that this one is to be told of. */
  readonly twin: number | undefined;
  /** What the session is to be told of the others' work here. */
  readonly notices: readonly string[];
}

/**
 * Puts the calling session on record in this worktree, or brings its record up to date: its process,
 * the session it was started in, the conversation it carries on. Then says whether it is alone.
 *
 * @param listed the sessions on record, where they were listed a moment ago
 */
export async function register(
  scene: Scene,
  session: SessionId,
  listed?: readonly StoredSession[],
): Promise<Registered | undefined> {
  const { place } = scene;
  if (place === undefined) return undefined;
  const table = processTable();
  const worktree = worktreeId(place.gitDir);
  const sessions = await judged(scene, table, listed);
  const own = sessions.find((one) => one.record.session === session && one.worktreeId === worktree);
  const others = sessions.filter((one) => one.record.session !== session);
  const record = describe(scene, session, own, others, table);
  const changed = own === undefined || JSON.stringify(own.record) !== JSON.stringify(record);
  if (changed) {
    const repository = await openRepository(scene.folder);
    await putRecord(repository, worktree, record, own?.oid);
    if (own === undefined || own.record.ended !== null) removeForeignSolo(place.gitDir, session);
  }
  beat(place.commonDir, session, scene.event.name);
  rememberRepository(scene.env, place.commonDir);
  const [client] = clientChain(scene, table);
  const twin = findTwin(place, session, own, client, table);
  const isNews = rememberRegistration(place, session, client, twin);
  const alone = twin === undefined && (await settleSolo(scene, record, worktree, others, changed));
  if (twin !== undefined) removeSolo(place.gitDir);
  const notices = await openLedger(scene, place, session, {
    alone,
    isBack: own === undefined || own.record.ended !== null || isRisen(place, worktree, own),
    peers: peersIn(worktree, others),
    gone: goneFrom(worktree, others),
    former: record.succeeds,
  });
  return { record, isNew: own === undefined, others, twin: isNews ? twin?.pid : undefined, notices };
}

/** A lone session remembers what was dirty when it began; one that arrives settles what the others changed. */
async function openLedger(
  scene: Scene,
  place: FoundRepository,
  session: SessionId,
  { alone, isBack, ...company }: { alone: boolean; isBack: boolean } & Company,
): Promise<string[]> {
  if (!alone && !isBack) return [];
  const { arrive, beginAlone } = await import('../effects/arrival.ts');
  if (!alone) return arrive(scene, place, session, company);
  await beginAlone(scene, place, session, company);
  return [];
}

/** Its process had died, others have been here since, and it was resumed. */
function isRisen({ commonDir }: FoundRepository, worktreeId: string, own: JudgedSession): boolean {
  return own.liveness === 'dead' && isPaused({ commonDir, worktreeId }, own.record.session);
}

function goneFrom(worktree: string, others: readonly JudgedSession[]): SessionId[] {
  return others
    .filter((one) => one.worktreeId === worktree && (one.liveness === 'dead' || one.liveness === 'ended'))
    .map(({ record }) => record.session);
}

function peersIn(worktree: string, others: readonly JudgedSession[]): SessionId[] {
  return others
    .filter((one) => one.worktreeId === worktree && one.liveness === 'live')
    .map(({ record }) => record.session);
}

/** Another process of this session that is alive, and is neither above nor below the caller's. */
function findTwin(
  place: FoundRepository,
  session: SessionId,
  own: JudgedSession | undefined,
  client: ProcessId | undefined,
  table: ProcessTable,
): ProcessId | undefined {
  if (client === undefined) return undefined;
  const { pid, start } = own?.liveness === 'live' ? own.record : { pid: null, start: null };
  const known = pid === null || start === null ? [] : [{ pid, start }];
  const isAbove = (one: ProcessId, other: ProcessId) =>
    ancestorsOf(other.pid, table).some((above) => above.pid === one.pid && above.start === one.start);
  return [...known, ...registeredProcesses(place, session)].find(
    (one) => table.runningSince(one.pid) === one.start && !isAbove(one, client) && !isAbove(client, one),
  );
}

async function judged(
  scene: Scene,
  table: ProcessTable,
  listed?: readonly StoredSession[],
): Promise<JudgedSession[]> {
  const sessions = listed ?? (await listSessions({ cwd: scene.folder }, scene.budget.left()));
  return judgeSessions(sessions, scene.place?.commonDir ?? '', table, scene.settings.staleAfterMs, scene.now);
}

function describe(
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
  // A pid that was wrong or is gone while the session still calls is replaced by the process that calls now.
  const keep = keepsRecord(known) && own?.liveness === 'live';
  return {
    v: 1,
    session,
    client: scene.dialect.client,
    pid: keep ? known.pid : (client?.pid ?? null),
    start: keep ? known.start : (client?.start ?? null),
    bootId: table.bootId,
    pidNs: table.pidNs,
    parent: known?.parent ?? parentSession(chain.slice(1), others),
    succeeds: known?.succeeds ?? (isStart ? succeeded(scene, client, others) : null),
    startedAt: known?.startedAt ?? scene.now,
    ended: null,
    // Who has worked in it does not become a visitor, wherever its next call is made.
    ...(scene.visiting === true && (!keepsRecord(known) || known.visiting === true)
      ? { visiting: true }
      : {}),
  };
}

/** It has not ended. */
function keepsRecord(known: SessionRecord | undefined): known is SessionRecord {
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

function removeForeignSolo(gitDir: string, session: SessionId): void {
  if (!isSolo(gitDir, session)) removeSolo(gitDir);
}

/**
 * Writes or removes the file that lets the sh fast path decide alone. True when the session is alone from now on:
 * it was not before.
 */
async function settleSolo(
  scene: Scene,
  record: SessionRecord,
  worktree: string,
  others: readonly JudgedSession[],
  changed: boolean,
): Promise<boolean> {
  const gitDir = scene.place?.gitDir ?? '';
  const hasPeer = (sessions: readonly JudgedSession[]) =>
    peersIn(worktree, sessions).some((peer) => peer !== record.session);
  // sh knows nothing of further guarded paths: then Node decides every call. What a visitor changes is claimed at once:
  // all else that changes here is not its own.
  if (hasPeer(others) || record.visiting === true || scene.settings.guardPath.length > 0) {
    removeSolo(gitDir);
    return false;
  }
  const was = isSolo(gitDir, record.session);
  if (!changed && was) return false;
  writeSolo(gitDir, record);
  if (!hasPeer(await judged(scene, processTable()))) return !was;
  removeSolo(gitDir);
  return false;
}

/** The line that both processes of one session id are told. */
export function twinWarning(session: SessionId, pid: number): string {
  return (
    `Session ${shortId(session)} also runs as process ${pid}; the two cannot be told apart and may ` +
    'overwrite each other. End one of them. Who is live: git handoff sessions'
  );
}
