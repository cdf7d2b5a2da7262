import { join } from 'node:path';
import {
  type LedgerPlace,
  readJournal,
  readLedger,
  readLedgers,
  reopenJournal,
} from '../../sessions/journal.ts';
import { rememberRepository, type TreeCall, workPlaceOf } from '../call.ts';
import { hasCallsRunning } from '../../changes/windows.ts';
import { runningOwners } from '../../domain/ledger/sub-agents.ts';
import type { SessionId } from '../../domain/names.ts';
import type { SessionRecord, ProcessId } from '../../domain/session.ts';
import { openRepository } from '../../git/repository.ts';
import { beat, ensureFolder, journalsFolder, worktreeId } from '../../host/folders.ts';
import { takeLock } from '../../host/process-lock.ts';
import { type JudgedSession, type StoredSession, clientsOf, putRecord } from '../../sessions/records.ts';
import { claimLoneSession, loneProcess, removeLoneSession } from '../../sessions/lone-session.ts';
import { type Beginning, beginLoneWork, arrive } from '../effects/arrival.ts';
import { clientChain, noteRegistration, readSessions } from '../presence.ts';

/** A session on record, and the other sessions on record. */
export interface Registered {
  readonly record: SessionRecord;
  /** Whether the session was not yet on record in this worktree. */
  readonly isNew: boolean;
  readonly others: readonly JudgedSession[];
  /** What to tell the session about the others' work here. */
  readonly notices: readonly string[];
}

/**
 * Puts the calling session on record in this worktree, or updates its record: its process, the session that started it, the
 * conversation that it continues. Then records whether the session is alone. `listed`: the sessions on record, if just listed.
 *
 * A lock admits one arrival at a time, so that nobody sees a session on record before it keeps a ledger. If the lock fails, the
 * order of the steps still prevents losses: a session writes its start list, its record and the file that says that it is
 * alone, and only then lists who is here. So the later of two sessions sees the other, and both stop counting as alone.
 */
export async function register(call: TreeCall, listed?: readonly StoredSession[]): Promise<Registered> {
  const release = await lockArrivals(call);
  try {
    return await registerIn(call, listed);
  } finally {
    release();
  }
}

/** How long to wait for another session's arrival. Milliseconds. */
const PATIENCE_MS = 1000;

async function lockArrivals({ session, tree, budget, log }: TreeCall): Promise<() => void> {
  const folder = journalsFolder(tree.commonDir);
  try {
    ensureFolder(folder);
    const file = join(folder, `${worktreeId(tree.gitDir)}.arriving`);
    const lock = await takeLock(file, session, Math.min(PATIENCE_MS, budget.left() / 4));
    if (lock.kind === 'held') return lock.release;
    log('open', `session ${lock.by} has not finished its arrival`);
  } catch (error) {
    log('open', `arrivals could not be locked: ${String(error)}`);
  }
  return () => undefined;
}

async function registerIn(call: TreeCall, listed: readonly StoredSession[] | undefined): Promise<Registered> {
  const { session, tree } = call;
  rememberRepository(call.machine.env, tree.commonDir);
  reopenJournal(tree.commonDir, session);
  const place = workPlaceOf(tree);
  let here = await readSessionsHere(call, listed);
  const { own, others } = here;
  // The session may also have been resumed after its process died and others worked here.
  const isResumed = own?.liveness === 'dead' && readLedger(place, session).lasting.paused !== undefined;
  const isBack = own === undefined || own.record.ended !== null || isResumed;
  let record = describe(call, own, others);
  let lone = loneProcess(tree.gitDir)?.session;
  if (lone !== undefined && here.gone.includes(lone)) removeLoneSession(tree.gitDir);
  let isLone = !here.isShared && !isBack && lone === session;
  if (isLone && isSameRecord(own?.record, record)) {
    beat(tree.commonDir, session, call.event.kind);
    noteRegistration(call);
    return { record, isNew: false, others, notices: [] };
  }
  let beginning: Beginning | undefined;
  // We try again if the file names a session that is not on record: it is still arriving, or died while arriving.
  for (let isFirst = true; isFirst || !(isLone || here.isShared); isFirst = false) {
    if (!isLone && !here.isShared) {
      ({ isLone, beginning } = await beginLoneWork(call, record, here.gone));
    }
    record = await putOnRecord(call, here);
    beat(tree.commonDir, session, call.event.kind);
    lone = loneProcess(tree.gitDir)?.session ?? lone;
    if (isLone) claimLoneSession(tree.gitDir, record);
    else removeLoneSession(tree.gitDir);
    here = await readSessionsHere(call);
    if (!isFirst) break;
  }
  const { peers, isShared } = here;
  if (isShared) removeLoneSession(tree.gitDir);
  let notices: readonly string[] = [];
  if (isShared && (isBack || beginning !== undefined || isUnsettled(place, session, peers))) {
    const former = record.succeeds;
    const { gone } = here;
    const clients = clientsOf(here.others);
    notices = await arrive(call, { peers, clients, gone, former, lone, beginning, isBack });
  }
  noteRegistration(call);
  return { record, isNew: own === undefined, others: here.others, notices };
}

/** The sessions on record, as one session sees them from its worktree. */
interface SessionsHere extends OwnAndOthers {
  readonly peers: readonly SessionId[];
  readonly gone: readonly SessionId[];
  /**
   * Whether the session counts as not alone, so that Node decides all its calls: if other sessions or its sub-agents are at
   * work, if it is a visitor (other changes here are not its own), or while a call runs whose changes we have yet to claim.
   * Also true with `handoff.guardPath`, which the launcher (bin/git-handoff) does not know.
   */
  readonly isShared: boolean;
}

