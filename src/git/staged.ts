import type { FilePath, FileState } from '../domain/ledger/tree-status.ts';
import type { Reversal, StagedPath } from '../domain/ledger/mixing.ts';
import { type Oid, parseOid, parseSessionId } from '../domain/names.ts';
import {
  type GitOptions,
  runGit,
  requireGit,
  git,
  askGit,
  SESSIONS,
  sessionsIn,
  entriesOf,
  records,
  listedState,
  utf8,
} from './run.ts';

/** Reads trees, and the index that `GIT_INDEX_FILE` names (git sets it for hooks). */

/** Options of a diff that {@link parseRaw} reads, whatever the repository's settings say. */
export const RAW_DIFF: readonly string[] = [
  ...['--raw', '-z', '--no-abbrev', '--no-renames', '--no-relative', '--ignore-submodules=none'],
  ...['--no-ext-diff', '--no-textconv', '-O/dev/null'],
];

/** The paths at which `diff` or `diff-tree` with some arguments finds a difference. */
export async function rawDiff(
  options: GitOptions,
  command: 'diff' | 'diff-tree',
  args: readonly string[],
): Promise<StagedPath[]> {
  return parseRaw(await git([command, ...RAW_DIFF, ...args, '--'], options));
}

/** Like `rawDiff`, but finds no paths where git fails because there is no such commit. */
export const askRawDiff: typeof rawDiff = async (options, command, args) =>
  parseRaw((await askGit([command, ...RAW_DIFF, ...args, '--'], options)) ?? '');

/** The paths at which the index differs from HEAD, which may be unborn. */
export const stagedPaths = (cwd: string, env: Record<string, string> = {}): Promise<StagedPath[]> =>
  rawDiff({ cwd, env }, 'diff', ['--cached']);

/** Which of these paths differ between the disk and the index. */
export async function unstagedPaths(cwd: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const args = ['--literal-pathspecs', 'diff', ...RAW_DIFF, '--ignore-submodules=dirty', '--', ...paths];
  return parseRaw(await git(args, { cwd })).map(({ path }) => path);
}

interface IndexEntry {
  readonly path: string;
  readonly state: FileState;
  /** `0`, or for a path in conflict `1`, `2` or `3` (git-ls-files(1)). */
  readonly stage: string;
}

/** Lists entries of an index: all, the unmerged ones, or those that git saved when a conflict was resolved. */
export async function indexEntries(
  options: GitOptions,
  which: '--stage' | '--unmerged' | '--resolve-undo',
): Promise<IndexEntry[]> {
  const result = await requireGit(['ls-files', '-z', which, '--full-name'], options);
  return entriesOf(result).flatMap((line) => {
    const [, mode = '', oid = '', stage, path = ''] = /^(\d{6}) ([0-9a-f]+) (\d)\t([^]*)$/.exec(line) ?? [];
    return stage === undefined ? [] : [{ path, state: listedState(mode, oid), stage }];
  });
}

/** Lists the paths that are in conflict. */
export async function unmergedPaths(cwd: string, env: Record<string, string> = {}): Promise<string[]> {
  const entries = await indexEntries({ cwd, env }, '--unmerged');
  return [...new Set(entries.map(({ path }) => path))];
}

/** Parses git-diff(1)'s raw format with `-z`. */
export function parseRaw(output: string): StagedPath[] {
  return records(output, 2).flatMap(([entry = '', path = '']) => {
    const match = /^:([0-7]{6}) ([0-7]{6}) ([0-9a-f]+) ([0-9a-f]+) [A-Z]/.exec(entry.trimStart());
    if (match === null) return [];
    const [, oldMode = '', newMode = '', oldOid = '', newOid = ''] = match;
    return [{ path, head: listedState(oldMode, oldOid), index: listedState(newMode, newOid) }];
  });
}

/** The most commits that are searched. */
const HISTORY = 100;

/** A path as one commit changed it. */
export interface PastChange extends StagedPath {
  readonly commit: Oid;
  readonly sessions: readonly string[];
}

/**
 * Finds staged paths that undo a commit: they have the content from before the commit. Names the newest commit that touched each
 * path. Leaves out a path if that commit is this session's (`isOwn`): undoing it takes nothing from anybody.
 */
