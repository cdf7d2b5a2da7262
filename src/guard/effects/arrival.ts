import type { LedgerEntry } from '../../domain/ledger/claims.ts';
import { claimEntries } from '../../domain/ledger/compact.ts';
import { sameState } from '../../domain/ledger/file-state.ts';
import { changesLeft, resumedStart } from '../../domain/ledger/resume.ts';
import { sinceStart } from '../../domain/ledger/since-start.ts';
import { type Snapshot, type WindowChange, changesBetween } from '../../domain/ledger/snapshot.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { scratchStore } from '../../git/scratch-store.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { realPath } from '../../host/disk.ts';
import { knownWorktreeId, lastEvent, worktreeId } from '../../host/folders.ts';
import { appendEntries, readLedger } from '../../changes/ledger.ts';
import { isSolo } from '../../sessions/solo.ts';
import {
  ARRIVAL,
  isPaused,
  listStarts,
  openWindow,
  putLast,
  putPause,
  putStart,
  readLast,
  readPause,
  readStart,
  removeStart,
} from '../../changes/windows.ts';
import type { Scene } from '../scene.ts';
import { noteLoneOperation } from './operations.ts';
import { type WorkPlace, lookingTime, openLedgers, unheardIds } from '../../changes/work-place.ts';

/** Sessions of the worktree, by what is known of them. */
export interface Company {
  /** Others that are at work. */
  readonly peers: readonly SessionId[];
  /** Others that have ended or whose process is gone. */
  readonly gone: readonly SessionId[];
  /** The session whose conversation this one carries on. */
  readonly former: SessionId | null;
}

/**
 * A session begins to work alone: what is dirty now is nobody's. One that comes back, or carries on a conversation,
 * goes on with the start list that it had.
 */
export async function beginAlone(
  scene: Scene,
  found: FoundRepository,
  session: SessionId,
  company: Company,
): Promise<void> {
  const place = placeFor(found);
  const snapshot = await look(scene, place);
  const returned = ownStart(place, session, company);
  if (snapshot !== undefined) pauseGone(place, company.gone, session, snapshot);
  if (returned !== undefined) removeStart(place, returned.id);
  if (snapshot === undefined) return;
  const { start: known, pause } = returned ?? {};
  const start = (known === undefined ? undefined : resumedStart(known, pause, snapshot)) ?? snapshot;
  putStart(place, session, start);
  if (isSolo(found.gitDir, session)) return;
  // Somebody has come meanwhile, and may have looked for the start list before it was there.
  settle(place, session, start, snapshot, scene.now);
  removeStart(place, session);
}

/** A session that worked alone is over: what changes from now on is not its own, should it come back. */
export async function endAlone(scene: Scene, found: FoundRepository, session: SessionId): Promise<void> {
  if (knownWorktreeId(found.gitDir) === undefined) return;
  const place = placeFor(found);
  if (readStart(place, session) === undefined) return;
  const snapshot = await look(scene, place);
  if (snapshot !== undefined) pauseStart(place, session, snapshot);
}

/**
 * A session arrives where others are at work: what a lone one has changed since it began is claimed for it, and
 * from now on everybody keeps a ledger. Returns what to tell the one that arrives.
 */
