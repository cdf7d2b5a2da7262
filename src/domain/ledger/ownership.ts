import { type SessionId, canMean, meantId, sessionOfOwner } from '../names.ts';
import type { OpenClaim, SessionLedger, PathChange } from './claims.ts';
import { isCommitted } from '../journal/fold.ts';
import {
  type FileState,
  rankOf,
  sameState,
  type DirtyPath,
  type TreeStatus,
  type Wish,
} from './tree-status.ts';

/** Who owns a dirty path, by the ledgers of a worktree; who has asked for it; and what a commit takes of it. Pure. */

/** The sessions that count as one with the asking session, and the other live ones. */
export interface SessionGroups {
  /** The session itself, those whose conversation it carries on, its parents and children. */
  readonly own: ReadonlySet<SessionId>;
  readonly foreign: ReadonlySet<SessionId>;
  /** The sessions in `foreign` that wait for their user: what they own may be taken. */
  readonly idle?: ReadonlySet<SessionId>;
  readonly clients?: ReadonlyMap<SessionId, string>;
}

/** Returns which of these sessions are at work beside the asking one: only a person may take what they own. */
export function atWorkBeside(sessions: readonly SessionId[], { foreign, idle }: SessionGroups): SessionId[] {
  return [...new Set(sessions)].filter((id) => foreign.has(id) && idle?.has(id) !== true);
}

/** Whether a trailer names the asking side; false if a short id fits a session in `foreign`, too. */
export function namesOwn(trailer: string, { own, foreign }: SessionGroups): boolean {
  const fits = (ids: ReadonlySet<string>) => [...ids].some((id) => canMean(trailer, id));
  return (own as ReadonlySet<string>).has(trailer) || (fits(own) && !fits(foreign));
}

/** Returns the other live session that a trailer names; none if a short id fits several. */
export function namedPeer(trailer: string, { own, foreign }: SessionGroups): SessionId | undefined {
  const id = meantId(trailer, [...own, ...foreign]);
  return id !== undefined && foreign.has(id) ? id : undefined;
}

/** The open claims on a path: of the asking side, of other live sessions, and of sessions that are not live. */
export interface PathClaims {
  readonly own: readonly OpenClaim[];
  readonly foreign: readonly OpenClaim[];
  readonly left: readonly OpenClaim[];
  /**
   * A touch is a claim on a path that another live session had claimed before, with better proof. A touch refuses nobody. When
   * the earlier claim ends, the touch becomes a claim like any other.
   */
  readonly ownTouches: readonly OpenClaim[];
  readonly foreignTouches: readonly OpenClaim[];
}

/** Returns the open claims on a path. `head`: what HEAD has there, if it was read; `more`: claims that no ledger has yet. */
export function claimsOn(
  path: string,
  ledgers: readonly SessionLedger[],
  groups: SessionGroups,
  head: FileState | undefined,
  more: readonly OpenClaim[] = [],
): PathClaims {
  const all = [...ledgers.flatMap(({ claims }) => claims.get(path) ?? []), ...more];
  return rankClaims(head === undefined ? all : all.filter((claim) => !isCommitted(claim, head)), groups);
}

/** Divides the open claims on one path by side, and separates touches from claims. */
export function rankClaims(open: readonly OpenClaim[], groups: SessionGroups): PathClaims {
  const own = open.filter(({ session }) => groups.own.has(session));
  const foreign = open.filter(({ session }) => groups.foreign.has(session));
  const live = [...own, ...foreign];
  const isTouch = (claim: OpenClaim) => live.some((other) => outranks(other, claim));
  return {
    own: own.filter((claim) => !isTouch(claim)),
    foreign: foreign.filter((claim) => !isTouch(claim)),
    left: open.filter((claim) => !live.includes(claim)),
    ownTouches: own.filter(isTouch),
    foreignTouches: foreign.filter(isTouch),
  };
}

/** Whether `first` is another session's earlier claim with better proof. Evidence `window` of a later claim proves nothing. */
function outranks(first: OpenClaim, later: OpenClaim): boolean {
  if (first.session === later.session || first.weak || first.since >= later.since) return false;
  return later.evidence === 'window' || rankOf(later.evidence) < rankOf(first.evidence);
}

/** Whether all that differs from HEAD at a path is the asking session's: only then may a hint offer a command to discard it. */
export function isWhollyMine(
  dirty: DirtyPath,
  ledgers: readonly SessionLedger[],
  groups: SessionGroups,
): boolean {
  const { path, head, disk } = dirty;
  const { own, foreign, left, foreignTouches } = claimsOn(path, ledgers, groups, head);
  const [claim, ...more] = own;
  if (claim === undefined || claim.weak || more.length + foreign.length + left.length > 0) return false;
  const [first] = claim.changes;
  const isWhole = claim.changes.length === 1 && first !== undefined && sameState(first.before, claim.base);
  return isWhole && foreignTouches.length === 0 && (sameState(claim.after, disk) || isUnread(disk));
}

