import { join, relative } from 'node:path';
import { type WorkTree, parsePathArgument } from '../changes/dirty-work.ts';
import { escapeLine, Failure, shellWord } from '../domain/messages.ts';
import { readSettings } from '../git/config.ts';
import { FILES, LIVE } from '../git/namespace.ts';
import { listRefs } from '../git/refs.ts';
import { type Repository, openRepository, topLevel } from '../git/repository.ts';
import { type JudgedSession, type StoredSession, judgeSessions, sessionsFrom } from '../sessions/records.ts';
import { type Context, findSession } from '../sessions/caller.ts';
import { realPath } from '../host/disk.ts';
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
  /** Notices about handoff files that changed without a tool call; only the first command after the change prints them. */
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

interface JudgedWorkspace extends Workspace {
  readonly settings: Settings;
  readonly judged: readonly JudgedSession[];
}

/**
 * Opens the repository with its settings, and judges its sessions.
 *
 * @throws Failure `environment` outside of a repository.
 */
export async function openJudged(context: Context, opened?: Repository): Promise<JudgedWorkspace> {
  const [workspace, settings] = await Promise.all([
    openWorkspace(context, opened),
    readSettings(context.cwd),
  ]);
  return { ...workspace, settings, judged: judgedSessions(workspace, settings, context.now) };
}

/** The working tree that a command runs in; a bare repository has none, and neither has the inside of `.git`. */
export async function workTreeOf(repository: Repository): Promise<WorkTree | undefined> {
  const top = await topLevel(repository);
  const { gitDir, commonDir } = repository;
  return top === undefined ? undefined : { top, gitDir, commonDir };
}

/** @throws Failure `environment` where there is no working tree */
export async function requireWorkTree(repository: Repository): Promise<WorkTree> {
  const tree = await workTreeOf(repository);
  if (tree !== undefined) return tree;
  throw new Failure('environment', 'there is no working tree here', { hint: 'git worktree list' });
}

/**
 * Returns the path of a `<path>` argument from the top of the working tree that the command runs in.
 *
 * @param here `undefined` in a bare repository
 * @throws Failure `usage` for a path outside of this working tree
 */
export function pathHere(
  typed: string,
  cwd: string,
  { commonDir }: Repository,
  here: WorkTree | undefined,
): string {
  const { tree, path } = parsePathArgument(typed, cwd, commonDir, here);
  if (tree.gitDir === here?.gitDir) return path;
  throw new Failure('usage', `${escapeLine(typed)} is in another worktree`, {
    hint: `git -C ${shellWord(tree.top)} handoff status`,
  });
}

/** Returns the function that makes a path from the top of a working tree relative to the caller's folder. */
export function pathFrom(cwd: string, top: string): (path: string) => string {
  const [from, to] = [realPath(cwd), realPath(top)];
  return (path) => relative(from, join(to, path));
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
