import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { GuardEvent } from '../agents/dialect.ts';
import type { SessionId } from '../domain/names.ts';
import type { FoundRepository } from '../git/discover.ts';
import { statOf, entries, exists, readText } from '../host/disk.ts';
import { areSeveralAtWork, beat, journalFile } from '../host/folders.ts';
import { memoryFolders } from '../host/marker-files.ts';
import { knownRepositories } from './call.ts';
import { isLoneSession, loneSessionFile } from '../sessions/lone-session.ts';
import { mayBeAtStake } from '../shell/at-stake.ts';

/** The event, where it happened, and the client's environment. */
interface Caller {
  readonly event: GuardEvent;
  readonly repository: FoundRepository | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
}

/**
 * Records a lone session's call if it needs no decision: its command endangers no work, and nothing around it has changed that
 * we would have to report. Runs no git. Returns false if the call has to be judged.
 */
export async function noteHarmlessCall({ event, repository, env, home }: Caller): Promise<boolean> {
  const { session, tool, kind, changedFiles, agent } = event;
  // While a sub-agent works, its session is not alone.
  if (agent !== undefined) return false;
  if (repository === undefined || session === undefined || tool?.kind !== 'shell') return false;
  if (kind !== 'before-tool' && kind !== 'after-tool') return false;
  if (!isLoneSession(repository.gitDir, session) || tool.cwd !== undefined || mayBeAtStake(tool.command))
    return false;
  if (mayLeadOut(tool.command, repository, env) || (await isVisiting(session, env))) return false;
  if (kind === 'after-tool') {
    if (changedFiles.length > 0 || areSeveralAtWork(repository.commonDir)) return false;
    if (hasMoved(repository, home, env)) return false;
  }
  beat(repository.commonDir, session, event.kind);
  return true;
}

/** Sets the time of the lone session's file, which says when we last read all that `hasMoved` checks. */
export function noteLookedAround({ gitDir }: FoundRepository, session: SessionId, now: number): void {
  if (!isLoneSession(gitDir, session)) return;
  try {
    utimesSync(loneSessionFile(gitDir), now / 1000, now / 1000);
  } catch {
    // Another session has arrived meanwhile, so the file is gone.
  }
}

/** Whether handoffs, the stash or a predecessor's note have changed since we last looked: a command's words may not show that. */
function hasMoved({ gitDir, commonDir }: FoundRepository, home: string, env: NodeJS.ProcessEnv): boolean {
  const looked = statOf(loneSessionFile(gitDir))?.mtimeMs ?? 0;
  const isNew = (path: string) => (statOf(path)?.mtimeMs ?? 0) >= looked;
  const handoffs = join(commonDir, 'refs', 'handoffs');
  const refs = ['packed-refs', 'refs/stash', 'reftable/tables.list'].map((name) => join(commonDir, name));
  if ([...refs, handoffs, ...entries(handoffs).map((name) => join(handoffs, name))].some(isNew)) return true;
  return memoryFolders(home, env).some(
    (folder) => isNew(folder) || entries(folder).some((name) => isNew(join(folder, name))),
  );
}

/** Whether the session is also at work in other worktrees. Journals are parsed only if one mentions a visit. */
async function isVisiting(session: SessionId, env: NodeJS.ProcessEnv): Promise<boolean> {
  const journals = knownRepositories(env).map((known) => readText(journalFile(known, session)));
  if (!journals.some((text) => text.includes('"t":"visit"'))) return false;
  const { readVisits } = await import('./visits.ts');
  return readVisits(env, session).length > 0;
}

/** Words with which a command may reach any folder. */
const ANYWHERE = /~|\$|`|\bcd\s*(?:-|&|;|$)/;

/** Whether a command may touch a worktree, of this or another repository, in which other sessions have been at work. */
function mayLeadOut(
  command: string,
  { workTree, commonDir }: FoundRepository,
  env: NodeJS.ProcessEnv,
): boolean {
  const others = knownRepositories(env).filter((known) => known !== commonDir);
  if (others.length === 0 && !exists(join(commonDir, 'worktrees'))) return false;
  if (ANYWHERE.test(command) || others.some((known) => known.startsWith(`${workTree}/`))) return true;
  const isOutside = (path: string) =>
    !path.startsWith(`${workTree}/`) && !/^\/(?:dev|bin|usr\/bin)\//.test(path);
  return (command.match(/(?<![\w.-])\/[^\s"'\\;|&()<>]*/g) ?? []).some(isOutside);
}
