import type { WorktreeEvent } from '../../domain/journal/events.ts';
import { carriesOn } from '../../domain/ledger/ownership.ts';
import { claimEvents } from '../../domain/journal/compact.ts';
import { sameState, type TreeStatus, type WindowChange } from '../../domain/ledger/tree-status.ts';
import { changesLeft, resumedStart, sinceStart } from '../../domain/ledger/claim-events.ts';
import { runningOwners } from '../../domain/ledger/sub-agents.ts';
import { type SessionId, peerName } from '../../domain/names.ts';
import type { SessionRecord } from '../../domain/session.ts';
import { claimLoneSession } from '../../sessions/lone-session.ts';
import { lastEvent } from '../../host/folders.ts';
import { appendEvents, readJournal, readLedger, readLedgers } from '../../sessions/journal.ts';
import {
  ARRIVAL,
  markNotified,
  openLedgers,
  openWindow,
  putLast,
  putStart,
  readLast,
  readPause,
  readStart,
  removeStart,
  undeliveredIds,
  type WorkPlace,
} from '../../changes/windows.ts';
import { type TreeCall, workPlaceOf } from '../call.ts';
import { readStatus } from '../facts.ts';
import { noteLoneOperation } from './operations.ts';

/** A session that arrives, and the sessions that it finds. */
interface Arrival {
  readonly peers: readonly SessionId[];
  readonly clients: ReadonlyMap<SessionId, string>;
  /** The other sessions that have ended or whose process is gone. */
  readonly gone: readonly SessionId[];
  /** The session whose conversation this one continues. */
  readonly former: SessionId | null;
  /** The session that was recorded as alone until now. */
  readonly lone: SessionId | undefined;
  /** How this session began, if it counted as alone until a moment ago and has done nothing yet. */
  readonly beginning: Beginning | undefined;
  /** Whether this session begins or comes back with this call: it was not at work here before. */
  readonly isBack: boolean;
}

/** How a session begins: its start list (what was changed already), and the working tree at that time. */
export interface Beginning {
  readonly start: TreeStatus;
  readonly now: TreeStatus;
}

/**
 * Begins a session's time alone. Its start list holds what is dirty now, which belongs to nobody. A session that comes back, or
 * continues another's conversation, keeps the earlier start list. Only the session recorded as alone has a start list: if another
 * is recorded already, `isLone` is false and nothing changes. `beginning` is missing if the working tree cannot be read.
 */
export async function beginLoneWork(
  call: TreeCall,
  record: SessionRecord,
  gone: readonly SessionId[],
): Promise<{ isLone: boolean; beginning?: Beginning }> {
  const place = workPlaceOf(call.tree);
  const { session } = record;
  const now = await look(call, place);
  if (!claimLoneSession(place.gitDir, record)) return { isLone: false };
  const returned = ownStart(place, session, record.succeeds);
  if (now !== undefined) pauseGone(place, gone, session, now);
  if (returned !== undefined) removeStart(place, returned.id, call.now);
  if (now === undefined) return { isLone: true };
  const { start: known, pause } = returned ?? {};
  const start = (known === undefined ? undefined : resumedStart(known, pause, now)) ?? now;
  putStart(place, session, start);
  return { isLone: true, beginning: { start, now } };
}

/** Ends a session's time alone: what changes from now on is not the session's, even if it comes back. */
export async function endLoneWork(call: TreeCall): Promise<void> {
  const { session, tree } = call;
  const place = workPlaceOf(tree);
  if (readStart(place, session) === undefined) return;
  const status = await look(call, place);
  if (status !== undefined) pauseStart(place, session, status);
}

/**
 * Handles a session's arrival where others are at work. Claims, for a session that was alone, what it has changed since it began.
 * From now on every session keeps a ledger. Returns what to tell the arriving session.
 */
