import { type SessionId, canMean, meantId } from '../names.ts';
import { type OpenClaim, type SessionLedger, isCommitted } from './claims.ts';
import type { FileState } from './file-state.ts';

/** Whose a dirty path is, told from the ledgers of a worktree. */

/** The sessions that count as one with the asking one, and those that are at work beside it. */
export interface Sides {
  /** The session itself, those whose conversation it carries on, its parents and children. */
  readonly own: ReadonlySet<SessionId>;
  /** Live sessions that are none of its own. */
  readonly foreign: ReadonlySet<SessionId>;
}

/** Whether a trailer names the asking session; not with a short form that fits another one, too. */
export function namesOwn(trailer: string, { own, foreign }: Sides): boolean {
  const fits = (ids: ReadonlySet<string>) => [...ids].some((id) => canMean(trailer, id));
  return (own as ReadonlySet<string>).has(trailer) || (fits(own) && !fits(foreign));
}

/** The session at work beside it that a trailer names; not with a short form that fits several. */
export function namedPeer(trailer: string, { own, foreign }: Sides): SessionId | undefined {
  const id = meantId(trailer, [...own, ...foreign]);
  return id !== undefined && foreign.has(id) ? id : undefined;
}

/** The open claims on a path, by side; claims of sessions that are over count for nobody. */
export interface PathClaims {
  readonly own: readonly OpenClaim[];
  readonly foreign: readonly OpenClaim[];
  /** Of sessions that are not live. */
  readonly left: readonly OpenClaim[];
}

/**
 * Claims on a path that have not ended.
 *
 * @param head what HEAD has there; `undefined` when it was not looked at
 */
export function claimsOn(
  path: string,
  ledgers: readonly SessionLedger[],
  sides: Sides,
  head: FileState | undefined,
): PathClaims {
  const open = ledgers.flatMap(({ claims }) => {
    const claim = claims.get(path);
    return claim === undefined || (head !== undefined && isCommitted(claim, head)) ? [] : [claim];
  });
  return {
    own: open.filter(({ session }) => sides.own.has(session)),
    foreign: open.filter(({ session }) => sides.foreign.has(session)),
    left: open.filter(({ session }) => !sides.own.has(session) && !sides.foreign.has(session)),
  };
}

/** Claims that refuse: not those which only warn. */
export function strong(claims: readonly OpenClaim[]): OpenClaim[] {
  return claims.filter(({ weak }) => !weak);
}
