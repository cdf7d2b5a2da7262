import { type LedgerEntry, type OpenClaim, sameState } from '../../../domain/ledger/claims.ts';
import {
  type Snapshot,
  type Window,
  type WindowChange,
  changesBetween,
  discardedBetween,
  overlaps,
  stagedBetween,
  windowEvidence,
} from '../../../domain/ledger/snapshot.ts';
import { claimOwners } from '../../../domain/ledger/vanished.ts';
import type { SessionId } from '../../../domain/names.ts';
import { escapeLine } from '../../../domain/surfacing.ts';
import { scratchStore } from '../../../git/scratch-store.ts';
import { changedAt, takeSnapshot } from '../../../git/work-tree.ts';
import { appendEntries } from '../../../store/ledger.ts';
import {
  ARRIVAL,
  type OpenWindow,
  closeWindow,
  putLast,
  readLast,
  readWindows,
} from '../../../store/windows.ts';
import type { Scene } from '../scene.ts';
import { keepVanished } from '../rescue/keep-vanished.ts';
import { event, newsFor, theSession } from './news.ts';
import { noteOperation } from './operations.ts';
import { windowId } from './window-id.ts';
import { type Ledgers, type WorkPlace, ledgerOf, lookingTime, openLedgers, placeOf } from './work-place.ts';

/** File times lag behind the clock by up to a tick of the kernel. Milliseconds. */
const CLOCK_SLACK_MS = 20;

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
    const isCommit = entries.some((entry) => entry.t === 'head' && entry.own);
    entries.push(...endedEvents(ended, session, isCommit, scene.now));
    const kept = await keepOthers(scene, place, ledgers, window, after, command);
    notices.push(...ended.map((claim) => endedNotice(claim, isCommit, kept)));
    noteOperation(scene, place, ledgers, window, windows);
    closeWindow(place, window, scene.now);
  }
  const { lines, told } = newsFor(ledgers, window?.snapshot.head, scene.now);
  appendEntries(place, session, [...entries, ...told]);
  return [...lines, ...notices, ...foreignTouched(entries, ledgers)];
}

/** What is gone of others, or nobody's: a session's own files are its own to remove. */
async function keepOthers(
  scene: Scene,
  place: WorkPlace,
  { all, self }: Ledgers,
  { snapshot, session }: OpenWindow,
  after: Snapshot,
  command: string,
): Promise<number | undefined> {
  const foreign = claimOwners(all.filter((ledger) => ledger !== self));
  const own = [...self.claims.keys()].filter((path) => !foreign.has(path));
  const dirty = new Map([...snapshot.dirty].filter(([path]) => !own.includes(path)));
  return keepVanished(scene, place, { ...snapshot, dirty }, after, foreign, { session, command });
}

/** A command that only reads: the others' news reach the session all the same. */
function toldOnly(scene: Scene, place: WorkPlace, session: SessionId): readonly string[] {
  const { lines, told } = newsFor(openLedgers(place, session), undefined, scene.now);
  appendEntries(place, session, told);
  return lines;
}

interface Around {
  readonly window: OpenWindow;
  readonly windows: readonly OpenWindow[];
  readonly after: Snapshot;
}

function claimsOf(scene: Scene, place: WorkPlace, ledgers: Ledgers, around: Around): LedgerEntry[] {
  const { window, windows, after } = around;
  const closed: Window[] = ledgers.all.flatMap((ledger) => ledger.windows);
  const others = [...windows, ...closed].filter(
    (one) => one.session !== window.session && one.id !== ARRIVAL && !isForgotten(one, scene.now),
  );
  const sure = windowEvidence({ ...window, to: scene.now }, others);
  return changesBetween(window.snapshot, after).flatMap((change): LedgerEntry[] => {
    const { path, base, before } = change;
    const named = window.named.some((name) => path === name || path.startsWith(`${name}/`));
    const agent = scene.event.agent === undefined ? {} : { agent: scene.event.agent };
    const claim = { t: 'claim' as const, path, base, before, after: change.after, ...agent, at: scene.now };
    if (isOthers(change, ledgers, window)) return [];
    if (named) return [{ ...claim, evidence: 'explicit', weak: false }];
    const mine = ledgers.self.claims.has(path);
    const theirs = ledgers.all.some((one) => one !== ledgers.self && one.claims.has(path));
    // Dirty before, and nobody's: a formatter or a test run does not make it anybody's.
    if (change.wasDirty && !mine && !theirs) return [];
    const weak = sure.weak || (theirs && !mine) || !changedWithin(place, change, window, scene.now);
    return [{ ...claim, evidence: 'window', weak }];
  });
}

