import type { SessionId } from '../domain/names.ts';
import { type LedgerPlace, appendEvents, readAllLedgers, readLedger } from '../sessions/journal.ts';

/**
 * Which paths were changed in which worktrees, as the sessions of a repository note it while they work in several. These are
 * hints: what they say is looked at before anybody hears of it, and any of them may be missing.
 */

/** Notes that paths, from the top, were changed in a worktree. `all`: no others were, until now. */
export function noteChanged(
  place: LedgerPlace,
  session: SessionId,
  paths: readonly string[],
  now: number,
  all = false,
): void {
  if (!all && !isAnybodyElsewhere(place)) return;
  const { changed } = readLedger(place, session);
  const fresh = paths.filter((path) => !changed.has(path));
  if (fresh.length > 0 || all) {
    appendEvents(place, session, [{ t: 'changed', paths: fresh, ...(all ? { all } : {}), at: now }]);
  }
}

/** Whether sessions are on record in other worktrees, as far as the journals tell. */
function isAnybodyElsewhere({ commonDir, worktreeId }: LedgerPlace): boolean {
  return readAllLedgers(commonDir).some(
    ({ place, ledger }) => place.worktreeId !== worktreeId && ledger.registrations.size > 0,
  );
}

/** The ids of the worktrees in which a path was changed. */
export function treesWith(commonDir: string, path: string): Set<string> {
  const found = readAllLedgers(commonDir).filter(({ ledger }) => ledger.changed.has(path));
  return new Set(found.map(({ place }) => place.worktreeId));
}

/** Paths that were changed in a worktree and in others, by the others' ids. */
export function pathsInBoth({ commonDir, worktreeId }: LedgerPlace): Map<string, string[]> {
  const all = readAllLedgers(commonDir);
  const here = new Set(
    all.flatMap(({ place, ledger }) => (place.worktreeId === worktreeId ? [...ledger.changed] : [])),
  );
  const shared = new Map<string, string[]>();
  for (const { place, ledger } of all) {
    if (place.worktreeId === worktreeId) continue;
    const known = shared.get(place.worktreeId) ?? [];
    const more = [...ledger.changed].filter((path) => here.has(path) && !known.includes(path));
    if (more.length > 0) shared.set(place.worktreeId, [...known, ...more]);
  }
  return shared;
}

/** What was noted of a path is not true any more, but for one worktree. */
export function forgetElsewhere({ commonDir, worktreeId }: LedgerPlace, path: string, now: number): void {
  for (const { place, ledger } of readAllLedgers(commonDir)) {
    if (place.worktreeId === worktreeId || !ledger.changed.has(path)) continue;
    appendEvents(place, ledger.session, [{ t: 'unchanged', paths: [path], at: now }]);
  }
}

/** Whether all that had been changed in a worktree is noted. */
export function isListed({ commonDir, worktreeId }: LedgerPlace): boolean {
  return readAllLedgers(commonDir).some(
    ({ place, ledger }) => place.worktreeId === worktreeId && ledger.isListed,
  );
}

/** Nobody notes any more what is changed in a worktree (in any, where none is named): who comes next lists it again. */
export function unlist(commonDir: string, now: number, worktreeId?: string): void {
  for (const { place, ledger } of readAllLedgers(commonDir)) {
    if (!ledger.isListed || (worktreeId !== undefined && place.worktreeId !== worktreeId)) continue;
    appendEvents(place, ledger.session, [{ t: 'unchanged', at: now }]);
  }
}
