import type { SessionId } from '../domain/names.ts';
import type { ProcessId } from '../domain/session.ts';
import type { FoundRepository } from '../git/discover.ts';
import { beat, knownWorktreeId } from '../host/folders.ts';
import { type ProcessTable, ancestorsOf, clientProcess, processTable } from '../host/processes.ts';
import { isFreshlyRegistered } from '../sessions/registered.ts';
import { isSolo } from '../sessions/solo.ts';
import { hasStart } from '../changes/windows.ts';
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
  const client = callingClient(call, processTable());
  if (!isFreshlyRegistered(tree, session, client, call.now) || isLeftAlone(tree, session)) return false;
  beat(tree.commonDir, session, call.event.name);
  return true;
}
