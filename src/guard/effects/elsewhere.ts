import type { SessionId } from '../../domain/names.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { isInitialised } from '../../host/folders.ts';
import { noteCall } from '../presence.ts';
import type { Scene } from '../scene.ts';

/**
 * Puts the session on record in a worktree that it touches from outside, as if it had started there. True if it was
 * never there before.
 */
export async function elsewhere(scene: Scene, session: SessionId, found: FoundRepository): Promise<boolean> {
  if (!isInitialised(found.commonDir)) return false;
  const there = { ...scene, place: found, cwd: found.workTree };
  if (noteCall(there, session)) return false;
  const { register } = await import('../events/registration.ts');
  return (await register(there, session))?.isNew === true;
}