/** A command whose end nobody has told of: the session has crashed, or its client gave it up. Milliseconds. */
const FORGOTTEN_MS = 10 * 60_000;

function isForgotten({ from, to }: Window, now: number): boolean {
  return to === undefined && now - from > FORGOTTEN_MS;
}

/** Another session's own tool call, on record since the window opened, made this very change. */
function isOthers(change: WindowChange, { all, self }: Ledgers, window: OpenWindow): boolean {
  return all.some((ledger) => {
    const claim = ledger === self ? undefined : ledger.claims.get(change.path);
    return claim?.evidence === 'explicit' && claim.at >= window.from && sameState(claim.after, change.after);
  });
}

function changedWithin(
  place: WorkPlace,
  { path, before, after }: WindowChange,
  window: Window,
  now: number,
): boolean {
  // What is gone has no time, and that of a submodule's folder says nothing about its commit.
  if (after === null || after.mode === '160000') return true;
  // A change of the mode leaves the time of the content.
  if (before?.oid === after.oid && after.oid !== null) return true;
  const at = changedAt(place.top, path);
  return at !== undefined && at >= window.from - CLOCK_SLACK_MS && at <= now + CLOCK_SLACK_MS;
}

/** Without a look before, what the client says that the command changed. */
function toldChanges(scene: Scene, place: WorkPlace, after: Snapshot): LedgerEntry[] {
  return scene.event.changedFiles.flatMap((file): LedgerEntry[] => {
    const placed = placeOf(file, true);
    const dirty = placed === undefined ? undefined : after.dirty.get(placed.path);
    if (placed?.found.gitDir !== place.gitDir || dirty === undefined) return [];
    const { path, head, disk } = dirty;
    const claim = { path, base: head, before: head, after: disk, at: scene.now };
    return [{ t: 'claim', ...claim, evidence: 'window', weak: false }];
  });
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

/** Others' uncommitted work that is gone from the working tree, by this command and by nothing of their own. */
function endedOfOthers(
  window: OpenWindow,
  windows: readonly OpenWindow[],
  { all, self }: Ledgers,
  after: Snapshot,
): OpenClaim[] {
  return all.flatMap((ledger) => {
    const busy = [...ledger.windows, ...windows.filter(({ session }) => session === ledger.session)];
    if (
      ledger === self ||
      overlaps(
        window,
        busy.filter(({ id }) => id !== ARRIVAL),
      )
    )
      return [];
    return [...ledger.claims.values()].filter(
      ({ path, weak, at }) =>
        !weak && at < window.from && window.snapshot.dirty.has(path) && !after.dirty.has(path),
    );
  });
}

/** Tells an owner what became of its work. That it was thrown away is told to everybody, as it is. */
function endedEvents(
  ended: readonly OpenClaim[],
  session: SessionId,
  isCommit: boolean,
  now: number,
): LedgerEntry[] {
  if (!isCommit) return [];
  return [...new Set(ended.map((claim) => claim.session))].map((owner) => {
    const paths = ended.filter((claim) => claim.session === owner).map(({ path }) => escapeLine(path));
    const names = paths.slice(0, MAX_NAMES).join(', ') + (paths.length > MAX_NAMES ? ' …' : '');
    return event(
      `${theSession(session)} took your uncommitted changes in ${names} into its commit, or away with it. Look: git log -3 --stat`,
      now,
      owner,
    );
  });
}

function endedNotice({ path, session }: OpenClaim, isCommit: boolean, kept: number | undefined): string {
  const deed = isCommit ? 'went into your commit' : 'was put back to what HEAD has';
  const look = kept === undefined ? 'git stash list; git log -3 --stat' : `git handoff rescue show ${kept}`;
  return `${escapeLine(path)} ${deed}: ${theSession(session).toLowerCase()} had uncommitted work in it. Tell your person, and look: ${look}`;
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

const MAX_NAMES = 5;

/** Tells the others that uncommitted work was thrown away, so that nobody "repairs" it. */
function discardedEvents(before: Snapshot, after: Snapshot, { self }: Ledgers, now: number): LedgerEntry[] {
  const gone = discardedBetween(before, after);
  if (gone.length === 0) return [];
  const names = gone.slice(0, MAX_NAMES).map(escapeLine).join(', ');
  const more = gone.length > MAX_NAMES ? ` and ${gone.length - MAX_NAMES} more` : '';
  return [
    event(
      `${theSession(self.session)} put back what HEAD has in ${names}${more}: the uncommitted changes there are gone, ` +
        'by its own command. Ask before you repair it.',
      now,
    ),
  ];
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
