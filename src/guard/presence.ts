import type { SessionId } from '../domain/names.ts';
import type { ProcessId } from '../domain/session.ts';
import type { FoundRepository } from '../git/discover.ts';
import { beat, knownWorktreeId } from '../host/folders.ts';
import { type ProcessTable, ancestorsOf, clientProcess, processTable } from '../host/processes.ts';
import { isFreshlyRegistered } from '../sessions/registered.ts';
import { isSolo } from '../sessions/solo.ts';
import { hasStart } from '../changes/windows.ts';
import type { Scene } from './scene.ts';

/** The client's process and everything it descends from, nearest first. */
export function clientChain(scene: Scene, table: ProcessTable): ProcessId[] {
  const startedByGit = scene.env['GIT_EXEC_PATH'] !== undefined;
  return ancestorsOf(clientProcess(scene.clientPid, startedByGit, table), table);
}

/** Somebody came, and was cut off before this session's time alone was settled. */
function isLeftAlone({ commonDir, gitDir }: FoundRepository, session: SessionId): boolean {
  const worktreeId = knownWorktreeId(gitDir);
  return worktreeId !== undefined && !isSolo(gitDir, session) && hasStart({ commonDir, worktreeId }, session);
}

/** Notes the call of a session that was put on record a moment ago; false when it has to be registered. */
export function noteCall(scene: Scene, session: SessionId): boolean {
  const { place } = scene;
  if (place === undefined) return false;
  const [client] = clientChain(scene, processTable());
  if (!isFreshlyRegistered(place, session, client, scene.now) || isLeftAlone(place, session)) return false;
  beat(place.commonDir, session, scene.event.name);
  return true;
}
