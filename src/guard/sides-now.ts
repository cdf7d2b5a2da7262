import type { Sides } from '../domain/ledger/ownership.ts';
import type { SessionId } from '../domain/names.ts';
import type { FoundRepository } from '../git/discover.ts';
import { processTable } from '../host/processes.ts';
import { judgeSessions, listSessions } from '../sessions/records.ts';
import { sidesOf } from '../sessions/sides.ts';
import type { Scene } from './scene.ts';

/** Who is at work beside this session, by the live refs. */
export async function sidesNow(scene: Scene, found: FoundRepository, session: SessionId): Promise<Sides> {
  const sessions = await listSessions({ cwd: found.workTree }, scene.budget.left());
  const { staleAfterMs } = scene.settings;
  return sidesOf(session, judgeSessions(sessions, found.commonDir, processTable(), staleAfterMs, scene.now));
}
