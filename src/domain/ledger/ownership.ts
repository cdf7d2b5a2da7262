import { type SessionId, canMean, meantId } from '../names.ts';
import type { OpenClaim, SessionLedger } from './claims.ts';
import { isCommitted } from '../journal/fold.ts';
import { type FileState, rankOf, sameState } from './file-state.ts';
import type { DirtyPath } from './tree-status.ts';

/** Who owns a dirty path, by the ledgers of a worktree. */

/** The sessions that count as one with the asking one, and those that are live beside it. */
export interface SessionGroups {
  /** The session itself, those whose conversation it carries on, its parents and children. */
  readonly own: ReadonlySet<SessionId>;
  /** Live sessions that are not among its own. */
  readonly foreign: ReadonlySet<SessionId>;
  /** Those of the foreign ones that wait for their user: what they own may be taken. */
  readonly idle?: ReadonlySet<SessionId>;
  /** The client of each session on record. */
  readonly clients?: ReadonlyMap<SessionId, string>;
}

/** Returns the sessions among these that are at work beside the asking one: only a person takes what they own. */
export function atWorkBeside(sessions: readonly SessionId[], { foreign, idle }: SessionGroups): SessionId[] {
  return [...new Set(sessions)].filter((id) => foreign.has(id) && idle?.has(id) !== true);
}

/** Whether a trailer names the asking session; not if a short id fits another session, too. */
export function namesOwn(trailer: string, { own, foreign }: SessionGroups): boolean {
  const fits = (ids: ReadonlySet<string>) => [...ids].some((id) => canMean(trailer, id));
  return (own as ReadonlySet<string>).has(trailer) || (fits(own) && !fits(foreign));
}

/** Returns the live session beside the asking one that a trailer names; none if a short id fits several. */
export function namedPeer(trailer: string, { own, foreign }: SessionGroups): SessionId | undefined {
  const id = meantId(trailer, [...own, ...foreign]);
  return id !== undefined && foreign.has(id) ? id : undefined;
}

/** The open claims on a path, by side; claims of sessions that are over count for nobody. */
export interface PathClaims {
  readonly own: readonly OpenClaim[];
  readonly foreign: readonly OpenClaim[];
  /** Claims of sessions that are not live. */
  readonly left: readonly OpenClaim[];
  /**
   * Touches of the asking side and of the others: changes of a path that another live session had claimed before, with
   * better proof. They refuse nobody; when that claim ends, they become claims like any other.
   */
  readonly ownTouches: readonly OpenClaim[];
  readonly foreignTouches: readonly OpenClaim[];
}

/**
 * Returns the claims on a path that have not ended.
 *
 * @param head what HEAD has there; `undefined` if it was not read
 * @param more claims on the path that no ledger has yet
 */
export function claimsOn(
  path: string,
  ledgers: readonly SessionLedger[],
  groups: SessionGroups,
  head: FileState | undefined,
  more: readonly OpenClaim[] = [],
): PathClaims {
  const recorded = ledgers.flatMap(({ claims }) => {
    const claim = claims.get(path);
    return claim === undefined || (head !== undefined && isCommitted(claim, head)) ? [] : [claim];
  });
  return rankClaims([...recorded, ...more], groups);
}

/** Divides the open claims on one path by side, and tells claims from touches. */
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

/** Whether another session's claim was there first and the later one proves less; a `window` proves nothing beside it. */
function outranks(first: OpenClaim, later: OpenClaim): boolean {
  if (first.session === later.session || first.weak || first.since >= later.since) return false;
  return later.evidence === 'window' || rankOf(later.evidence) < rankOf(first.evidence);
}

/**
 * Whether all that differs from HEAD at a path is the asking session's: only then may a hint offer a command that
 * throws it away. What somebody else changed there before or after belongs to another.
 */
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

/** Whether the content was not read: it was too big, or a link or a submodule has none. */
function isUnread(state: FileState): boolean {
  return state !== null && state.oid === null;
}

/** Returns the claims that refuse, without those that only warn. */
export function strong(claims: readonly OpenClaim[]): OpenClaim[] {
  return claims.filter(({ weak }) => !weak);
}

/**
 * Whether a session made a commit's change of a path: by the commit's trailers or, if it has none, by the commits that
 * the session was allowed.
 *
 * @param owns whether an id in a trailer is that session's
 */
export function isMaker(
  { session, commits }: SessionLedger,
  { sessions, path, index }: { sessions: readonly string[]; path: string; index: FileState },
  owns: (session: SessionId, id: string) => boolean,
): boolean {
  if (sessions.length > 0) return sessions.some((id) => owns(session, id));
  return commits.some(({ paths }) => paths.some(([name, state]) => name === path && sameState(state, index)));
}
