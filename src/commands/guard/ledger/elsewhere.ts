import type { SessionId } from '../../../domain/names.ts';
import type { FoundRepository } from '../../../git/discover.ts';
import { isInitialised } from '../../../host/folders.ts';
import { noteCall } from '../presence.ts';
import type { Scene } from '../scene.ts';

/** Puts the session on record in a worktree that it touches from outside, as if it had started there. */
export async function elsewhere(scene: Scene, session: SessionId, found: FoundRepository): Promise<void> {
  if (!isInitialised(found.commonDir)) return;
  const there = { ...scene, place: found, cwd: found.workTree };
  if (noteCall(there, session)) return;
  const { register } = await import('../registration.ts');
  await register(there, session);
}
