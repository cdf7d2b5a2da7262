import type { Verdict } from '../agents/dialect.ts';
import { exists } from '../host/disk.ts';
import { bypassFolder } from '../host/folders.ts';
import type { Scene } from './scene.ts';

/** Decides in a scene. A person may have allowed there what is refused. */
export async function decideOrLift(
  scene: Scene,
  decide: (scene: Scene) => Promise<Verdict>,
): Promise<Verdict> {
  const { place, enabled } = scene;
  if (!enabled || place === undefined || !exists(bypassFolder(place.commonDir))) return decide(scene);
  const { decideWithBypass } = await import('./lift-tool.ts');
  return decideWithBypass(scene, decide);
}
