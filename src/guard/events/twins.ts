import { type SessionId, shortId } from '../../domain/names.ts';
import type { ProcessId } from '../../domain/session.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { type ProcessTable, ancestorsOf } from '../../host/processes.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { registeredProcesses } from '../../sessions/registered.ts';

/** Another process of this session that is alive, and is neither above nor below the caller's. */
export function findTwin(
  place: FoundRepository,
  session: SessionId,
  own: JudgedSession | undefined,
  client: ProcessId | undefined,
  table: ProcessTable,
): ProcessId | undefined {
  if (client === undefined) return undefined;
  const { pid, start } = own?.liveness === 'live' ? own.record : { pid: null, start: null };
  const known = pid === null || start === null ? [] : [{ pid, start }];
  const isAbove = (one: ProcessId, other: ProcessId) =>
    ancestorsOf(other.pid, table).some((above) => above.pid === one.pid && above.start === one.start);
  return [...known, ...registeredProcesses(place, session)].find(
    (one) => table.runningSince(one.pid) === one.start && !isAbove(one, client) && !isAbove(client, one),
  );
}

/** The notice for both processes that share one session id. */
export function twinWarning(session: SessionId, pid: number): string {
  return (
    `Session ${shortId(session)} also runs as process ${pid}; git-handoff cannot tell which is which, and the two may ` +
    'overwrite each other. End one of them. Who is live: git handoff sessions'
  );
}
