import { claimsSettled, cleanPaths } from '../domain/ledger/claim-ends.ts';
import type { LedgerEntry, OpenClaim, SessionLedger } from '../domain/ledger/claims.ts';
import type { Snapshot } from '../domain/ledger/snapshot.ts';
import { takenClaims } from '../domain/ledger/taken.ts';
import type { SessionId } from '../domain/names.ts';
import { commitRuns } from './running-commit.ts';
import { statesAt } from './window-changes.ts';
import { readWindows } from './windows.ts';
import type { WorkPlace } from './work-place.ts';
import { takenEntries } from './taken-work.ts';

/**
 * What a look says of the open and the ended claims of all sessions, for their ledgers. HEAD is asked only where a claimed
 * path is clean, and who committed it only where no session's commit was let through with it.
 *
 * @param window the looking session's own command, which is over
 * @param isTold whether the session of a claim hears in another way that a commit took it
 */
export async function settledClaims(
  place: WorkPlace,
  ledgers: readonly SessionLedger[],
  snapshot: Snapshot,
  {
    window,
    timeoutMs,
    isTold = () => false,
  }: {
    readonly window?: string | undefined;
    readonly timeoutMs?: number | undefined;
    readonly isTold?: (claim: OpenClaim) => boolean;
  } = {},
): Promise<ReadonlyMap<SessionId, readonly LedgerEntry[]>> {
  const heads = await statesAt(place.top, snapshot.head.oid, cleanPaths(ledgers, snapshot), timeoutMs);
  const settled = claimsSettled(ledgers, snapshot, heads, commitRuns(place, snapshot.at, window));
  const taken = takenClaims(ledgers, snapshot, heads).filter((claim) => !isCommitting(place, claim));
  if (taken.length === 0) return settled;
  const entries = await takenEntries(place.top, taken, ledgers, snapshot, isTold);
  return new Map(
    [...settled].map(([session, known]) => {
      const more = entries.get(session) ?? [];
      const ended = new Set(more.flatMap((entry) => (entry.t === 'end' ? [entry.path] : [])));
      return [session, [...known.filter((one) => one.t !== 'end' || !ended.has(one.path)), ...more]];
    }),
  );
}

/** Its session is running `git commit`, perhaps in a shell where none of our hooks reports it. */
function isCommitting(place: WorkPlace, { session, path }: OpenClaim): boolean {
  return readWindows(place, session).some(({ commits, snapshot }) => commits && snapshot.dirty.has(path));
}
