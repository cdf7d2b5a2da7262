import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionId } from '../domain/names.ts';
import { type FoundRepository, discoverRepository } from '../git/discover.ts';
import { entries, readText } from '../host/disk.ts';
import { repositoryEntry, stateFolder, worktreeId } from '../host/folders.ts';
import { appendEvents, hasJournal, readJournal, readLedger } from './journal.ts';

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
    .filter((commonDir) => hasJournal(commonDir, session))
    .flatMap((commonDir) => [...readJournal(commonDir, session).trees.values()])
    .flatMap(({ visitedTop }) => (visitedTop === undefined ? [] : (discoverRepository(visitedTop) ?? [])));
}

/** The session works in a worktree from outside no more. */
export function removeVisit({ commonDir, gitDir }: FoundRepository, session: SessionId, now: number): void {
  const place = { commonDir, worktreeId: worktreeId(gitDir) };
  if (readLedger(place, session).visitedTop === undefined) return;
  appendEvents(place, session, [{ t: 'visit-end', at: now }]);
}

/** Notes that sessions are at work in a repository: the launcher looks at these before it leaves a call from outside alone. */
export function rememberRepository(env: NodeJS.ProcessEnv, commonDir: string): void {
  // Without a home there is no place for it but the current folder.
  if (!stateFolder(env).startsWith('/') || knownRepositories(env).includes(commonDir)) return;
  const file = repositoryEntry(stateFolder(env), commonDir);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${commonDir}\n`);
}

/** Common dirs of the repositories in which sessions have been at work. */
export function knownRepositories(env: NodeJS.ProcessEnv): string[] {
  const folder = join(stateFolder(env), 'repositories');
  const paths = entries(folder).map((name) => readText(join(folder, name)).replace(/\n$/, ''));
  return paths.filter((path) => path !== '');
}
