import { ago } from '../domain/age.ts';
import type { SessionId } from '../domain/names.ts';
import { type WithClients, peerName } from '../domain/owner-name.ts';
import { lastCall, lastEvent } from '../host/folders.ts';

/** After these events a client waits for its user, by the names that the clients have for them. */
const LAST = new Set(['Stop', 'AfterAgent', 'agentStop', 'stop']);

/** Since when a session waits for its user, in milliseconds since the epoch; `undefined`: it is at work, or not known. */
function idleSince(commonDir: string, session: SessionId): number | undefined {
  return LAST.has(lastEvent(commonDir, session)) ? lastCall(commonDir, session) : undefined;
}

/** "claude aaaaaaaa went idle 2 minutes ago. ", for each of the sessions that is: it hears nothing until its user returns. */
export function idleText(
  commonDir: string,
  sessions: Iterable<SessionId>,
  records: WithClients,
  now: number,
): string {
  const texts = [...new Set(sessions)].flatMap((session) => {
    const since = idleSince(commonDir, session);
    return since === undefined ? [] : [`${peerName(session, records)} went idle ${ago(since, now)}. `];
  });
  return texts.join('');
}
