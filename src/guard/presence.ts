import { processOf } from '../domain/journal/fold.ts';
import type { GuardEvent } from '../agents/dialect.ts';
import type { SessionGroups } from '../domain/ledger/ownership.ts';
import type { SessionId } from '../domain/names.ts';
import type { ProcessId } from '../domain/session.ts';
import { beat, knownWorktreeId } from '../host/folders.ts';
import { ancestorsOf, clientProcess } from '../host/processes.ts';
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

/** Returns the client's process and its ancestors, nearest first. */
export const clientChain = (call: Call): ProcessId[] =>
  ancestorsOf(clientPid(call), call.machine.processes());

/** Returns the client's process; `undefined` when it is gone. */
export function callingClient(call: Call): ProcessId | undefined {
  const pid = clientPid(call);
  const start = call.machine.processes().startOf(pid);
  return start === undefined ? undefined : { pid, start };
}

function clientPid({ machine: { env, clientPid, processes } }: Call): number {
  return env['GIT_EXEC_PATH'] === undefined ? clientPid : clientProcess(clientPid, processes());
}

/** Notes the call of a session registered a moment ago. Returns false when it has to be registered. */
export function noteCall(call: TreeCall): boolean {
  const { session, tree } = call;
  const worktreeId = knownWorktreeId(tree.gitDir);
  if (worktreeId === undefined) return false;
  const client = clientPid(call);
  const { registrations, loneStart } = readLedger({ commonDir: tree.commonDir, worktreeId }, session);
  // The pid is enough: nobody else got it since then and takes part in this session. Its start may take a `ps`.
  const isFresh = ([key, at]: readonly [string, number]) =>
    processOf(key).pid === client && call.now >= at && call.now < at + FRESH_MS;
  if (![...registrations].some(isFresh)) return false;
  // Another session arrived, and was cut off before it settled this one's time alone.
  if (loneStart !== undefined && !isLoneSession(tree.gitDir, session)) return false;
  beat(tree.commonDir, session, call.event.kind);
  return true;
}

/** How long a registration counts before the refs are read again, because peers may be gone. Milliseconds. */
const FRESH_MS = 60_000;

/** Remembers that the session was registered here under this process. */
export function noteRegistration(
  place: LedgerPlace,
  session: SessionId,
  client: ProcessId | undefined,
  now: number,
): void {
  if (client !== undefined) appendEvents(place, session, [{ t: 'registered', ...client, at: now }]);
}

/** Returns every process under which the session was registered here, including those that are gone. */
export function registeredProcesses(place: LedgerPlace, session: SessionId): ProcessId[] {
  return [...readLedger(place, session).registrations.keys()].map(processOf);
}

/** The names of models to note: none that could end a trailer, and no ARN, which contains an account number. */
const MODEL = /^(?!arn:)[A-Za-z0-9][\w.:/@+[\]-]{0,99}$/;

/**
 * Notes the session's client and model, if they changed, for its commits; empty if a commit may not name the model. If
 * that fails, the call continues.
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
  /** The other live sessions, with the worktree of each. */
  readonly live: readonly JudgedSession[];
}

/** Reads from the live refs who is at work. */
export async function readPeople({
  tree,
  session,
  machine,
  settings,
  budget,
  now,
}: TreeCall): Promise<People> {
  const sessions = await listSessions({ cwd: tree.workTree }, budget.left());
  const judged = judgeSessions(sessions, tree.commonDir, machine.processes(), settings.staleAfterMs, now);
  const groups = groupSessions(session, judged);
  const live = judged.filter(
    ({ liveness, record }) => liveness === 'live' && groups.foreign.has(record.session),
  );
  return { ...groups, live };
}
