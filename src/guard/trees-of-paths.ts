import { type PlacedPath, placeOf } from '../changes/work-place.ts';
import { type SessionCall, type TreeCall, isInTree } from './call.ts';
import { visit } from './visits.ts';

/** Paths of one worktree, with the call as it concerns that. */
interface TreePaths {
  readonly call: TreeCall;
  readonly placed: readonly PlacedPath[];
}

/**
 * The paths by worktree, where git-handoff is switched on; the session's own worktree comes first, whether or not any of
 * them lies there. The session is on record in each from now on.
 */
export async function treesOf(call: SessionCall, paths: readonly string[]): Promise<TreePaths[]> {
  const trees = new Map<string, PlacedPath[]>();
  for (const path of paths) {
    const placed = placeOf(path, true);
    if (placed === undefined) continue;
    const { gitDir } = placed.found;
    trees.set(gitDir, [...(trees.get(gitDir) ?? []), placed]);
  }
  const own = call.repository?.gitDir;
  const others = [...trees.values()]
    .flatMap(([first]) => first?.found ?? [])
    .filter(({ gitDir }) => gitDir !== own);
  const visits = others.length === 0 ? [] : await visit(call, others);
  return [
    ...(isInTree(call) ? [{ call, placed: trees.get(own ?? '') ?? [] }] : []),
    ...visits.map(({ call: there }) => ({ call: there, placed: trees.get(there.tree.gitDir) ?? [] })),
  ];
}
