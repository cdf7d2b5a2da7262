import type { SessionId } from '../domain/names.ts';
import type { Scene } from './scene.ts';
import { type PlacedPath, type WorkPlace, ledgerOf, placeOf } from '../changes/work-place.ts';

export interface Places {
  readonly ledgers: ReadonlyMap<WorkPlace, readonly PlacedPath[]>;
  /** Paths in other worktrees of the repository than the session's own, into which it steps for the first time. */
  readonly entered: readonly PlacedPath[];
}

/** The paths by worktree; a worktree where the session works for the first time gets to know it. */
export async function placesOf(scene: Scene, session: SessionId, paths: readonly string[]): Promise<Places> {
  const places = new Map<string, PlacedPath[]>();
  for (const path of paths) {
    const placed = placeOf(path, true);
    if (placed === undefined) continue;
    const { gitDir } = placed.found;
    places.set(gitDir, [...(places.get(gitDir) ?? []), placed]);
  }
  const ledgers = new Map<WorkPlace, readonly PlacedPath[]>();
  const entered: PlacedPath[] = [];
  for (const placed of places.values()) {
    const [first] = placed;
    if (first === undefined) continue;
    if (first.found.gitDir !== scene.place?.gitDir) {
      const { elsewhere } = await import('./effects/elsewhere.ts');
      const isNew = await elsewhere(scene, session, first.found);
      if (isNew && first.found.commonDir === scene.place?.commonDir) entered.push(first);
    }
    const ledger = ledgerOf(first.found, session);
    if (ledger !== undefined) ledgers.set(ledger, placed);
  }
  return { ledgers, entered };
}
