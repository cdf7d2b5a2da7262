import type { Sides } from '../domain/ledger/ownership.ts';
import { processTable } from '../host/processes.ts';
import { type JudgedSession, judgeSessions, listSessions } from '../sessions/records.ts';
import { sidesOf } from '../sessions/sides.ts';
import type { TreeCall } from './call.ts';

/** Who is at work beside this session, in all worktrees of the repository. */
export interface People extends Sides {
  /** The others that are live, with the worktree of each. */
  readonly live: readonly JudgedSession[];
}

/** Asks the live refs. */
export async function readPeople({ tree, session, settings, budget, now }: TreeCall): Promise<People> {
  const sessions = await listSessions({ cwd: tree.workTree }, budget.left());
  const judged = judgeSessions(sessions, tree.commonDir, processTable(), settings.staleAfterMs, now);
  const sides = sidesOf(session, judged);
  const live = judged.filter(
    ({ liveness, record }) => liveness === 'live' && sides.foreign.has(record.session),
  );
  return { ...sides, live };
}
