import { type LedgerEntry, sameState } from '../../../domain/ledger/claims.ts';
import { type Snapshot, changesBetween } from '../../../domain/ledger/snapshot.ts';
import { type SessionId, shortId } from '../../../domain/names.ts';
import type { FoundRepository } from '../../../git/discover.ts';
import { scratchStore } from '../../../git/scratch-store.ts';
import { takeSnapshot } from '../../../git/work-tree.ts';
import { realPath } from '../../../host/disk.ts';
import { lastEvent, worktreeId } from '../../../host/folders.ts';
import { appendEntries, readLedger } from '../../../store/ledger.ts';
import {
  ARRIVAL,
  openWindow,
  putLast,
  putStart,
  readLast,
  readStart,
  removeStart,
} from '../../../store/windows.ts';
import type { Scene } from '../scene.ts';
import { type WorkPlace, lookingTime, openLedgers, unheardIds } from './work-place.ts';

/** A session begins to work alone: what is dirty now is nobody's. */
export async function beginAlone(scene: Scene, found: FoundRepository, session: SessionId): Promise<void> {
  const place = placeFor(found);
  const snapshot = await look(scene, place);
  if (snapshot === undefined) removeStart(place, session);
  else putStart(place, session, snapshot);
}

/**
 * A session arrives where others are at work: what a lone one has changed since it began is claimed for it, and
 * from now on everybody keeps a ledger. Returns what to tell the one that arrives.
 */
export async function arrive(
  scene: Scene,
  found: FoundRepository,
  session: SessionId,
  peers: readonly SessionId[],
): Promise<string[]> {
  const place = placeFor(found);
  const starts = peers.map((peer) => ({ peer, start: readStart(place, peer) }));
  const lone = starts.filter(({ peer, start }) => start !== undefined || !hasLedger(place, peer));
  const snapshot = await look(scene, place);
  const notices: string[] = [];
  for (const { peer, start } of lone) {
    if (snapshot === undefined || start === undefined) {
      notices.push(
        `What session ${shortId(peer)} changed here before you came is not known: its files are not guarded until it touches them again.`,
      );
    } else settle(place, peer, start, snapshot, scene.now);
    removeStart(place, peer);
  }
  if (snapshot !== undefined) {
    const ids = unheardIds(openLedgers(place, session));
    appendEntries(place, session, [
      { t: 'head', ...snapshot.head, own: false, at: scene.now },
      ...(ids.length === 0 ? [] : [{ t: 'told', ids, at: scene.now } as const]),
    ]);
  }
  return notices;
}

/** Claims for the session that was alone, where it stands, and a window for the command that it may be running. */
function settle(place: WorkPlace, peer: SessionId, start: Snapshot, now: Snapshot, at: number): void {
  const known = readLedger(place, peer).claims;
  const claims = changesBetween(start, now).flatMap(({ path, base, before, after }): LedgerEntry[] => {
    const claim = known.get(path);
    if (claim !== undefined && sameState(claim.after, after)) return [];
    return [{ t: 'claim', path, base, before, after, evidence: 'since-start', weak: false, at }];
  });
  appendEntries(place, peer, [...claims, { t: 'head', ...now.head, own: false, at }]);
  if (BEFORE_TOOL.has(lastEvent(place.commonDir, peer))) openWindow(place, peer, ARRIVAL, now);
}

/** The last word of a session whose tool runs just now. */
const BEFORE_TOOL = new Set(['PreToolUse', 'BeforeTool']);

function hasLedger(place: WorkPlace, session: SessionId): boolean {
  return readLedger(place, session).head !== undefined;
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
