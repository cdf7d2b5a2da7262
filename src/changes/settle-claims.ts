import { claimsSettled, cleanPaths } from '../domain/ledger/claim-events.ts';
import type { OpenClaim, SessionLedger } from '../domain/ledger/claims.ts';
import type { WorktreeEvent } from '../domain/journal/events.ts';
import { type FileState, sameState, type TreeStatus } from '../domain/ledger/tree-status.ts';
import type { Reversal } from '../domain/ledger/mixing.ts';
import { rankClaims } from '../domain/ledger/ownership.ts';
import { type SessionId, type Oid, canMean, shortOid, peerName, sessionOfOwner } from '../domain/names.ts';
import { escapeLine, listed } from '../domain/messages.ts';
import { isPushed } from '../git/config.ts';
import { newestChanges } from '../git/staged.ts';
import { nameHash } from '../host/folders.ts';
import { readClients } from '../sessions/records.ts';
import { commitRuns, readWindows, statesAt, type WorkPlace } from './windows.ts';

/**
 * Returns what a status adds to each session's ledger: which claims end, and which come back. Reads HEAD only at claimed paths
 * that are clean, and history only for claims whose change is in no allowed commit. `window`: the asking session's command that
 * just ended. `isNotified`: whether a claim's session learns in another way that a commit took its change.
 */
export async function settledClaims(
  place: WorkPlace,
  ledgers: readonly SessionLedger[],
  status: TreeStatus,
  {
    window,
    timeoutMs,
    isNotified = () => false,
  }: {
    readonly window?: string | undefined;
    readonly timeoutMs?: number | undefined;
    readonly isNotified?: (claim: OpenClaim) => boolean;
  } = {},
): Promise<ReadonlyMap<SessionId, readonly WorktreeEvent[]>> {
  const heads = await statesAt(place.top, status.head.oid, cleanPaths(ledgers, status), timeoutMs);
  const settled = claimsSettled(ledgers, status, heads, commitRuns(place, status.at, window));
  const taken = takenClaims(ledgers, status, heads).filter((claim) => !isCommitting(place, claim));
  if (taken.length === 0) return settled;
  const entries = await takenEntries(place.top, taken, ledgers, status, isNotified);
  return new Map(
    [...settled].map(([session, known]) => {
      const more = entries.get(session) ?? [];
      const ended = new Set(more.flatMap((entry) => (entry.t === 'end' ? [entry.path] : [])));
      return [session, [...known.filter((one) => one.t !== 'end' || !ended.has(one.path)), ...more]];
    }),
  );
}

/** Whether the claim's session is running `git commit`: the commit may be its own, even if no git hook of ours reports it. */
function isCommitting(place: WorkPlace, { session, path }: OpenClaim): boolean {
  return readWindows(place, session).some(({ commits, status }) => commits && status.dirty.has(path));
}

/** Ends claims whose change somebody else committed, and notifies their sessions. Undoing the commit restores the claim. */
async function takenEntries(
  top: string,
  taken: readonly OpenClaim[],
  ledgers: readonly SessionLedger[],
  { head, at }: TreeStatus,
  isNotified: (claim: OpenClaim) => boolean,
): Promise<Map<SessionId, WorktreeEvent[]>> {
  const found = new Map<SessionId, WorktreeEvent[]>();
  for (const { session, head: seen } of ledgers) {
    const claims = taken.filter((claim) => claim.session === session);
    if (claims.length === 0 || seen === undefined || head.oid === null) continue;
    const range = seen.oid === null ? head.oid : `${seen.oid}..${head.oid}`;
    const changes = await newestChanges(
      top,
      claims.map(({ path }) => path),
      range,
    );
    const isOwn = (change: Reversal) =>
      change.session !== undefined && canMean(change.session, sessionOfOwner(session));
    const others = changes.filter((change) => !isOwn(change));
    const ends = changes.map((change): WorktreeEvent => ({
      t: 'end',
      path: change.path,
      why: isOwn(change) ? 'committed' : 'clean',
      at,
    }));
    const unreported = others.filter(({ path }) =>
      claims.some((claim) => claim.path === path && !isNotified(claim)),
    );
    const last = seen.oid === null ? undefined : head.oid;
    const notices = unreported.length === 0 ? [] : await takenEvents(top, session, unreported, last, at);
    found.set(session, [...ends, ...notices]);
  }
  return found;
}

/** Returns one event per commit, with the same id whoever finds the commit. A reset can undo `last`, unless it is pushed. */
async function takenEvents(
  top: string,
  session: SessionId,
  changes: readonly Reversal[],
  last: Oid | undefined,
  at: number,
): Promise<WorktreeEvent[]> {
  const [clients, pushed] = await Promise.all([
    readClients({ cwd: top }),
    last === undefined || isPushed(top, last),
  ]);
  return [...new Set(changes.map(({ commit }) => commit))].map((oid) => {
    const own = changes.filter(({ commit }) => commit === oid);
    const by = own[0]?.session;
    const who = by === undefined ? 'the user or an unknown session' : peerName(by, { clients });
    const paths = own.map(({ path }) => escapeLine(path));
    const id = `taken:${nameHash([oid, ...paths].join(' '))}`;
    return {
      t: 'news',
      id,
      text: takenText(oid, who, paths, oid === last && !pushed),
      to: session,
      about: 'loss',
      at,
    };
  });
}

function takenText(oid: Oid, who: string, paths: readonly string[], canUndo: boolean): string {
  const undo = canUndo
    ? ` To undo it and keep all files: git reset ${oid.slice(0, 12)}~1 (the user may have made it: ask first).`
    : '';
  return `Commit ${shortOid(oid)}, by ${who}, took your uncommitted changes in ${listed(paths)}.${undo} See: git show --stat ${shortOid(oid)}`;
}

/**
 * Returns the claims whose change somebody else committed: HEAD has gained it since the claim's session last saw HEAD, on the
 * same branch, and no allowed commit of a session contains it. Leaves out weak claims. `heads`: what HEAD has at clean paths.
 */
function takenClaims(
  ledgers: readonly SessionLedger[],
  { head, dirty }: TreeStatus,
  heads: ReadonlyMap<string, FileState>,
): OpenClaim[] {
  const committedAt = (path: string) => dirty.get(path)?.head ?? heads.get(path) ?? null;
  return ledgers.flatMap((ledger) => {
    const seen = ledger.head;
    if (seen === undefined || seen.ref !== head.ref || seen.oid === head.oid) return [];
    return [...ledger.claims.values()].filter((claim) => {
      const state = committedAt(claim.path);
      if (claim.weak || !sameState(state, claim.after) || sameState(state, claim.base)) return false;
      return !isLetThrough(ledgers, claim) && !isTouch(ledgers, claim);
    });
  });
}

/** Whether an allowed commit of some session contains the claim's last state. */
function isLetThrough(ledgers: readonly SessionLedger[], { path, after }: OpenClaim): boolean {
  return ledgers.some(
    ({ claims, commits }) =>
      claims.get(path)?.committed.some((state) => sameState(state, after)) === true ||
      commits.some(({ paths }) => paths.some(([name, state]) => name === path && sameState(state, after))),
  );
}

function isTouch(ledgers: readonly SessionLedger[], claim: OpenClaim): boolean {
  const open = ledgers.flatMap(({ claims }) => claims.get(claim.path) ?? []);
  const own = new Set(open.map(({ session }) => session));
  return rankClaims(open, { own, foreign: new Set() }).ownTouches.includes(claim);
}