async function readSessionsHere(call: TreeCall, listed?: readonly StoredSession[]): Promise<SessionsHere> {
  const { session, tree } = call;
  const place = workPlaceOf(tree);
  const known = splitOwn(await readSessions(call, listed), session, place);
  const here = known.others.filter((one) => one.worktreeId === place.worktreeId);
  const those = (...liveness: JudgedSession['liveness'][]) =>
    here.filter((one) => liveness.includes(one.liveness)).map(({ record }) => record.session);
  const peers = those('live');
  const isShared =
    peers.length > 0 ||
    isVisitor(call, known.own?.record) ||
    call.settings.guardPath.length > 0 ||
    runningOwners(readJournal(tree.commonDir, session)).length > 0 ||
    (call.event.kind !== 'session-start' && hasCallsRunning(place, session, call.now));
  return { ...known, peers, gone: those('dead', 'ended'), isShared };
}

/** Whether this session has no ledger yet, or any session at work here (this one included) still keeps a start list. */
function isUnsettled(place: LedgerPlace, session: SessionId, peers: readonly SessionId[]): boolean {
  const ledgers = readLedgers(place);
  if (!ledgers.some((one) => one.session === session && one.head !== undefined)) return true;
  return ledgers.some(
    (one) => one.lasting.alone !== undefined && (one.session === session || peers.includes(one.session)),
  );
}

/** A session's own record in this worktree, and the records of other sessions in all worktrees. */
interface OwnAndOthers {
  readonly own: JudgedSession | undefined;
  readonly others: readonly JudgedSession[];
}

function splitOwn(
  sessions: readonly JudgedSession[],
  session: SessionId,
  { worktreeId }: LedgerPlace,
): OwnAndOthers {
  return {
    own: sessions.find((one) => one.record.session === session && one.worktreeId === worktreeId),
    others: sessions.filter((one) => one.record.session !== session),
  };
}

/** How many times to try to write the record while other processes of the same session change it first. */
const TRIES = 5;

/** Creates or updates the session's record, even if another process of the session does so at the same time. */
async function putOnRecord(call: TreeCall, known: OwnAndOthers): Promise<SessionRecord> {
  const place = workPlaceOf(call.tree);
  let { own, others } = known;
  for (let tries = 1; ; tries += 1) {
    const record = describe(call, own, others);
    if (isSameRecord(own?.record, record)) return record;
    const repository = await openRepository(call.tree.folder);
    if ((await putRecord(repository, place.worktreeId, record, own?.oid)) || tries === TRIES) return record;
    ({ own, others } = splitOwn(await readSessions(call), call.session, place));
  }
}

function isSameRecord(known: SessionRecord | undefined, record: SessionRecord): boolean {
  return JSON.stringify(known) === JSON.stringify(record);
}

/** Returns the calling session's record as it should be. */
function describe(
  call: TreeCall,
  own: JudgedSession | undefined,
  others: readonly JudgedSession[],
): SessionRecord {
  const { bootId, pidNs, host } = call.machine.processes();
  const chain = clientChain(call);
  const [client] = chain;
  const isStart = call.event.kind === 'session-start';
  const known = own?.record;
  const isOpen = known?.ended === null;
  const keep = isOpen && own?.liveness === 'live';
  // If the recorded process is gone and the session still calls, that process was not the client: we record no process.
  const isUnknown = isOpen && !isStart && (known.pid === null || own?.liveness === 'dead');
  const recorded = keep ? known : isUnknown ? undefined : client;
  return {
    v: 1,
    session: call.session,
    client: call.dialect.client,
    pid: recorded?.pid ?? null,
    start: recorded?.start ?? null,
    bootId,
    pidNs,
    host,
    clone: call.tree.commonDir,
    parent: known?.parent ?? parentSession(chain.slice(1), others),
    succeeds: known?.succeeds ?? (isStart ? succeeded(call, client, others) : null),
    startedAt: known?.startedAt ?? call.now,
    ended: null,
    ...(isVisitor(call, known) ? { visiting: true } : {}),
  };
}

/** Whether the session only visits this worktree. If it has worked here, it is no visitor, even if it now calls elsewhere. */
function isVisitor({ tree }: TreeCall, known: SessionRecord | undefined): boolean {
  return tree.visiting === true && (known?.ended !== null || known.visiting === true);
}

const isProcess = ({ record }: JudgedSession, { pid, start }: ProcessId) =>
  record.pid === pid && record.start === start;

/** Returns the session in whose process tree this one's client runs. */
function parentSession(chain: readonly ProcessId[], others: readonly JudgedSession[]): SessionId | null {
  const live = others.filter(({ liveness }) => liveness === 'live');
  const found = chain.flatMap((process) => live.find((one) => isProcess(one, process)) ?? []);
  return found[0]?.record.session ?? null;
}

/** Returns the session that a start by `clear` continues: the one that ended by `clear` in the same process. */
function succeeded(
  { event: { source } }: TreeCall,
  client: ProcessId | undefined,
  others: readonly JudgedSession[],
): SessionId | null {
  if (source !== 'clear' || client === undefined) return null;
  const former = others
    .filter((one) => one.record.ended?.reason === 'clear' && isProcess(one, client))
    .sort((a, b) => (b.record.ended?.at ?? 0) - (a.record.ended?.at ?? 0));
  return former[0]?.record.session ?? null;
}