/** Whether the content was not read: it was too big, or is a link or a submodule. */
function isUnread(state: FileState): boolean {
  return state !== null && state.oid === null;
}

/** Returns the claims that refuse, without those that only warn. */
export function strong(claims: readonly OpenClaim[]): OpenClaim[] {
  return claims.filter(({ weak }) => !weak);
}

/** Returns other live sessions' touches of a path, and those of their claims that only warn. */
export function doubts({ foreign, foreignTouches }: PathClaims): OpenClaim[] {
  return [...foreign.filter(({ weak }) => weak), ...foreignTouches];
}

/** Whether a session itself put this content of a path into the index. */
export function hasStaged({ staged }: SessionLedger, path: string, index: FileState): boolean {
  return staged.get(path)?.some(({ state }) => sameState(state, index)) === true;
}

/**
 * Whether a session made the change of a path in a commit. The commit's trailers decide or, if it has none, the session's allowed
 * commits. `owns` tells whether an id in a trailer means that session.
 */
export function isMaker(
  { session, commits }: SessionLedger,
  { sessions, path, index }: { sessions: readonly string[]; path: string; index: FileState },
  owns: (session: SessionId, id: string) => boolean,
): boolean {
  if (sessions.length > 0) return sessions.some((id) => owns(session, id));
  return commits.some(({ paths }) => paths.some(([name, state]) => name === path && sameState(state, index)));
}

/**
 * A refused session's request about another session's claim on one path. The asking session's ledger holds it, and the
 * other session finds it at its next call. It counts as long as the claim is open and the asking session is at work; a request
 * to commit ends with the asking session's next commit.
 */
export interface Request {
  readonly from: SessionId;
  /** The session to notify: `owner`, or the session that continues its conversation. */
  readonly to: SessionId;
  /** The session that made the change. */
  readonly owner: SessionId;
  readonly wish: Wish;
  readonly path: string;
  /** One id for all of a session's requests about one claim. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** When it was delivered; `undefined`: not yet. */
  readonly handedAt: number | undefined;
}

/** Returns the requests that still count according to a worktree's ledgers, oldest first: one for each asker and claim. */
export function openRequests(ledgers: readonly SessionLedger[]): Request[] {
  const found = new Map<string, Request>();
  const asked = ledgers
    .flatMap(({ session, requests }) => requests.map((request) => ({ from: session, ...request })))
    .sort((a, b) => a.at - b.at);
  for (const { from, to, wish, paths, at } of asked) {
    const ownerAs = (id: SessionId) => ledgers.find(({ session }) => session === id);
    // What a stopped sub-agent has left belongs to its session.
    const owner = ownerAs(to) ?? ownerAs(sessionOfOwner(to));
    for (const path of paths) {
      const claim = owner?.claims.get(path);
      // A request cannot mean a claim that began after it.
      if (owner === undefined || claim === undefined || claim.since > at) continue;
      const id = `request:${from}:${claim.since}:${path}`;
      const heirs = heirsOf(owner, ledgers);
      const handedAt = heirs.map(({ notified }) => notified.get(id)).find((time) => time !== undefined);
      const heir = heirs.at(-1)?.session ?? to;
      if (!found.has(id))
        found.set(id, { from, to: heir, owner: owner.session, wish, path, id, at, handedAt });
    }
  }
  return [...found.values()];
}

/** The id that a session records as `notified` if it continues `former`'s conversation (`/clear`). No news has such an id. */
export const carriesOn = (former: SessionId) => `carries-on:${former}`;

/** A session and those whose conversation it carries on, as far as their ledgers exist. */
export function conversationOf(
  session: SessionId,
  ledgers: readonly SessionLedger[],
): ReadonlySet<SessionId> {
  const found = new Set([session]);
  for (const id of found) {
    const heard = ledgers.find((one) => one.session === id)?.notified;
    for (const former of ledgers)
      if (heard?.has(carriesOn(former.session)) === true) found.add(former.session);
  }
  return found;
}

/** A session and those that continued its conversation, oldest first. */
function heirsOf(owner: SessionLedger, ledgers: readonly SessionLedger[]): SessionLedger[] {
  const heirs = [owner];
  for (let heir: SessionLedger | undefined = owner; heir !== undefined;) {
    const last: SessionLedger = heir;
    heir = ledgers.find((one) => one.notified.has(carriesOn(last.session)) && !heirs.includes(one));
    if (heir !== undefined) heirs.push(heir);
  }
  return heirs;
}

const DEEDS: Readonly<Record<Wish, string>> = {
  edit: 'wants to edit',
  commit: 'wants to commit',
  discard: 'wants to discard changes in',
  stash: 'wants to stash',
  switch: 'wants to switch branches and would take along',
};

