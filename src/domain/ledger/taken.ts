import type { OpenClaim, SessionLedger } from './claims.ts';
import { type FileState, sameState } from './file-state.ts';
import { rankClaims } from './ownership.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Claims whose change HEAD holds since their session last saw where HEAD is, on the same branch, though no session's
 * commit was let through with it: somebody else's commit took them. What only may be its session's is left out.
 *
 * @param heads what HEAD has at claimed paths that are clean
 */
export function takenClaims(
  ledgers: readonly SessionLedger[],
  { head, dirty }: Snapshot,
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

/** Whether a session's commit was let through with the claim's last state. */
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
