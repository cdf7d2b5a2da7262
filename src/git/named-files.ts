import { join } from 'node:path';
import { escapeLine, Failure } from '../domain/messages.ts';
import type { Oid } from '../domain/names.ts';
import { pathspecModes } from './environment.ts';
import { type GitOptions, runGit, git, askGit, entriesOf, records } from './run.ts';
import { lstatOf } from '../host/disk.ts';

/** Reads mode and object name of files and folders in a commit, from git's objects alone; `undefined`: no such commit. */
export async function treeEntries(
  options: GitOptions,
  commit: Oid,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  if (paths.length === 0) return new Map();
  // `-t` also lists the folders of the files that are asked for.
  const args = ['ls-tree', '-t', '-z', '--full-tree', '--end-of-options', commit, ...paths];
  const output = await askGit(['--literal-pathspecs', ...args], options);
  if (output === undefined) return undefined;
  const lines = output.split('\0').map((record) => /^([^\t]*)\t([^]*)$/.exec(record));
  return new Map(lines.flatMap((line) => (line === null ? [] : [[line[2] ?? '', line[1] ?? ''] as const])));
}

/** Where files moved between two commits, by git's own rename detection. Empty when git takes too long. */
export async function movedFiles(
  options: GitOptions,
  from: Oid,
  to: Oid,
): Promise<ReadonlyMap<string, string>> {
  const flags = ['-r', '-z', '-M', '--name-status', '--diff-filter=R', '--no-ext-diff', '--no-textconv'];
  const args = ['diff-tree', ...flags, '--ignore-submodules=all', '-O/dev/null', from, to, '--'];
  try {
    const found = records(await git(args, options), 3);
    return new Map(found.map(([, old = '', name = '']) => [old, name]));
  } catch {
    // Files that moved then count as deleted.
    return new Map();
  }
}

/** Whether a path exists in the working tree. Follows no link on the way, because a link could lead out of the tree. */
export function existsInside(top: string, path: string): boolean {
  const parts = path.split('/');
  try {
    return parts.every((_, at) => {
      const stat = lstatOf(join(top, ...parts.slice(0, at + 1)));
      return at === parts.length - 1 ? stat !== undefined : stat?.isDirectory() === true;
    });
  } catch {
    // We cannot look at the path (permissions, a name that is too long), so it counts as missing.
    return false;
  }
}

/**
 * The dirty paths that match these pathspecs (gitglossary(7)). The pathspecs are relative to `cwd`, the paths to the top of the
 * working tree.
 *
 * @throws Failure `usage` when git refuses a pathspec
 */
export async function matchingPaths(cwd: string, pathspecs: readonly string[]): Promise<Set<string>> {
  const flags = ['--porcelain', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=dirty'];
  const result = await runGit(['status', ...flags, '--', ...pathspecs], {
    cwd,
    env: pathspecModes(process.env),
  });
  if (result.code !== 0) {
    const [line = ''] = result.stderr.trim().split('\n');
    throw new Failure('usage', escapeLine(line.replace(/^fatal: /, '')), { hint: 'git handoff status' });
  }
  return new Set(entriesOf(result).map((line) => line.slice('XY '.length)));
}