/** Says what a session wants: "codex bbbbbbbb wants to edit src/a.ts". */
export function wishText(who: string, wish: Wish, names: string): string {
  return `${who} ${DEEDS[wish]} ${names}`;
}

/** Who owns a dirty path, as `git handoff status`, `take -- <path>` and `sessions` show it. */

/** `other`: another live session's · `left`: of a session that is over · `contended`: of several live sessions. */
export type BelongsTo = 'mine' | 'other' | 'left' | 'nobody' | 'contended';

export interface Belonging {
  readonly state: BelongsTo;
  /** The claims that prove this, one for each session: the asking session's first, then the newest first. */
  readonly claims: readonly OpenClaim[];
  /** Whether all these claims only warn. */
  readonly weak: boolean;
}

/**
 * Judges the open claims on a path. A sure claim outweighs a weak one. Of equally sure claims, one of a live session outweighs
 * one of a session that is over. `areOne`: whether two sessions count as one (one conversation, or one started in the other).
 */
export function decideBelonging(
  { own, foreign, left }: Pick<PathClaims, 'own' | 'foreign' | 'left'>,
  areOne: (a: SessionId, b: SessionId) => boolean,
): Belonging {
  const live = [...newestFirst(own), ...newestFirst(foreign)];
  const choices = [strong(live), strong(newestFirst(left)), live, newestFirst(left)];
  const claims = choices.find((some) => some.length > 0) ?? [];
  const [first] = claims;
  if (first === undefined) return { state: 'nobody', claims, weak: false };
  const { weak } = first;
  if (left.includes(first)) return { state: 'left', claims, weak };
  if (claims.some(({ session }) => !areOne(session, first.session))) {
    return { state: 'contended', claims, weak };
  }
  return { state: own.includes(first) ? 'mine' : 'other', claims, weak };
}

function newestFirst(claims: readonly OpenClaim[]): OpenClaim[] {
  return [...claims].sort((a, b) => b.at - a.at);
}

/** How a path differs from HEAD; a rename is a deletion and an addition. */
export type ChangeKind = 'added' | 'modified' | 'deleted' | 'type-changed' | 'mode';

/** Returns how the disk differs from HEAD or, if it does not, how the index does. */
export function changeKind({ head, index, disk }: DirtyPath): ChangeKind {
  const now = sameState(disk, head) ? index : disk;
  if (head === null) return 'added';
  if (now === null) return 'deleted';
  if (head.mode.slice(0, 3) !== now.mode.slice(0, 3)) return 'type-changed';
  return head.mode !== now.mode && head.oid === now.oid ? 'mode' : 'modified';
}

/** Whether the index holds a part of the change. */
export function isStaged({ head, index }: DirtyPath): boolean {
  return !sameState(head, index);
}

/** Orders several claims' changes as they were made: each begins where the one before it ended, as far as they fit together. */
export function chainChanges(base: FileState, claims: readonly OpenClaim[]): PathChange[] {
  const open = [...claims].sort((a, b) => a.since - b.since).flatMap(({ changes }) => changes);
  const chain: PathChange[] = [];
  for (let at = base; open.length > 0; at = chain.at(-1)?.after ?? null) {
    const next = open.findIndex(({ before }) => sameState(before, at));
    chain.push(...open.splice(Math.max(0, next), 1));
  }
  return chain;
}

/** The open claims on a path whose content on the disk differs from HEAD's, as one session sees them. */
export interface PathPart {
  readonly dirty: DirtyPath;
  readonly claims: PathClaims;
  /** Those of `claims` that count as the session's own, touches last. */
  readonly mine: readonly OpenClaim[];
}

/**
 * Separates a session's claims on dirty paths from all others: this decides what `commit` takes, `diff` shows and `undo` takes
 * back. `owners`: the sessions whose changes count as the session's own; `unrecorded`: claims that no ledger has yet.
 */
export function divideWork(
  { status, ledgers }: { readonly status: TreeStatus; readonly ledgers: readonly SessionLedger[] },
  groups: SessionGroups,
  owners: ReadonlySet<SessionId>,
  unrecorded: readonly OpenClaim[],
): PathPart[] {
  return [...status.dirty.values()].filter(differsOnDisk).map((dirty) => {
    const more = unrecorded.filter(({ path }) => path === dirty.path);
    const claims = claimsOn(dirty.path, ledgers, groups, dirty.head, more);
    const mine = [...claims.own, ...claims.ownTouches].filter(({ session }) => owners.has(session));
    return { dirty, claims, mine };
  });
}

/** Whether a commit or patch can name a path. It cannot name a repository inside the tree (`…/`), or a path that is not UTF-8. */
export function isUsable(path: string): boolean {
  return !path.endsWith('/') && !path.includes('\ufffd');
}

/** Whether the disk differs from HEAD; what only the index shows is nobody's work. */
export function differsOnDisk({ head, disk }: DirtyPath): boolean {
  return !sameState(head, disk);
}
