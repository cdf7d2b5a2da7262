import { withRevived, withoutEnded } from '../../domain/ledger/claim-ends.ts';
import type { LedgerEntry, OpenClaim } from '../../domain/ledger/claims.ts';
import { type FileState, sameState } from '../../domain/ledger/file-state.ts';
import { type Snapshot, stagedBetween } from '../../domain/ledger/snapshot.ts';
import type { SessionId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { scratchStore } from '../../git/scratch-store.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { appendEntries } from '../../changes/ledger.ts';
import { commitRuns } from '../../changes/running-commit.ts';
import { settledClaims } from '../../changes/settle-claims.ts';
import { type Around, claimsAround } from '../../changes/window-changes.ts';
import {
  ARRIVAL,
  type OpenWindow,
  closeWindow,
  putLast,
  readLast,
  readWindows,
} from '../../changes/windows.ts';
import type { Scene } from '../scene.ts';
import { goesOn } from '../goes-on.ts';
import { endedOfOthers, goneWork } from './gone-work.ts';
import { movedHead, newsFor, theSession } from '../../changes/news.ts';
import { noteOperation } from './operations.ts';
import { seeHead } from './see-head.ts';
import { toldChanges } from './told-changes.ts';
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
  if (window === undefined && scene.event.changedFiles.length === 0) {
    await seeHead(scene, place, session);
    return toldOnly(scene, place, session);
  }
  const known = window?.snapshot ?? readLast(place);
  const options = { scratch: scratchStore(place.commonDir), timeoutMs: lookingTime(scene), now: scene.now };
  const looking = takeSnapshot(place.top, known === undefined ? options : { ...options, known });
  const after = await looking.catch(async (error: unknown) => {
    if (window !== undefined) await claimBlindly(scene, place, window);
    throw error;
  });
  putLast(place, after);
  const ledgers = ledgersBeside(place, session, window?.named ?? []);
  const notices: string[] = [];
  // What a commit's hooks have put aside will be back.
  const isLooked = window?.looked === true && !commitRuns(place, scene.now, window.id);
  const ended = isLooked ? endedOfOthers(window, windows, ledgers, after) : [];
  const entries = await settled(scene, place, ledgers, after, { window: window?.id, ended });
  if (window === undefined) entries.push(...toldChanges(scene, place, after));
  else {
    entries.push(...(await claimsOf(scene, place, ledgers, { window, windows, after })));
    if (window.looked) entries.push(...(await movesOf(scene, place, ledgers, window.snapshot, after)));
    if (isLooked) {
      const gone = await goneWork(scene, place, ledgers, { window, after, command, entries, ended });
      entries.push(...gone.entries);
      notices.push(...gone.notices);
    }
    noteOperation(scene, place, ledgers, window, windows);
    closeWindow(place, window, scene.now, goesOn(scene));
  }
  const stood = window?.snapshot.head;
  const moved =
    stood === undefined ? undefined : await movedHead(ledgers, stood, place.top, lookingTime(scene));
  appendEntries(place, session, entries);
  const { lines, told } = newsFor(openLedgers(place, session), moved, scene.now);
  appendEntries(place, session, told);
  return [...lines, ...notices, ...foreignTouched(entries, ledgers)];
}

/** The ledgers before what the command did is added to them. */
function ledgersBeside(place: WorkPlace, session: SessionId, named: readonly string[]): Ledgers {
  const { all, self } = openLedgers(place, session);
  const known = all.map((ledger) => (ledger === self ? self : withoutEnded(ledger, named)));
  return { all: known, self };
}

/** A command that only reads: the others' news reach the session all the same. */
function toldOnly(scene: Scene, place: WorkPlace, session: SessionId): readonly string[] {
  const { lines, told } = newsFor(openLedgers(place, session), undefined, scene.now);
  appendEntries(place, session, told);
  return lines;
}

/** git could not be asked: what the command named is the session's all the same. */
async function claimBlindly(scene: Scene, place: WorkPlace, window: OpenWindow): Promise<void> {
  const { blindClaims } = await import('./blind-claims.ts');
  appendEntries(place, window.session, blindClaims(place, window, scene.now));
  closeWindow(place, window, scene.now, goesOn(scene));
}

/** What became of the index and of HEAD while the command ran. */
async function movesOf(
  scene: Scene,
  place: WorkPlace,
  ledgers: Ledgers,
  before: Snapshot,
  after: Snapshot,
): Promise<LedgerEntry[]> {
  const { headEntries } = await import('./head-moves.ts');
  const moves = await headEntries(place, ledgers, before, after, scene);
  if (moves.length > 0) {
    const { undoneClaims } = await import('./undone-commits.ts');
    const undone = await undoneClaims(scene, place, ledgers, before, after);
    for (const [owner, claims] of undone) appendEntries(place, owner, claims);
  }
  return [...stagedEntries(before, after, scene.now), ...moves];
}

/** What the look ends and brings back: the others' entries are written at once, the session's own are returned. */
async function settled(
  scene: Scene,
  place: WorkPlace,
  { all, self }: Ledgers,
  after: Snapshot,
  { window, ended }: { readonly window: string | undefined; readonly ended: readonly OpenClaim[] },
): Promise<LedgerEntry[]> {
  const timeoutMs = lookingTime(scene);
  // Who took others' work knows of its commit.
  const isTold = (claim: OpenClaim) =>
    ended.includes(claim) || (ended.length > 0 && claim.session === self.session);
  const found = await settledClaims(place, all, after, { window, timeoutMs, isTold });
  for (const [session, entries] of found) {
    if (session !== self.session) appendEntries(place, session, entries);
  }
  return [...(found.get(self.session) ?? [])];
}

/** The claims on what changed while the command ran; what came back is whose it was. */
async function claimsOf(
  scene: Scene,
  place: WorkPlace,
  { all, self }: Ledgers,
  { window, windows, after }: Pick<Around, 'window' | 'windows' | 'after'>,
): Promise<LedgerEntry[]> {
  const { top } = place;
  const ledgers = withRevived(all, (path) => after.dirty.get(path));
  const { now, event } = scene;
  const own = new Set([self.session]);
  const timeoutMs = lookingTime(scene);
  const around = { top, window, windows, after, ledgers, own, agent: event.agent, now, timeoutMs };
  const back = ledgers.find((one) => one.session === self.session)?.claims;
  const claims = await claimsAround(around);
  const isBack = (path: string, left: FileState) => {
    const claim = self.claims.has(path) ? undefined : back?.get(path);
    return claim !== undefined && sameState(claim.after, left);
  };
  return claims.filter((claim) => !isBack(claim.path, claim.after));
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
