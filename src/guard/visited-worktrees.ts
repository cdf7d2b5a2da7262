import type { SessionId } from '../domain/names.ts';
import { type FoundRepository, discoverRepository } from '../git/discover.ts';
import { exists } from '../host/disk.ts';
import { journalFile, worktreeId } from '../host/folders.ts';
import { appendEvents, readJournal, readLedger } from '../sessions/journal.ts';
import { knownRepositories } from './known-repositories.ts';

/**
 * Worktrees that a session touches from outside: its calls name another folder, or none, and its end is told there, too. Its
 * journal in that repository says so; the launcher hands every call of a session to Node that has one in another repository.
 */

/** Remembers that the session works in a worktree from outside. */
export function putVisit(
  { commonDir, gitDir, workTree }: FoundRepository,
  session: SessionId,
  now: number,
): void {
  const place = { commonDir, worktreeId: worktreeId(gitDir) };
  if (readLedger(place, session).visitedTop === workTree) return;
  appendEvents(place, session, [{ t: 'visit', top: workTree, at: now }]);
}

/** The worktrees in which the session works from outside, as far as they still are some. */
export function readVisits(env: NodeJS.ProcessEnv, session: SessionId): FoundRepository[] {
  return knownRepositories(env)
    .filter((commonDir) => exists(journalFile(commonDir, session)))
    .flatMap((commonDir) => [...readJournal(commonDir, session).trees.values()])
    .flatMap(({ visitedTop }) => (visitedTop === undefined ? [] : (discoverRepository(visitedTop) ?? [])));
}

/** The session works in a worktree from outside no more. */
export function removeVisit({ commonDir, gitDir }: FoundRepository, session: SessionId, now: number): void {
  const place = { commonDir, worktreeId: worktreeId(gitDir) };
  if (readLedger(place, session).visitedTop === undefined) return;
  appendEvents(place, session, [{ t: 'visit-end', at: now }]);
}
