import type { LedgerEntry, OpenClaim, SessionLedger } from '../domain/ledger/claims.ts';
import type { Reversal } from '../domain/ledger/mixing.ts';
import type { Snapshot } from '../domain/ledger/snapshot.ts';
import { type Oid, type SessionId, canMean, shortId } from '../domain/names.ts';
import { escapeLine, listed } from '../domain/surfacing.ts';
import { newestChanges } from '../git/staged.ts';
import { nameHash } from '../host/name-hash.ts';
import { shortOid } from './news.ts';

/**
 * Ends claims whose change is in somebody else's commit, and notifies their sessions. Such a claim comes back when the
 * commit is undone.
 *
 * @param taken of whatever sessions
 * @param isTold whether the session hears of it in another way
 */
export async function takenEntries(
  top: string,
  taken: readonly OpenClaim[],
  ledgers: readonly SessionLedger[],
  { head, at }: Snapshot,
  isTold: (claim: OpenClaim) => boolean,
): Promise<Map<SessionId, LedgerEntry[]>> {
  const found = new Map<SessionId, LedgerEntry[]>();
  for (const { session, head: seen } of ledgers) {
    const claims = taken.filter((claim) => claim.session === session);
    if (claims.length === 0 || seen === undefined || head.oid === null) continue;
    const range = seen.oid === null ? head.oid : `${seen.oid}..${head.oid}`;
    const changes = await newestChanges(
      top,
      claims.map(({ path }) => path),
      range,
    );
    const isOwn = (change: Reversal) => change.session !== undefined && canMean(change.session, session);
    const others = changes.filter((change) => !isOwn(change));
    const ends = changes.map((change): LedgerEntry => ({
      t: 'end',
      path: change.path,
      why: isOwn(change) ? 'committed' : 'clean',
      at,
    }));
    const untold = others.filter(({ path }) => claims.some((claim) => claim.path === path && !isTold(claim)));
    const canUndo = (oid: Oid) => oid === head.oid && seen.oid !== null;
    found.set(session, [...ends, ...takenEvents(session, untold, canUndo, at)]);
  }
  return found;
}

/** One for each commit, with the same id whoever sees it. */
function takenEvents(
  session: SessionId,
  changes: readonly Reversal[],
  canUndo: (oid: Oid) => boolean,
  at: number,
): LedgerEntry[] {
  return [...new Set(changes.map(({ commit }) => commit))].map((oid) => {
    const own = changes.filter(({ commit }) => commit === oid);
    const text = takenText(oid, own, canUndo(oid));
    return { t: 'event', id: `taken:${nameHash(text)}`, text, to: session, at };
  });
}

function takenText(oid: Oid, changes: readonly Reversal[], canUndo: boolean): string {
  const by = changes[0]?.session;
  const who = by === undefined ? 'an unknown author' : `session ${escapeLine(shortId(by))}`;
  const paths = changes.map(({ path }) => escapeLine(path));
  const undo = canUndo
    ? ` To undo it and keep all files: git reset ${oid.slice(0, 12)}~1 (the user may have made it: ask first).`
    : '';
  return `Commit ${shortOid(oid)}, by ${who}, took your uncommitted changes in ${listed(paths)}.${undo} See: git show --stat ${shortOid(oid)}`;
}
