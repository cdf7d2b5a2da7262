import type { SessionId } from '../domain/names.ts';
import type { ProcessId } from '../domain/session.ts';
import { beat } from '../host/folders.ts';
import { type ProcessTable, ancestorsOf, clientProcess, processTable } from '../host/processes.ts';
import { isFreshlyRegistered } from '../sessions/registered.ts';
import type { Scene } from './scene.ts';

/** The client's process and everything it descends from, nearest first. */
export function clientChain(scene: Scene, table: ProcessTable): ProcessId[] {
  const startedByGit = scene.env['GIT_EXEC_PATH'] !== undefined;
  return ancestorsOf(clientProcess(scene.clientPid, startedByGit, table), table);
}

/** Notes the call of a session that was put on record a moment ago; false when it has to be registered. */
export function noteCall(scene: Scene, session: SessionId): boolean {
  const { place } = scene;
  if (place === undefined) return false;
  const [client] = clientChain(scene, processTable());
  if (!isFreshlyRegistered(place, session, client, scene.now)) return false;
  beat(place.commonDir, session, scene.event.name);
  return true;
}
