import { accessSync, constants, readlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseOid } from '../domain/names.ts';
import { isThere, readText, statOf } from '../host/disk.ts';

/** A repository found without starting git (gitrepository-layout(5)); enough for the guard. */
export interface FoundRepository {
  readonly workTree: string;
  readonly gitDir: string;
  readonly commonDir: string;
}

/** Looks for `.git` from a folder upwards, as git does; leaves bare repositories and `GIT_DIR` to git. */
export function discoverRepository(from: string): FoundRepository | undefined {
  let folder = resolve(from);
  // git cannot start in a folder that does not exist or is closed to this user. `isThere` is fast even for a path with thousands
  // of missing folders.
  while (!(isThere(folder) && isEnterable(folder)) && dirname(folder) !== folder) folder = dirname(folder);
  for (; ; folder = dirname(folder)) {
    const found = gitDirAt(folder);
    // A `.git` file that leads nowhere ends git's search, and so does a bare repository, or the inside of a `.git`.
    if (found === 'broken' || (found === undefined && isGitDir(folder))) return undefined;
    if (found !== undefined) return { workTree: folder, ...found };
    if (dirname(folder) === folder) return undefined;
  }
}

type GitDirs = Omit<FoundRepository, 'workTree'>;

function gitDirAt(folder: string): GitDirs | 'broken' | undefined {
  const path = join(folder, '.git');
  const stat = statOf(path);
  if (stat?.isDirectory() === true) return gitDirsOf(path);
  if (stat?.isFile() !== true) return undefined;
  const text = withoutNewlines(readText(path));
  const target = text.startsWith('gitdir: ') ? text.slice('gitdir: '.length) : '';
  return (target === '' ? undefined : gitDirsOf(resolve(folder, target))) ?? 'broken';
}

/** Reads `HEAD`: a full ref name, or `HEAD` when detached; `undefined` if only git can tell (reftable, a link, …). */
export function readHead(gitDir: string): string | undefined {
  const text = readText(`${gitDir}/HEAD`).replace(/\n$/, '');
  if (parseOid(text) !== undefined) return 'HEAD';
  const target = /^ref: (refs\/heads\/.+)$/.exec(text)?.[1];
  return target === 'refs/heads/.invalid' ? undefined : target;
}

/** The branch that is checked out in the worktree around a folder, as `git branch --show-current` prints it. */
export function checkedOutBranch(folder: string): string | undefined {
  const found = discoverRepository(folder);
  const head = found === undefined ? undefined : readHead(found.gitDir);
  return head?.startsWith('refs/heads/') === true ? head.slice('refs/heads/'.length) : undefined;
}

/** Returns the folders of a git dir that git itself accepts (its `is_git_directory`): with a `HEAD`, `objects` and `refs`. */
function gitDirsOf(gitDir: string): GitDirs | undefined {
  if (!isHead(`${gitDir}/HEAD`)) return undefined;
  const commonDir = commonDirOf(gitDir);
  const isWhole = isEnterable(`${commonDir}/objects`) && isEnterable(`${commonDir}/refs`);
  return isWhole ? { gitDir, commonDir } : undefined;
}

const isGitDir = (path: string) => gitDirsOf(path) !== undefined;

/** Checks only the form of `HEAD`: the branch that it names may not exist yet (with reftable it never does). */
function isHead(file: string): boolean {
  try {
    return readlinkSync(file).startsWith('refs/');
  } catch {
    return /^(?:ref:[ \t\r\n]*refs\/|[0-9a-fA-F]{40})/.test(readText(file));
  }
}

/** Whether this user may enter a folder. For `objects` and `refs`, git itself checks only this. */
function isEnterable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Removes what git removes at the end of a `.git` or `commondir` file: line ends, and nothing else. */
function withoutNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && '\r\n'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The folder that all worktrees share (`$GIT_COMMON_DIR`), found from a worktree's own git dir. */
export function commonDirOf(gitDir: string): string {
  const common = withoutNewlines(readText(`${gitDir}/commondir`));
  return common === '' ? gitDir : resolve(gitDir, common);
}

const LOOSE_REFS = /^(.*?)\/(?:logs\/)?refs(\/handoffs[^/]*(?:\/.*)?)?$/is;

/** The folder of the sessions' records, beside the refs. Leaves out the worktree of `try`, which holds no records. */
const RECORDS = /^(.*?\.git)\/handoff(?!\/try\/)(?:\/.*)?$/is;

/**
 * Whether changing a file would change handoffs behind git's back: loose refs and their logs, `packed-refs`, reftable files, and
 * our records beside them. Ignores the case of letters (macOS). `removed`: the path is deleted with everything in it.
 */
export function isHandoffRefFile(path: string, removed: boolean): boolean {
  const [, gitDir, handoffs] = LOOSE_REFS.exec(path) ?? [];
  if (gitDir !== undefined && isGitDir(gitDir))
    return handoffs !== undefined || (removed && hasHandoffs(gitDir));
  const [, recordsOf] = RECORDS.exec(path) ?? [];
  if (recordsOf !== undefined) return isGitDir(recordsOf);
  const parent = dirname(path);
  if (/\/packed-refs$/i.test(path)) return isGitDir(parent);
  if (/\/reftable(?:\/[^/]*)?$/i.test(path)) return isGitDir(parent) || isGitDir(dirname(parent));
  return removed && /\/\.git$/i.test(path) && isGitDir(path) && hasHandoffs(path);
}

/** Whether a repository with the files backend probably holds handoffs; for commands that would delete the repository. */
function hasHandoffs(commonDir: string): boolean {
  return ['refs/handoffs', 'handoff'].some((name) => statOf(join(commonDir, name)) !== undefined);
}
