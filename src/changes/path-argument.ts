import { lstatSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';
import { type FoundRepository, discoverRepository } from '../git/discover.ts';
import { realPath } from '../host/disk.ts';
import type { WorkTree } from './dirty-work.ts';

/** A `<path>` argument: the working tree it lies in and its name there; `''` is the whole tree. */
export interface PathArgument {
  readonly typed: string;
  readonly tree: WorkTree;
  readonly path: string;
}

/** git's pathspec for one path from the top of the working tree. */
export const TOP_LITERAL = ':(top,literal)';

/**
 * Finds the working tree of a path, which may be another worktree of the repository than the current one.
 *
 * @param current the working tree around `cwd`; a bare repository has none
 * @throws Failure `usage` for a path outside of the repository
 */
export function parsePathArgument(
  typed: string,
  cwd: string,
  commonDir: string,
  current: WorkTree | undefined,
): PathArgument {
  if (typed === '') throw new Failure('usage', 'a path is empty', { hint: 'git handoff status' });
  const absolute = realPath(absoluteOf(typed, cwd, current), false);
  const found = repositoryOf(absolute, commonDir);
  if (found !== undefined && isSame(found.commonDir, commonDir)) {
    const { gitDir, workTree } = found;
    const tree = current?.gitDir === gitDir ? current : { gitDir, commonDir, top: realPath(workTree) };
    const path = inside(tree.top, absolute);
    if (path !== undefined) return { typed, tree, path };
  }
  // Where only git knows the working tree (GIT_WORK_TREE), it is the current one.
  const path = found === undefined && current !== undefined ? inside(current.top, absolute) : undefined;
  if (path !== undefined && current !== undefined) return { typed, tree: current, path };
  const hint =
    found === undefined ? 'git handoff status' : `git -C ${shellWord(found.workTree)} handoff status`;
  throw new Failure('usage', `${escapeLine(typed)} is not a path in this repository's worktrees`, { hint });
}

/** A path is taken literally; in a list it may be git's pathspec for just that, which starts at the top. */
function absoluteOf(typed: string, cwd: string, current: WorkTree | undefined): string {
  const listed = typed.startsWith(TOP_LITERAL) && current !== undefined;
  return listed ? resolve(current.top, typed.slice(TOP_LITERAL.length)) : resolve(cwd, typed);
}

/** A folder that is a repository of its own (a submodule) is a path of the one around it. */
function repositoryOf(absolute: string, commonDir: string): FoundRepository | undefined {
  const isFolder = lstatSync(absolute, { throwIfNoEntry: false })?.isDirectory() === true;
  const at = isFolder ? discoverRepository(absolute) : undefined;
  if (at !== undefined && isSame(at.commonDir, commonDir)) return at;
  return discoverRepository(dirname(absolute));
}

const isSame = (a: string, b: string) => realPath(a) === realPath(b);

function inside(top: string, absolute: string): string | undefined {
  const path = relative(realPath(top), absolute).replaceAll(sep, '/');
  return path === '..' || path.startsWith('../') || /^\.git(?:\/|$)/.test(path) ? undefined : path;
}

/** Whether a path is the one that was named, or lies below it. */
export function isNamed(path: string, named: string): boolean {
  return named === '' || path === named || path.startsWith(`${named}/`);
}
