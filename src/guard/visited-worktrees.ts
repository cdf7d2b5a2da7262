import type { SessionId } from '../domain/names.ts';
import { type FoundRepository, discoverRepository } from '../git/discover.ts';
import { exists } from '../host/disk.ts';
import { journalFile, worktreeId } from '../host/folders.ts';
import { appendEvents, readJournal, readLedger } from '../sessions/journal.ts';
import { knownRepositories } from './known-repositories.ts';

/**
 * Worktrees in which a session works from outside: its calls name another folder, or none. Its journal in the visited
 * repository records the visit. The launcher hands every call of a session that has such a journal elsewhere to Node.
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

/** Returns the worktrees in which the session works from outside and which still exist. */
export function readVisits(env: NodeJS.ProcessEnv, session: SessionId): FoundRepository[] {
  return knownRepositories(env)
    .filter((commonDir) => exists(journalFile(commonDir, session)))
    .flatMap((commonDir) => [...readJournal(commonDir, session).trees.values()])
    .flatMap(({ visitedTop }) => (visitedTop === undefined ? [] : (discoverRepository(visitedTop) ?? [])));
}

/** Records that the session no longer works in a worktree from outside. */
export function removeVisit({ commonDir, gitDir }: FoundRepository, session: SessionId, now: number): void {
  const place = { commonDir, worktreeId: worktreeId(gitDir) };
  if (readLedger(place, session).visitedTop === undefined) return;
  appendEvents(place, session, [{ t: 'visit-end', at: now }]);
}
