import { nameHash } from '../host/name-hash.ts';
import type { Scene } from './scene.ts';

/** One tool call's name: the client's, or else what it is about to do. */
export function windowId({ event }: Scene): string {
  return event.callId ?? nameHash(JSON.stringify([event.toolName, event.tool]));
}
