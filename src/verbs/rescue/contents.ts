import { dirname, join, relative, resolve, sep } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { realPath } from '../../host/disk.ts';

/**
 * Returns the paths of a command line, from the top of the working tree. A path may be gone from the disk, with its
 * folder.
 *
 * @throws Failure `usage` for a path outside of the working tree
 */
export function wantedPaths(typed: readonly string[], cwd: string, top: string | undefined): string[] {
  if (typed.length === 0) return [];
  const root = top === undefined ? undefined : realPath(top);
  return typed.map((path) => {
    // `:/src/a.ts` starts at the top, as in git's pathspecs, because a message may be read in any folder.
    const absolute =
      path.startsWith(':/') && top !== undefined ? resolve(top, path.slice(2)) : resolve(cwd, path);
    const real = join(realPath(dirname(absolute)), relative(dirname(absolute), absolute));
    const inside = root === undefined ? undefined : relative(root, real).replaceAll(sep, '/');
    if (inside === undefined || path === '' || inside === '..' || inside.startsWith('../')) {
      throw new Failure('usage', `${escapeLine(path)} is not a path in this worktree`, {
        hint: 'git handoff rescue list',
      });
    }
    return inside;
  });
}
