import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import { escapeLine } from '../domain/surfacing.ts';
import type { Limits } from './branches.ts';
import { pathspecModes } from './environment.ts';
import { utf8, entriesOf, records, runGit } from './run.ts';
import { lstatOf } from '../host/disk.ts';

/**
 * Reads what a commit has at each of these paths: mode and object name, also of folders. Opens only git's objects.
 *
 * @returns `undefined` when there is no such commit
 */
export async function treeEntries(
  cwd: string,
  commit: Oid,
  paths: readonly string[],
  { timeoutMs }: Limits,
): Promise<ReadonlyMap<string, string> | undefined> {
  if (paths.length === 0) return new Map();
  // -t: lists a folder, too, when a file in it is asked for.
  const flags = ['-t', '-z', '--full-tree', '--end-of-options'];
  const args = ['--literal-pathspecs', 'ls-tree', ...flags, commit, ...paths];
  const result = await runGit(args, { cwd, timeoutMs });
  if (result.code !== 0) return undefined;
  return new Map(
    entriesOf(result).flatMap((record) => {
      const tab = record.indexOf('\t');
      return tab < 0 ? [] : [[record.slice(tab + 1), record.slice(0, tab)] as const];
    }),
  );
}

/** Where files moved between two commits, by git's own rename detection. Empty when that takes too long. */
export async function movedFiles(
  cwd: string,
  from: Oid,
  to: Oid,
  { timeoutMs }: Limits,
): Promise<ReadonlyMap<string, string>> {
  const flags = ['-r', '-z', '-M', '--name-status', '--diff-filter=R', '--no-ext-diff', '--no-textconv'];
  const args = ['diff-tree', ...flags, '--ignore-submodules=all', '-O/dev/null', from, to, '--'];
  const moved = new Map<string, string>();
  try {
    const result = await runGit(args, { cwd, timeoutMs });
    const found = result.code === 0 ? records(result.stdout.toString('utf8'), 3) : [];
    for (const [, old = '', name = ''] of found) moved.set(old, name);
  } catch {
    // The change is too large: a file that moved counts as deleted.
  }
  return moved;
}

/** The working tree compared with HEAD, counted as a handoff records it. */
export interface TreeState {
  readonly head: Oid | undefined;
  readonly dirty: number;
  /** Paths that differ or are untracked; an untracked folder counts as one. */
  readonly paths: readonly string[];
  /** Staged renames, old to new. */
  readonly moved: ReadonlyMap<string, string>;
}

/** Reads the state in one process that takes no lock; `undefined` without a working tree. */
export async function readTreeState(cwd: string, { timeoutMs }: Limits): Promise<TreeState | undefined> {
  const flags = ['--porcelain=v2', '--branch', '-z', '--no-ahead-behind', '--untracked-files=normal'];
  const result = await runGit(['status', ...flags, '--ignore-submodules=dirty'], { cwd, timeoutMs });
  if (result.code !== 0) return undefined;
  const records = result.stdout.toString('latin1').split('\0').map(utf8);
  const paths: string[] = [];
  const moved = new Map<string, string>();
  let head: Oid | undefined;
  let dirty = 0;
  for (let at = 0; at < records.length; at++) {
    const record = records[at] ?? '';
    if (record.startsWith('# branch.oid ')) head = parseOid(record.slice('# branch.oid '.length));
    const fields = FIELDS.get(record.slice(0, 2));
    if (fields === undefined) continue;
    const path = record.split(' ').slice(fields).join(' ');
    dirty++;
    paths.push(path.replace(/\/$/, ''));
    if (!record.startsWith('2 ')) continue;
    const old = records[++at] ?? '';
    paths.push(old);
    moved.set(old, path);
  }
  return { head, dirty, paths, moved };
}

/** The number of fields before the path in an entry of each kind (git-status(1), porcelain format version 2). */
const FIELDS = new Map([
  ['1 ', 8],
  ['2 ', 9],
  ['u ', 10],
  ['? ', 1],
]);

/** Whether a path exists in the working tree. Follows no link on the way, because one could lead out of the tree. */
export function existsInside(top: string, path: string): boolean {
  const parts = path.split('/');
  try {
    return parts.every((_, at) => {
      const stat = lstatOf(join(top, ...parts.slice(0, at + 1)));
      return at === parts.length - 1 ? stat !== undefined : stat?.isDirectory() === true;
    });
  } catch {
    // We cannot look at it (permissions, a name that is too long): it does not count.
    return false;
  }
}

/**
 * The dirty paths that pathspecs (gitglossary(7)) match, relative to the top of the working tree.
 *
 * @param cwd what the pathspecs are relative to
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
