import type { SessionId } from '../domain/names.ts';
import type { FoundRepository } from '../git/discover.ts';
import { processTable } from '../host/processes.ts';
import { type JudgedSession, judgeSessions, listSessions } from '../sessions/records.ts';
import { sidesOf } from '../sessions/sides.ts';
import type { Scene } from './scene.ts';

/** The sessions of a repository, as this one sees them. */
export interface Neighbours {
  /** The other live sessions, with the worktree of each. */
  readonly live: readonly JudgedSession[];
  /** This session, and whose conversation it carries on. */
  readonly own: ReadonlySet<SessionId>;
}

/** Who is at work beside this session, in all worktrees, by the live refs. */
export async function neighbours(
  scene: Scene,
  found: FoundRepository,
  session: SessionId,
): Promise<Neighbours> {
  const sessions = await listSessions({ cwd: found.workTree }, scene.budget.left());
  const { staleAfterMs } = scene.settings;
  const judged = judgeSessions(sessions, found.commonDir, processTable(), staleAfterMs, scene.now);
  const { own, foreign } = sidesOf(session, judged);
  const live = judged.filter(({ liveness, record }) => liveness === 'live' && foreign.has(record.session));
  return { live, own };
}