export async function arrive(
  call: TreeCall,
  { peers, clients, gone, former, lone, beginning, isBack }: Arrival,
): Promise<string[]> {
  const { session, tree } = call;
  const place = workPlaceOf(tree);
  if (beginning !== undefined) {
    settle(place, session, beginning.start, beginning.now, call.now);
    removeStart(place, session, call.now);
  }
  // An interrupted arrival may leave several start lists: the session that was alone is the first to claim a change.
  const order = [...(lone === undefined ? [] : [lone]), ...peers, session];
  const sessions = [...new Set(order)].filter((one) => (one === session ? !isBack : peers.includes(one)));
  const starts = sessions.map((one) => ({ one, start: readStart(place, one) }));
  const status = await look(call, place);
  if (status !== undefined) pauseGone(place, gone, session, status);
  const notices: string[] = [];
  for (const { one, start } of starts) {
    if (start === undefined && (one === session || isSettled(place, one))) continue;
    if (status === undefined) {
      notices.push(
        `git-handoff could not find out which files ${peerName(one, { clients })} changed here before you came: they are unguarded until it changes them again.`,
      );
    } else {
      // Without a start list, all unclaimed changes count as the session's: a needless warning is better than a loss.
      settle(place, one, start ?? ofOthers(place, status), status, call.now);
      // The session that was alone may be running a command.
      const event = one === session ? '' : lastEvent(place.commonDir, one);
      if (event === 'before-tool') openWindow(place, one, ARRIVAL, status);
    }
    removeStart(place, one, call.now);
  }
  const returned = ownStart(place, session, former);
  if (status !== undefined) {
    const { start, pause } = returned ?? {};
    const changes = start === undefined || pause === undefined ? [] : changesLeft(start, pause, status);
    // The session need not hear what happened before it came.
    const known = isBack ? undeliveredIds(openLedgers(place, session)) : [];
    markNotified(place, session, [...known, ...(former === null ? [] : [carriesOn(former)])], call.now);
    appendEvents(place, session, [
      ...newClaims(place, session, changes, call.now),
      { t: 'head', ...status.head, own: false, at: call.now },
    ]);
  }
  if (returned !== undefined) removeStart(place, returned.id, call.now);
  return notices;
}

/** Returns a start list with only the paths that somebody has claimed. */
function ofOthers(place: WorkPlace, status: TreeStatus): TreeStatus {
  const claimed = new Set(readLedgers(place).flatMap(({ claims }) => [...claims.keys()]));
  return { ...status, dirty: new Map([...status.dirty].filter(([path]) => claimed.has(path))) };
}

/** Returns the start list of a session that comes back, or of the session whose conversation it continues. */
function ownStart(place: WorkPlace, session: SessionId, former: SessionId | null) {
  for (const id of former === null ? [session] : [session, former]) {
    const start = readStart(place, id);
    if (start !== undefined) return { id, start, pause: readPause(place, id) };
  }
  return undefined;
}

/** Pauses the start lists of sessions that died, nobody knows when: what changes from now on is not theirs. */
function pauseGone(
  place: WorkPlace,
  gone: readonly SessionId[],
  session: SessionId,
  status: TreeStatus,
): void {
  // The journals of sessions that ended long ago are not read.
  for (const { session: one, lasting } of gone.length === 0 ? [] : readLedgers(place)) {
    if (one === session || !gone.includes(one)) continue;
    if (lasting.alone !== undefined && lasting.paused === undefined) pauseStart(place, one, status);
  }
}

function pauseStart(place: WorkPlace, session: SessionId, status: TreeStatus): void {
  const since = readStart(place, session)?.at;
  putStart(place, session, status, 'paused');
  if (since !== undefined) noteLoneOperation(place, session, since);
}

/** Writes the claims of a session that was alone, and records that it and its sub-agents have seen the present HEAD. */
function settle(place: WorkPlace, peer: SessionId, start: TreeStatus, now: TreeStatus, at: number): void {
  const changes = changesLeft(start, readPause(place, peer), now);
  appendEvents(place, peer, newClaims(place, peer, changes, at));
  for (const owner of [peer, ...runningOwners(readJournal(place.commonDir, peer))])
    appendEvents(place, owner, [{ t: 'head', ...now.head, own: false, at }]);
  noteLoneOperation(place, peer, start.at);
}

/** The claims that no ledger has yet: if a session already claims the very same change, that session has made it. */
function newClaims(
  place: WorkPlace,
  session: SessionId,
  changes: readonly WindowChange[],
  at: number,
): WorktreeEvent[] {
  const known = readLedgers(place).map(({ claims }) => claims);
  return [...sinceStart(session, changes, () => at).values()].flatMap((claim) => {
    const isClaimed = known.some((claims) => {
      const former = claims.get(claim.path);
      return former !== undefined && sameState(former.after, claim.after);
    });
    return isClaimed ? [] : claimEvents(claim);
  });
}

/** Whether the session keeps a ledger, or is just starting and will open one when it has seen who else is here. */
function isSettled(place: WorkPlace, session: SessionId): boolean {
  const isStarting = lastEvent(place.commonDir, session) === 'session-start';
  return isStarting || readLedger(place, session).head !== undefined;
}

async function look(call: TreeCall, place: WorkPlace): Promise<TreeStatus | undefined> {
  try {
    const status = await readStatus(call, place, { known: readLast(place) });
    putLast(place, status);
    return status;
  } catch (error) {
    call.log('open', `the working tree could not be looked at: ${String(error)}`);
    return undefined;
  }
}
