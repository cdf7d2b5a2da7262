import type { SessionId } from '../../../domain/names.ts';
import type { Scene } from '../scene.ts';
import { type PlacedPath, type WorkPlace, ledgerOf, placeOf } from './work-place.ts';

/** The paths by worktree; a worktree where the session works for the first time gets to know it. */
export async function placesOf(
  scene: Scene,
  session: SessionId,
  paths: readonly string[],
): Promise<Map<WorkPlace, PlacedPath[]>> {
  const places = new Map<string, PlacedPath[]>();
  for (const path of paths) {
    const placed = placeOf(path, true);
    if (placed === undefined) continue;
    const { gitDir } = placed.found;
    places.set(gitDir, [...(places.get(gitDir) ?? []), placed]);
  }
  const result = new Map<WorkPlace, PlacedPath[]>();
  for (const placed of places.values()) {
    const [first] = placed;
    if (first === undefined) continue;
    if (first.found.gitDir !== scene.place?.gitDir)
      await (await import('./elsewhere.ts')).elsewhere(scene, session, first.found);
    const ledger = ledgerOf(first.found, session);
    if (ledger !== undefined) result.set(ledger, placed);
  }
  return result;
}
