import type { SessionId } from '../domain/names.ts';
import { type PlacedPath, placeOf } from '../changes/work-place.ts';
import type { Scene } from './scene.ts';

/** Paths of one worktree, with the scene in which they are judged. */
export interface Places {
  readonly scene: Scene;
  readonly placed: readonly PlacedPath[];
  /** The session touches this worktree for the first time. */
  readonly isNew: boolean;
}

/** The paths by worktree, where git-handoff is switched on. The session is on record in each from now on. */
export async function placesOf(
  scene: Scene,
  session: SessionId,
  paths: readonly string[],
): Promise<Places[]> {
  const trees = new Map<string, PlacedPath[]>();
  for (const path of paths) {
    const placed = placeOf(path, true);
    if (placed === undefined) continue;
    const { gitDir } = placed.found;
    trees.set(gitDir, [...(trees.get(gitDir) ?? []), placed]);
  }
  const here = trees.get(scene.place?.gitDir ?? '') ?? [];
  const others = [...trees.values()].flatMap(([first]) => first?.found ?? []);
  const elsewhere = others.filter(({ gitDir }) => gitDir !== scene.place?.gitDir);
  const visits =
    elsewhere.length === 0 ? [] : await (await import('./visits.ts')).visit(scene, session, elsewhere);
  return [
    ...(scene.enabled && here.length > 0 ? [{ scene, placed: here, isNew: false }] : []),
    ...visits.map((one) => ({ ...one, placed: trees.get(one.found.gitDir) ?? [] })),
  ];
}
