import type { LedgerEntry, OpenClaim } from '../../domain/ledger/claims.ts';
import { sameState } from '../../domain/ledger/file-state.ts';
import { type Snapshot, stagedBetween } from '../../domain/ledger/snapshot.ts';
import type { SessionId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { scratchStore } from '../../git/scratch-store.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { appendEntries } from '../../changes/ledger.ts';
import { ARRIVAL, closeWindow, putLast, readLast, readWindows } from '../../changes/windows.ts';
import type { Scene } from '../scene.ts';
import { discardedEvents, endedEvents, endedNotice, endedOfOthers, keepOthers } from './gone-work.ts';
import { newsFor, theSession } from '../../changes/news.ts';
import { noteOperation } from './operations.ts';
import { claimsOf, toldChanges } from './window-claims.ts';
import { windowId } from '../window-id.ts';
import {
  type Ledgers,
  type WorkPlace,
  ledgerOf,
  lookingTime,
  openLedgers,
} from '../../changes/work-place.ts';

/** After a shell command: what it changed is this session's. Returns what to tell it. */
export async function afterShell(
  scene: Scene,
  session: SessionId,
  command: string,
): Promise<readonly string[]> {
  const { place: found } = scene;
  const place = found === undefined ? undefined : ledgerOf(found, session);
  if (place === undefined) return [];
  const windows = readWindows(place);
  const own = windows.filter((window) => window.session === session);
  const id = windowId(scene);
  const window = own.find((one) => one.id === id) ?? own.find((one) => one.id === ARRIVAL);
  if (window === undefined && scene.event.changedFiles.length === 0) return toldOnly(scene, place, session);
  const known = window?.snapshot ?? readLast(place);
  const options = { scratch: scratchStore(place.commonDir), timeoutMs: lookingTime(scene), now: scene.now };
  const after = await takeSnapshot(place.top, known === undefined ? options : { ...options, known });
  putLast(place, after);
  const ledgers = openLedgers(place, session);
  const notices: string[] = [];
  const entries = [
    ...(window === undefined
      ? toldChanges(scene, place, after)
      : claimsOf(scene, place, ledgers, { window, windows, after })),
    ...endedClaims(place, ledgers, after, scene.now),
  ];
  if (window !== undefined) {
    entries.push(...stagedEntries(window.snapshot, after, scene.now));
    entries.push(...discardedEvents(window.snapshot, after, ledgers, scene.now));
    const { headEntries } = await import('./head-moves.ts');
    entries.push(...(await headEntries(place, ledgers, window.snapshot, after, scene)));
    const ended = endedOfOthers(window, windows, ledgers, after);
    const before = window.snapshot.head.oid;
    const isCommit = entries.some((entry) => entry.t === 'head' && entry.own);
    entries.push(...endedEvents(ended, session, isCommit, before, scene.now));
    const kept = await keepOthers(scene, place, ledgers, window, after, command);
    notices.push(...ended.map((claim) => endedNotice(claim, isCommit, before, kept)));
    noteOperation(scene, place, ledgers, window, windows);
    closeWindow(place, window, scene.now);
  }
  const { lines, told } = newsFor(ledgers, window?.snapshot.head, scene.now);
  appendEntries(place, session, [...entries, ...told]);
  return [...lines, ...notices, ...foreignTouched(entries, ledgers)];
}

/** A command that only reads: the others' news reach the session all the same. */
function toldOnly(scene: Scene, place: WorkPlace, session: SessionId): readonly string[] {
  const { lines, told } = newsFor(openLedgers(place, session), undefined, scene.now);
  appendEntries(place, session, told);
  return lines;
}

/** Claims of any session whose path is as HEAD has it: gone for good. */
function endedClaims(place: WorkPlace, { all, self }: Ledgers, after: Snapshot, now: number): LedgerEntry[] {
  const over = (ledger: { claims: ReadonlyMap<string, OpenClaim> }) =>
    [...ledger.claims.keys()]
      .filter((path) => !after.dirty.has(path))
      .map((path): LedgerEntry => ({ t: 'end', path, why: 'clean', at: now }));
  for (const ledger of all) if (ledger !== self) appendEntries(place, ledger.session, over(ledger));
  return over(self);
}

/** Index entries that the command made and the disk does not show: `git rm --cached`, `git reset -- <path>`. */
function stagedEntries(before: Snapshot, after: Snapshot, now: number): LedgerEntry[] {
  return stagedBetween(before, after)
    .filter(({ path, state }) => {
      const dirty = after.dirty.get(path);
      return dirty !== undefined && (state === null || sameState(dirty.disk, dirty.head));
    })
    .map(({ path, state }) => ({ t: 'staged', path, state, at: now }));
}

/** A command of this session changed a file that another one has claimed. */
function foreignTouched(entries: readonly LedgerEntry[], { all, self }: Ledgers): string[] {
  const touched = entries.flatMap((entry) =>
    entry.t === 'claim' && !self.claims.has(entry.path) ? [entry.path] : [],
  );
  return touched.flatMap((path) => {
    const owner = all.find((ledger) => ledger !== self && ledger.claims.has(path));
    if (owner === undefined) return [];
    return [
      `${escapeLine(path)} changed while the command ran, and ${theSession(owner.session).toLowerCase()} has uncommitted work in it: look at git diff before you go on`,
    ];
  });
}
