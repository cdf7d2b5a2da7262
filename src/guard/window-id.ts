import { windowFile } from '../changes/windows.ts';
import { nameHash } from '../host/name-hash.ts';
import type { Scene } from './scene.ts';

/** One tool call's name: the client's as its window's file has it, or else what it is about to do. */
export function windowId({ event }: Scene): string {
  return windowFile(event.callId ?? nameHash(JSON.stringify([event.toolName, event.tool])));
}
