import { claimsSettled, cleanPaths } from '../domain/ledger/claim-ends.ts';
import type { LedgerEntry, SessionLedger } from '../domain/ledger/claims.ts';
import type { Snapshot } from '../domain/ledger/snapshot.ts';
import type { SessionId } from '../domain/names.ts';
import { commitRuns } from './running-commit.ts';
import { statesAt } from './window-changes.ts';
import type { WorkPlace } from './work-place.ts';

/**
 * What a look says of the open and the ended claims of all sessions, for their ledgers. HEAD is asked only where a claimed
 * path is clean.
 *
 * @param window the looking session's own command, which is over
 */
export async function settledClaims(
  place: WorkPlace,
  ledgers: readonly SessionLedger[],
  snapshot: Snapshot,
  { window, timeoutMs }: { readonly window?: string | undefined; readonly timeoutMs?: number } = {},
): Promise<ReadonlyMap<SessionId, readonly LedgerEntry[]>> {
  const heads = await statesAt(place.top, snapshot.head.oid, cleanPaths(ledgers, snapshot), timeoutMs);
  return claimsSettled(ledgers, snapshot, heads, commitRuns(place, snapshot.at, window));
}
