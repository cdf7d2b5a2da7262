import { FILES, LIVE } from '../git/namespace.ts';
import { listRefs } from '../git/refs.ts';
import { type Repository, openRepository } from '../git/repository.ts';
import { type JudgedSession, type StoredSession, judgeSessions, sessionsFrom } from '../sessions/records.ts';
import { type Context, findSession } from '../sessions/caller.ts';
import { isInitialised } from '../host/folders.ts';
import { processTable } from '../host/processes.ts';
import type { SessionId } from '../domain/names.ts';
import { commandOwner } from '../changes/windows.ts';
import type { Settings } from '../domain/settings.ts';
import { settleCopies } from '../notes/guarded-files.ts';

/** What nearly every command needs first, read with one git process. */
export interface Workspace {
  readonly repository: Repository;
  readonly sessions: readonly StoredSession[];
  /** Notices of handoff files that changed without a tool call. The first command afterwards prints them, once. */
  readonly notices: readonly string[];
}

/**
 * Opens the repository with its bookkeeping.
 *
 * @throws Failure `environment` outside of a repository.
 */
export async function openWorkspace(context: Context, opened?: Repository): Promise<Workspace> {
  const { cwd } = context;
  const repository = opened ?? (await openRepository(cwd));
  // There is bookkeeping only where `init` ran and made our folder.
  const refs = isInitialised(repository.commonDir)
    ? await listRefs({ cwd }, [LIVE, FILES], { content: true })
    : [];
  const sessions = sessionsFrom(refs);
  const copies = refs.filter((ref) => ref.name.startsWith(FILES));
  if (copies.length === 0) return { repository, sessions, notices: [] };
  const session = findSession(context, sessions, undefined)?.id;
  return { repository, sessions, notices: await settleCopies(cwd, copies, session) };
}

/** Returns the owner of the caller's changes: the running sub-agent or else the session; `undefined` for a person. */
export function findOwner(
  context: Context,
  { repository, sessions }: Pick<Workspace, 'repository' | 'sessions'>,
  option: string | undefined,
): SessionId | undefined {
  const session = findSession(context, sessions, option)?.id;
  return session && commandOwner(repository.commonDir, session, context.env);
}

/** Returns every session on record, and whether it is at work. `now`: milliseconds since the epoch. */
export function judgedSessions(
  { repository, sessions }: Pick<Workspace, 'repository' | 'sessions'>,
  { staleAfterMs }: Settings,
  now: number,
): JudgedSession[] {
  return judgeSessions(sessions, repository.commonDir, processTable(), staleAfterMs, now);
}
