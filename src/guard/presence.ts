import { hasStart } from '../changes/windows.ts';
import type { Sides } from '../domain/ledger/ownership.ts';
import type { SessionId } from '../domain/names.ts';
import type { ProcessId } from '../domain/session.ts';
import type { FoundRepository } from '../git/discover.ts';
import { beat, knownWorktreeId } from '../host/folders.ts';
import { type ProcessTable, ancestorsOf, clientProcess } from '../host/processes.ts';
import { type JudgedSession, judgeSessions, listSessions, sidesOf } from '../sessions/records.ts';
import { isFreshlyRegistered } from '../sessions/registered.ts';
import { isSolo } from '../sessions/solo.ts';
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

/** Somebody came, and was cut off before this session's time alone was settled. */
function isLeftAlone({ commonDir, gitDir }: FoundRepository, session: SessionId): boolean {
  const worktreeId = knownWorktreeId(gitDir);
  return worktreeId !== undefined && !isSolo(gitDir, session) && hasStart({ commonDir, worktreeId }, session);
}

/** Notes the call of a session that was put on record a moment ago; false when it has to be registered. */
export function noteCall(call: TreeCall): boolean {
  const { session, tree } = call;
  const client = callingClient(call, call.machine.processes);
  if (!isFreshlyRegistered(tree, session, client, call.now) || isLeftAlone(tree, session)) return false;
  beat(tree.commonDir, session, call.event.name);
  return true;
}

/** Who is at work beside this session, in all worktrees of the repository. */
export interface People extends Sides {
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
  const sides = sidesOf(session, judged);
  const live = judged.filter(
    ({ liveness, record }) => liveness === 'live' && sides.foreign.has(record.session),
  );
  return { ...sides, live };
}