export async function arrive(
  scene: Scene,
  found: FoundRepository,
  session: SessionId,
  company: Company,
): Promise<string[]> {
  const place = placeFor(found);
  const starts = company.peers.map((peer) => ({ peer, start: readStart(place, peer) }));
  const lone = starts.filter(({ peer, start }) => start !== undefined || !isSettled(place, peer));
  const snapshot = await look(scene, place);
  if (snapshot !== undefined) pauseGone(place, company.gone, session, snapshot);
  const notices: string[] = [];
  for (const { peer, start } of lone) {
    if (snapshot === undefined || start === undefined) {
      notices.push(
        `What session ${shortId(peer)} changed here before you came is not known: its files are not guarded until it touches them again.`,
      );
    } else {
      settle(place, peer, start, snapshot, scene.now);
      // It may be running a command.
      if (BEFORE_TOOL.has(lastEvent(place.commonDir, peer))) openWindow(place, peer, ARRIVAL, snapshot);
    }
    removeStart(place, peer);
  }
  const returned = ownStart(place, session, company);
  if (snapshot !== undefined) {
    const { start, pause } = returned ?? {};
    const changes = start === undefined || pause === undefined ? [] : changesLeft(start, pause, snapshot);
    const ids = unheardIds(openLedgers(place, session));
    appendEntries(place, session, [
      ...newClaims(place, session, changes, scene.now),
      { t: 'head', ...snapshot.head, own: false, at: scene.now },
      ...(ids.length === 0 ? [] : [{ t: 'told', ids, at: scene.now } as const]),
    ]);
  }
  if (returned !== undefined) removeStart(place, returned.id);
  return notices;
}

/** The start list of a session that comes back, or of the one whose conversation it carries on. */
function ownStart(place: WorkPlace, session: SessionId, { former }: Company) {
  for (const id of former === null ? [session] : [session, former]) {
    const start = readStart(place, id);
    if (start !== undefined) return { id, start, pause: readPause(place, id) };
  }
  return undefined;
}

/** Of sessions that died nobody has noticed when: it was before now, and what changes from now on is not their own. */
function pauseGone(
  place: WorkPlace,
  gone: readonly SessionId[],
  session: SessionId,
  snapshot: Snapshot,
): void {
  for (const one of gone.length === 0 ? [] : listStarts(place)) {
    if (one !== session && gone.includes(one) && !isPaused(place, one)) pauseStart(place, one, snapshot);
  }
}

function pauseStart(place: WorkPlace, session: SessionId, snapshot: Snapshot): void {
  const since = readStart(place, session)?.at;
  putPause(place, session, snapshot);
  if (since !== undefined) noteLoneOperation(place.gitDir, session, since);
}

/** Claims for the session that was alone, and where it stands. */
function settle(place: WorkPlace, peer: SessionId, start: Snapshot, now: Snapshot, at: number): void {
  const pause = readPause(place, peer);
  const changes = pause === undefined ? changesBetween(start, now) : changesLeft(start, pause, now);
  const claims = newClaims(place, peer, changes, at);
  appendEntries(place, peer, [...claims, { t: 'head', ...now.head, own: false, at }]);
  noteLoneOperation(place.gitDir, peer, start.at);
}

/** The claims that its ledger does not have. */
function newClaims(
  place: WorkPlace,
  session: SessionId,
  changes: readonly WindowChange[],
  at: number,
): LedgerEntry[] {
  const known = readLedger(place, session).claims;
  return [...sinceStart(session, changes, () => at).values()].flatMap((claim) => {
    const former = known.get(claim.path);
    return former !== undefined && sameState(former.after, claim.after) ? [] : claimEntries(claim);
  });
}

/** The last word of a session whose tool runs just now. */
const BEFORE_TOOL = new Set(['PreToolUse', 'BeforeTool']);

/** It keeps a ledger, or is just starting and opens one itself when it has seen who else is here. */
function isSettled(place: WorkPlace, session: SessionId): boolean {
  const isStarting = lastEvent(place.commonDir, session).toLowerCase() === 'sessionstart';
  return isStarting || readLedger(place, session).head !== undefined;
}

async function look(scene: Scene, place: WorkPlace): Promise<Snapshot | undefined> {
  const known = readLast(place);
  const options = { scratch: scratchStore(place.commonDir), timeoutMs: lookingTime(scene), now: scene.now };
  try {
    const snapshot = await takeSnapshot(place.top, known === undefined ? options : { ...options, known });
    putLast(place, snapshot);
    return snapshot;
  } catch (error) {
    scene.log('open', `the working tree could not be looked at: ${String(error)}`);
    return undefined;
  }
}

function placeFor({ commonDir, gitDir, workTree }: FoundRepository): WorkPlace {
  return { commonDir, gitDir, worktreeId: worktreeId(gitDir), top: realPath(workTree) };
}
