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

/** What nearly every command starts from, read in one process. */
export interface Workspace {
  readonly repository: Repository;
  readonly sessions: readonly StoredSession[];
  /** Handoff files that were changed unseen: told once, by whichever command comes first. */
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
  // Only where `init` ran is there any bookkeeping; the folder says so.
  const refs = isInitialised(repository.commonDir)
    ? await listRefs({ cwd }, [LIVE, FILES], { content: true })
    : [];
  const sessions = sessionsFrom(refs);
  const copies = refs.filter((ref) => ref.name.startsWith(FILES));
  if (copies.length === 0) return { repository, sessions, notices: [] };
  const session = findSession(context, sessions, undefined)?.id;
  return { repository, sessions, notices: await settleCopies(cwd, copies, session) };
}

/**
 * Returns whose changes the caller's are: the running sub-agent's whose command this is, as an owner, or its session's;
 * `undefined` for a person.
 */
export function findOwner(
  context: Context,
  { repository, sessions }: Pick<Workspace, 'repository' | 'sessions'>,
  option: string | undefined,
): SessionId | undefined {
  const session = findSession(context, sessions, option)?.id;
  return session && commandOwner(repository.commonDir, session, context.env);
}

/** Everybody on record, and whether they are at work. `now` in milliseconds since the epoch. */
export function judgedSessions(
  { repository, sessions }: Pick<Workspace, 'repository' | 'sessions'>,
  { staleAfterMs }: Settings,
  now: number,
): JudgedSession[] {
  return judgeSessions(sessions, repository.commonDir, processTable(), staleAfterMs, now);
}
