import { statSync } from 'node:fs';
import { ago } from '../domain/age.ts';
import type { Sides } from '../domain/ledger/ownership.ts';
import type { SessionId } from '../domain/names.ts';
import { peerName } from '../domain/owner-name.ts';
import { beatFile, lastEvent } from '../host/folders.ts';

/** After these events a client waits for its user, by the names that the clients have for them. */
const LAST = new Set(['Stop', 'AfterAgent', 'agentStop', 'stop']);

/** Since when a session waits for its user, in milliseconds since the epoch; `undefined`: it is at work, or not known. */
function idleSince(commonDir: string, session: SessionId): number | undefined {
  if (!LAST.has(lastEvent(commonDir, session))) return undefined;
  return statSync(beatFile(commonDir, session), { throwIfNoEntry: false })?.mtimeMs;
}

/** "claude aaaaaaaa went idle 2 minutes ago. ", for each of the sessions that is: it hears nothing until its user returns. */
export function idleText(
  commonDir: string,
  sessions: Iterable<SessionId>,
  sides: Sides,
  now: number,
): string {
  const texts = [...new Set(sessions)].flatMap((session) => {
    const since = idleSince(commonDir, session);
    return since === undefined ? [] : [`${peerName(session, sides)} went idle ${ago(since, now)}. `];
  });
  return texts.join('');
}
