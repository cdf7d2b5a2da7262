import type { Sides } from '../domain/ledger/ownership.ts';
import type { SessionId } from '../domain/names.ts';
import { related, succeededBy } from '../domain/session.ts';
import { type JudgedSession, clientsOf } from './records.ts';

/**
 * Who counts as the asking session (itself, whose conversation it carries on, its parents and children) and who is
 * at work beside it. Sessions that are over or cannot be told are neither. A person has no own sessions.
 */
export function sidesOf(session: SessionId | undefined, sessions: readonly JudgedSession[]): Sides {
  const records = sessions.map(({ record }) => record);
  const own = new Set<SessionId>();
  if (session !== undefined) {
    for (const id of [session, ...succeededBy(session, records)]) own.add(id);
    for (const { session: other } of records) if (related(session, other, records)) own.add(other);
  }
  const live = sessions.filter(({ liveness }) => liveness === 'live').map(({ record }) => record.session);
  // A conversation that goes on after `/clear` has not let go of its former id's work.
  const atWork = live.flatMap((id) => [id, ...succeededBy(id, records)]);
  const foreign = new Set(atWork.filter((id) => !own.has(id)));
  return { own, foreign, clients: clientsOf(sessions) };
}
