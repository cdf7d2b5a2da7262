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
export function clientChain(call: Call, table: ProcessTable): ProcessId[] {
  const { env, clientPid } = call.machine;
  const startedByGit = env['GIT_EXEC_PATH'] !== undefined;
  return ancestorsOf(clientProcess(clientPid, startedByGit, table), table);
}

/** Somebody came, and was cut off before this session's time alone was settled. */
function isLeftAlone({ commonDir, gitDir }: FoundRepository, session: SessionId): boolean {
  const worktreeId = knownWorktreeId(gitDir);
  return worktreeId !== undefined && !isSolo(gitDir, session) && hasStart({ commonDir, worktreeId }, session);
}

/** Notes the call of a session that was put on record a moment ago; false when it has to be registered. */
export function noteCall(call: TreeCall): boolean {
  const { session, tree } = call;
  const [client] = clientChain(call, processTable());
  if (!isFreshlyRegistered(tree, session, client, call.now) || isLeftAlone(tree, session)) return false;
  beat(tree.commonDir, session, call.event.name);
  return true;
}
