import { relative } from 'node:path';
import { placePath } from '../../changes/windows.ts';
import { realPath } from '../../host/disk.ts';
import type { PathEffect, ShellEffects } from '../../shell/effects.ts';
import type { Worktree } from '../call.ts';

/** A path of a worktree that a tool call is about to change. */
export interface Touch {
  readonly path: string;
  /** Whether the call removes the path, with everything under it. */
  readonly removes: boolean;
}

/** Whether a call changes a path. */
export function isTouched(path: string, touch: Touch): boolean {
  if (path === touch.path) return true;
  return touch.removes && (touch.path === '' || path.startsWith(`${touch.path}/`));
}

/** Returns the paths of a worktree that a command names as targets of a change. */
export function namedPaths({ paths, modes }: ShellEffects, tree: Worktree): Touch[] {
  const changed = modes.map(({ path }): PathEffect => ({ path, kind: 'write', follows: true, by: 'chmod' }));
  return [...paths, ...changed].flatMap(({ path, kind, follows }) => {
    const removes = kind === 'remove';
    const placed = placePath(path, follows);
    if (placed?.found.gitDir === tree.gitDir) return [{ path: placed.path, removes }];
    const isTop = removes && relative(realPath(tree.workTree), realPath(path, follows)) === '';
    return isTop ? [{ path: '', removes }] : [];
  });
}