export async function findReversals(
  cwd: string,
  staged: readonly StagedPath[],
  isOwn: (session: string) => boolean,
): Promise<Reversal[]> {
  if (staged.length === 0) return [];
  const names = staged.map(({ path }) => path);
  const history = await pastChanges({ cwd }, 'HEAD', names);
  return staged.flatMap(({ path, index }) => {
    const past = history.filter((change) => change.path === path);
    const [newest] = past;
    if (newest === undefined || !past.some(({ head }) => sameContent(head, index))) return [];
    if (newest.sessions.some(isOwn)) return [];
    return [reversalOf(newest)];
  });
}

/** Finds, for each of these paths, the last commit up to HEAD (or in a range) that changed it. */
export async function newestChanges(
  cwd: string,
  paths: readonly string[],
  range = 'HEAD',
): Promise<Reversal[]> {
  if (paths.length === 0) return [];
  const history = await pastChanges({ cwd }, range, paths);
  return paths.flatMap((path) => {
    const newest = history.find((change) => change.path === path);
    return newest === undefined ? [] : [reversalOf(newest)];
  });
}

function reversalOf({ path, commit, sessions }: PastChange): Reversal {
  return { path, commit, session: sessions.map(parseSessionId).find((id) => id !== undefined) };
}

/** What the last commits of a range did to these paths (`[]`: to all), newest first. `range` may have options of git-log(1). */
export async function pastChanges(
  options: GitOptions,
  range: string | readonly string[],
  paths: readonly string[],
): Promise<PastChange[]> {
  const args = ['--literal-pathspecs', 'log', `--max-count=${HISTORY}`, ...CHANGES];
  const output = await askGit(args.concat(range, '--', paths), options);
  return parseChanges(output ?? '');
}

/** Options of git-log(1) for {@link parseChanges}. */
export const CHANGES: readonly string[] = [
  `--format=commit %H ${SESSIONS}`,
  ...RAW_DIFF,
  ...['--diff-merges=first-parent', '--no-show-signature', '--no-notes'],
];

/** Parses what commits changed. */
export function parseChanges(output: string): PastChange[] {
  const changes: PastChange[] = [];
  let commit: Oid | undefined;
  let sessions: string[] = [];
  const fields = output.split('\0').values();
  for (const text of fields) {
    const field = text.replace(/^\n+/, '');
    if (field.startsWith(':')) {
      // The path is the next field, and may look like any other field.
      const [change] = parseRaw(`${field}\0${fields.next().value ?? ''}\0`);
      if (change !== undefined && commit !== undefined) changes.push({ ...change, commit, sessions });
    } else if (field.startsWith('commit ')) {
      const [, name = '', ...trailers] = field.split(' ');
      commit = parseOid(name);
      sessions = sessionsIn(trailers.join(''));
    }
  }
  return changes;
}

function sameContent(a: FileState, b: FileState): boolean {
  return a === null || b === null ? a === b : a.oid === b.oid;
}

export interface TreeFile extends FilePath {
  readonly mode: string;
  readonly oid: Oid;
}

/** Beyond this many names the whole tree is listed. */
const MAX_NAMES = 200;

/**
 * Lists all files of a commit or tree, in every folder, or only those in `names`; none when there is no such tree. Leaves out
 * submodules. `treeish` is an object name, perhaps with a suffix like `^3`, and never something that a user typed.
 */
export async function listTree(
  options: GitOptions,
  treeish: string,
  names: readonly string[] = [],
): Promise<TreeFile[]> {
  const asked = names.length > MAX_NAMES ? [] : names;
  // Every word after the tree is a path; a `--` would be one, too.
  const args = ['--literal-pathspecs', 'ls-tree', '-r', '-z', '--full-tree', '--end-of-options', treeish];
  const result = await runGit([...args, ...asked], options);
  if (result.code !== 0) return [];
  const listed = result.stdout.toString('latin1').split('\0');
  return listed.flatMap((record): TreeFile[] => {
    const match = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(record);
    const oid = parseOid(match?.[2] ?? '');
    const [, mode = '', , bytes = ''] = match ?? [];
    if (oid === undefined) return [];
    const path = utf8(bytes);
    return [{ path, mode, oid, ...(path.includes('\ufffd') ? { raw: bytes } : {}) }];
  });
}

/**
 * Lists files that git ignores and does not track, under some pathspecs (all when there are none). A folder that is ignored as
 * a whole stands for its contents. `folders`: whether to list such folders, which `git clean -d` would delete.
 */
export async function listIgnored(
  options: GitOptions,
  pathspecs: readonly string[],
  folders: boolean,
): Promise<string[]> {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  const result = await runGit([...args, '--', ...pathspecs], options);
  if (result.code !== 0) return [];
  return entriesOf(result).filter((name) => folders || !name.endsWith('/'));
}
