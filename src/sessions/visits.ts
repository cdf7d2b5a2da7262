import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionId } from '../domain/names.ts';
import { type FoundRepository, discoverRepository } from '../git/discover.ts';
import { entries, exists, readText } from '../host/disk.ts';
import { repositoryEntry, stateFolder } from '../host/folders.ts';
import { nameHash } from '../host/name-hash.ts';

/**
 * `<state folder>/visits/<session>/<hash>` holds the path of a working tree that a session touches from outside: its calls
 * name another folder, or none, and its end is told there, too. The launcher hands every call of such a session to Node.
 */
const visitsFolder = (env: NodeJS.ProcessEnv, session: SessionId) =>
  join(stateFolder(env), 'visits', session);

/** Remembers that the session works in a worktree from outside. */
export function putVisit(env: NodeJS.ProcessEnv, session: SessionId, { workTree }: FoundRepository): void {
  const folder = visitsFolder(env, session);
  if (!folder.startsWith('/')) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, nameHash(workTree)), workTree, { mode: 0o600 });
}

/** The worktrees in which the session works from outside, as far as they still are some. */
export function readVisits(env: NodeJS.ProcessEnv, session: SessionId): FoundRepository[] {
  const folder = visitsFolder(env, session);
  const paths = entries(folder).map((name) => readText(join(folder, name)));
  return paths.flatMap((path) => (path === '' ? [] : (discoverRepository(path) ?? [])));
}

/** Whether the session works anywhere from outside. */
export const hasVisits = (env: NodeJS.ProcessEnv, session: SessionId): boolean =>
  exists(visitsFolder(env, session));

/** Forgets one worktree, or all. */
export function removeVisit(env: NodeJS.ProcessEnv, session: SessionId, found?: FoundRepository): void {
  const folder = visitsFolder(env, session);
  if (found !== undefined) rmSync(join(folder, nameHash(found.workTree)), { force: true });
  if (found === undefined || entries(folder).length === 0) rmSync(folder, { recursive: true, force: true });
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
