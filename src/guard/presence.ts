import type { GuardEvent } from '../agents/dialect.ts';
import type { EventOf } from '../domain/journal/events.ts';
import type { SessionGroups } from '../domain/ledger/ownership.ts';
import { runningOwners } from '../domain/ledger/sub-agents.ts';
import { type SessionId, agentOfOwner, sessionOfOwner } from '../domain/names.ts';
import type { ProcessId } from '../domain/session.ts';
import { exists } from '../host/disk.ts';
import { beat, journalFile } from '../host/folders.ts';
import { ancestorsOf, clientProcess } from '../host/processes.ts';
import {
  type JudgedSession,
  type StoredSession,
  judgeSessions,
  listSessions,
  groupSessions,
} from '../sessions/records.ts';
import {
  appendEvents,
  appendSessionEvents,
  readJournal,
  readLedger,
  readRunningAgents,
} from '../sessions/journal.ts';
import { markNotified, openLedgers, undeliveredIds } from '../changes/windows.ts';
import { isLoneSession, removeLoneSession } from '../sessions/lone-session.ts';
import {
  type Call,
  type SessionCall,
  type TreeCall,
  knownRepositories,
  ownerOf,
  workPlaceOf,
} from './call.ts';

/** Returns the client's process and its ancestors, nearest first; nothing when it is gone. */
export const clientChain = (call: Call): ProcessId[] =>
  ancestorsOf(clientPid(call), call.machine.processes());

function clientPid({ machine: { env, clientPid, processes } }: Call): number {
  return env['GIT_EXEC_PATH'] === undefined ? clientPid : clientProcess(clientPid, processes());
}

/** Records the call of a session registered a moment ago. Returns false if the session has to be registered. */
export function noteCall(call: TreeCall): boolean {
  const { session, tree } = call;
  const client = clientPid(call);
  const { registrations, lasting } = readLedger(workPlaceOf(tree), session);
  // The pid is enough: no other process of this session can have got it since. Its start time may take a `ps` to read.
  const isFresh = ({ pid, at }: EventOf<'registered'>) =>
    pid === client && call.now >= at && call.now < at + FRESH_MS;
  if (![...registrations.values()].some(isFresh)) return false;
  // Another session arrived, but was killed before it recorded what this one changed while alone.
  if (lasting.alone !== undefined && !isLoneSession(tree.gitDir, session)) return false;
  beat(tree.commonDir, session, call.event.kind);
  return true;
}

/**
 * Records that the calling sub-agent is running. From then on its session keeps a ledger, even if no other session is there,
 * because each change is either the session's or the sub-agent's.
 */
export function noteAgent(call: TreeCall): void {
  const { event, session, tree, now } = call;
  const owner = ownerOf(call);
  if (owner === session || event.kind === 'agent-stop') return;
  try {
    const agent = agentOfOwner(owner) ?? '';
    const known = readJournal(tree.commonDir, session).agents.get(agent);
    if (known?.isRunning !== true)
      appendSessionEvents(tree.commonDir, session, [{ t: 'agent-started', agent, at: now }]);
    const isNewHere = known?.trees.has(workPlaceOf(tree).worktreeId) !== true;
    if (isNewHere || known.hasEnded || event.kind === 'agent-start') noteWhatItKnows(call, owner);
    if (isLoneSession(tree.gitDir, session)) removeLoneSession(tree.gitDir);
  } catch (error) {
    call.log('open', `the sub-agent was not recorded: ${String(error)}`);
  }
}

/** A sub-agent begins with HEAD as its session last saw it, and need not hear earlier news. */
function noteWhatItKnows({ tree, session, now }: TreeCall, owner: SessionId): void {
  const place = workPlaceOf(tree);
  markNotified(place, owner, undeliveredIds(openLedgers(place, owner)), now);
  // A lone session has recorded no HEAD: when its time alone ends, HEAD is recorded for the sub-agent, too.
  const head = isLoneSession(place.gitDir, session) ? undefined : readLedger(place, session).head;
  appendEvents(place, owner, head === undefined ? [] : [{ ...head, own: false, at: now }]);
}

/**
 * Records that a sub-agent (if none is given: every sub-agent) has ended, wherever the session has worked. Returns true if
 * the session has no running sub-agents left in one of these repositories.
 */
export function endAgents({ machine, tree, session, now }: SessionCall, agent?: string): boolean {
  let isLast = false;
  const known = [...knownRepositories(machine.env), ...(tree === undefined ? [] : [tree.commonDir])];
  for (const commonDir of new Set(known)) {
    if (!exists(journalFile(commonDir, session))) continue;
    const { agents } = readJournal(commonDir, session);
    const isOver = [...agents].some(([name, one]) => one.isRunning && (agent ?? name) === name);
    if (!isOver) continue;
    appendSessionEvents(commonDir, session, [{ t: 'agent-ended', agent, at: now }]);
    isLast ||= runningOwners(readJournal(commonDir, session)).length === 0;
  }
  return isLast;
}

/** How long a registration counts. After that, the refs are read again, because other sessions may be gone. Milliseconds. */
const FRESH_MS = 60_000;

/** Remembers that the session was registered here under its client's process. */
export function noteRegistration(call: TreeCall): void {
  const [client] = clientChain(call);
  if (client === undefined) return;
  appendEvents(workPlaceOf(call.tree), call.session, [{ t: 'registered', ...client, at: call.now }]);
}

/** The model names that we record: none that could break a trailer, and no ARN, which contains an account number. */
const MODEL = /^(?!arn:)[A-Za-z0-9][\w.:/@+[\]-]{0,99}$/;

/**
 * Records the session's client and model for its commits if they changed; the model's name is empty if commits must not name
 * it. If that fails, the call continues.
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
    if ((readJournal(commonDir, session).model?.name ?? '') === name) return;
    appendSessionEvents(commonDir, session, [{ t: 'model', name, at: now }]);
  } catch (error) {
    log('open', `the model was not recorded: ${String(error)}`);
  }
}

/** Who else is at work, in all worktrees of the repository. */
export interface People extends SessionGroups {
  /** The other live sessions, with the worktree of each; for a sub-agent, also its running siblings. */
  readonly live: readonly JudgedSession[];
}

/** Reads the sessions of all worktrees, and judges whether each is alive. `listed`: the sessions, if listed a moment ago. */
export async function readSessions(
  { tree, machine, settings, budget, now }: TreeCall,
  listed?: readonly StoredSession[],
): Promise<JudgedSession[]> {
  const sessions = listed ?? (await listSessions({ cwd: tree.workTree }, budget.left()));
  return judgeSessions(sessions, tree.commonDir, machine.processes(), settings.staleAfterMs, now);
}

/** Reads from the live refs who is at work. */
export async function readPeople(call: TreeCall): Promise<People> {
  const { tree, session } = call;
  const judged = await readSessions(call);
  const agents = readRunningAgents(tree.commonDir);
  const groups = groupSessions(ownerOf(call), judged, agents);
  const live = judged.filter(
    ({ liveness, record }) => liveness === 'live' && groups.foreign.has(record.session),
  );
  const own = judged.find(({ record }) => record.session === session);
  const siblings = agents.filter((agent) => sessionOfOwner(agent) === session && groups.foreign.has(agent));
  const beside =
    own === undefined ? [] : siblings.map((agent) => ({ ...own, record: { ...own.record, session: agent } }));
  return { ...groups, live: [...live, ...beside] };
}
