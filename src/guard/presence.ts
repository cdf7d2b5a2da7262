import { processKey, processOf } from '../domain/journal/fold.ts';
import type { GuardEvent } from '../agents/dialect.ts';
import type { SessionGroups } from '../domain/ledger/ownership.ts';
import type { SessionId } from '../domain/names.ts';
import type { ProcessId } from '../domain/session.ts';
import { beat, knownWorktreeId } from '../host/folders.ts';
import { type ProcessTable, ancestorsOf, clientProcess } from '../host/processes.ts';
import { type JudgedSession, judgeSessions, listSessions, groupSessions } from '../sessions/records.ts';
import {
  type LedgerPlace,
  appendEvents,
  appendSessionEvents,
  readJournal,
  readLedger,
} from '../sessions/journal.ts';
import { isLoneSession } from '../sessions/lone-session.ts';
import type { Call, TreeCall } from './call.ts';

/** The client's process and everything it descends from, nearest first. */
export const clientChain = (call: Call, table: ProcessTable): ProcessId[] =>
  ancestorsOf(clientPid(call, table), table);

/** The client's process; `undefined` when it is gone. */
export function callingClient(call: Call, table: ProcessTable): ProcessId | undefined {
  const pid = clientPid(call, table);
  const start = table.startOf(pid);
  return start === undefined ? undefined : { pid, start };
}

function clientPid({ machine: { env, clientPid } }: Call, table: ProcessTable): number {
  return clientProcess(clientPid, env['GIT_EXEC_PATH'] !== undefined, table);
}

/** Notes the call of a session that was put on record a moment ago; false when it has to be registered. */
export function noteCall(call: TreeCall): boolean {
  const { session, tree } = call;
  const client = callingClient(call, call.machine.processes);
  const worktreeId = knownWorktreeId(tree.gitDir);
  if (client === undefined || worktreeId === undefined) return false;
  const { registrations, loneStart } = readLedger({ commonDir: tree.commonDir, worktreeId }, session);
  const age = call.now - (registrations.get(processKey(client)) ?? -Infinity);
  if (age < 0 || age >= FRESH_MS) return false;
  // Somebody came, and was cut off before this session's time alone was settled.
  if (loneStart !== undefined && !isLoneSession(tree.gitDir, session)) return false;
  beat(tree.commonDir, session, call.event.kind);
  return true;
}

/** After this the refs are looked at again: peers may be gone. Milliseconds. */
const FRESH_MS = 60_000;

/** Remembers that the session was put on record here, under this process. */
export function noteRegistration(
  place: LedgerPlace,
  session: SessionId,
  client: ProcessId | undefined,
  now: number,
): void {
  if (client !== undefined) appendEvents(place, session, [{ t: 'registered', ...client, at: now }]);
}

/** Every process under which the session was put on record here, gone ones too. */
export function registeredProcesses(place: LedgerPlace, session: SessionId): ProcessId[] {
  return [...readLedger(place, session).registrations.keys()].map(processOf);
}

/** Excludes anything that could end a trailer, and ARNs, which contain an account number. */
const MODEL = /^(?!arn:)[A-Za-z0-9][\w.:/@+[\]-]{0,99}$/;

/**
 * Notes the session's client and model where they have changed, for its commits; empty if these may not name it. A call goes
 * on without.
 */
export function noteModel(
  commonDir: string,
  { session, model }: GuardEvent,
  client: string,
  { now, log }: Pick<Call, 'now' | 'log'>,
): void {
  if (session === undefined || model === undefined) return;
  const name = MODEL.test(model) ? `${client.slice(0, 1).toUpperCase()}${client.slice(1)}:${model}` : '';
  try {
    if ((readJournal(commonDir, session).model ?? '') === name) return;
    appendSessionEvents(commonDir, session, [{ t: 'model', name, at: now }]);
  } catch (error) {
    log('open', `the model was not noted: ${String(error)}`);
  }
}

/** Who is at work beside this session, in all worktrees of the repository. */
export interface People extends SessionGroups {
  /** The others that are live, with the worktree of each. */
  readonly live: readonly JudgedSession[];
}

/** Asks the live refs. */
export async function readPeople({
  tree,
  session,
  machine,
  settings,
  budget,
  now,
}: TreeCall): Promise<People> {
  const sessions = await listSessions({ cwd: tree.workTree }, budget.left());
  const judged = judgeSessions(sessions, tree.commonDir, machine.processes, settings.staleAfterMs, now);
  const groups = groupSessions(session, judged);
  const live = judged.filter(
    ({ liveness, record }) => liveness === 'live' && groups.foreign.has(record.session),
  );
  return { ...groups, live };
}
