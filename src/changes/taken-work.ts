import type { LedgerEntry, OpenClaim, SessionLedger } from '../domain/ledger/claims.ts';
import type { Reversal } from '../domain/ledger/mixing.ts';
import type { Snapshot } from '../domain/ledger/snapshot.ts';
import { type Oid, type SessionId, canMean } from '../domain/names.ts';
import { peerName } from '../domain/owner-name.ts';
import { escapeLine, listed } from '../domain/surfacing.ts';
import { newestChanges } from '../git/staged.ts';
import { nameHash } from '../host/name-hash.ts';
import { readClients } from '../sessions/records.ts';
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
    const clients = untold.length === 0 ? undefined : await readClients({ cwd: top });
    found.set(session, [...ends, ...takenEvents({ session, clients, canUndo, at }, untold)]);
  }
  return found;
}

/** Who is to hear of it, and what is known where its work was taken. */
interface Hearing {
  readonly session: SessionId;
  readonly clients: ReadonlyMap<SessionId, string> | undefined;
  readonly canUndo: (oid: Oid) => boolean;
  readonly at: number;
}

/** One for each commit, with the same id whoever sees it. */
function takenEvents(
  { session, clients, canUndo, at }: Hearing,
  changes: readonly Reversal[],
): LedgerEntry[] {
  return [...new Set(changes.map(({ commit }) => commit))].map((oid) => {
    const own = changes.filter(({ commit }) => commit === oid);
    const by = own[0]?.session;
    const who = by === undefined ? 'an unknown author' : peerName(by, { clients });
    const paths = own.map(({ path }) => escapeLine(path));
    const id = `taken:${nameHash([oid, ...paths].join(' '))}`;
    return { t: 'event', id, text: takenText(oid, who, paths, canUndo(oid)), to: session, at };
  });
}

function takenText(oid: Oid, who: string, paths: readonly string[], canUndo: boolean): string {
  const undo = canUndo
    ? ` To undo it and keep all files: git reset ${oid.slice(0, 12)}~1 (the user may have made it: ask first).`
    : '';
  return `Commit ${shortOid(oid)}, by ${who}, took your uncommitted changes in ${listed(paths)}.${undo} See: git show --stat ${shortOid(oid)}`;
}
