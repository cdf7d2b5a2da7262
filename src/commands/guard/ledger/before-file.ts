import type { Verdict } from '../../../agents/dialect.ts';
import type { SessionId } from '../../../domain/names.ts';
import { keepBefore } from '../../../store/before-copies.ts';
import type { Scene } from '../scene.ts';
import { contention } from './contention.ts';
import { placesOf } from './places.ts';

/** Before a file tool: is any of its paths somebody else's? Then what stands there now is kept. */
export async function beforeFiles(
  scene: Scene,
  session: SessionId,
  paths: readonly string[],
): Promise<Verdict | undefined> {
  for (const [place, placed] of await placesOf(scene, session, paths)) {
    const [first] = placed;
    if (first === undefined) continue;
    const touches = placed.map(({ path }) => ({ path, whole: false }));
    const verdict = await contention(scene, first.found, place, session, touches);
    if (verdict?.kind === 'deny') return verdict;
    for (const { path } of placed) keepBefore(place, session, place.top, path);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}
