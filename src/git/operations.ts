import { join } from 'node:path';
import { isReftable, pseudoRef } from './refs.ts';
import { exactStatOf, readText } from '../host/disk.ts';
import { sameState, type FileState } from '../domain/ledger/tree-status.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import { changedPaths } from './commits.ts';
import { indexEntries, askRawDiff } from './staged.ts';

/** An operation that git has stopped in and can continue later (git-status(1) names it). */
export interface Operation {
  readonly name: 'merge' | 'cherry-pick' | 'revert' | 'rebase' | 'am';
  /** Identifies the operation: a file that git wrote when it began, with its inode and time. */
  readonly mark: string;
  /** When the operation began, by the time of that file: milliseconds since the epoch. */
  readonly at: number;
  /** Whether git may have more commits to apply. If so, git continues only when nothing else is staged. */
  readonly isSequence: boolean;
}

/** Finds the unfinished operation, the outermost of several. Counts only what git would continue, not a left-over folder. */
export function unfinishedOperation(gitDir: string): Operation | undefined {
  const has = (...names: string[]) => names.every((name) => isFile(join(gitDir, name)));
  if (has('rebase-merge/head-name', 'rebase-merge/onto')) return found(gitDir, 'rebase', 'rebase-merge/onto');
  if (has('rebase-apply/next', 'rebase-apply/last')) {
    if (has('rebase-apply/applying')) return found(gitDir, 'am', 'rebase-apply/last');
    if (has('rebase-apply/rebasing')) return found(gitDir, 'rebase', 'rebase-apply/last');
  }
  if (has('sequencer/todo', 'sequencer/head')) {
    const isRevert = readText(join(gitDir, 'sequencer/todo')).trimStart().startsWith('revert');
    return found(gitDir, isRevert ? 'revert' : 'cherry-pick', 'sequencer/head');
  }
  const head = [...PICKED, MERGED].find(([file]) => isOid(readText(join(gitDir, file))));
  if (head !== undefined) return found(gitDir, head[1], head[0]);
  // With reftable, the ref of a pick or revert is not a file, so we use `MERGE_MSG`, which git writes at the same time.
  if (!has('MERGE_MSG') || !isReftable(gitDir)) return undefined;
  const kept = PICKED.find(([ref]) => pseudoRef(gitDir, ref) !== undefined);
  return kept === undefined ? undefined : found(gitDir, kept[1], 'MERGE_MSG');
}

const PICKED = [
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
] as const;
const MERGED = ['MERGE_HEAD', 'merge'] as const;

const isOid = (text: string) => /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?:\n|$)/.test(text);

const isFile = (path: string) => exactStatOf(path)?.isFile() === true;

function found(gitDir: string, name: Operation['name'], file: string): Operation | undefined {
  const stat = exactStatOf(join(gitDir, file));
  if (stat === undefined) return undefined;
  const mark = `${file}:${stat.ino}:${stat.mtimeNs}`;
  return { name, mark, at: Number(stat.mtimeNs / 1_000_000n), isSequence: file.includes('/') };
}

/** The tree of git's last merge, which `AUTO_MERGE` names; any merge writes it, and so does `git stash pop`. */
export function mergedTree(gitDir: string): Oid | undefined {
  return pseudoRef(gitDir, 'AUTO_MERGE');
}

/** Whether `git merge --squash` waits for its commit. */
export function isSquashing(gitDir: string): boolean {
  return readText(join(gitDir, 'SQUASH_MSG')) !== '';
}

const PICKED_HEADS = ['CHERRY_PICK_HEAD', 'REBASE_HEAD'];

/** The states that the operation's own commits give to each path that they change. */
export async function madePaths(
  cwd: string,
  gitDir: string,
  name: string,
): Promise<Map<string, readonly FileState[]>> {
  const lists = await Promise.all(
    changeArguments(gitDir, name).map(([command, ...args]) => askRawDiff({ cwd }, command, args)),
  );
  const made = new Map<string, FileState[]>();
  for (const { path, index } of lists.flat()) made.set(path, [...(made.get(path) ?? []), index]);
  return made;
}

function changeArguments(gitDir: string, name: string): ['diff' | 'diff-tree', ...string[]][] {
  switch (name) {
    case 'merge':
      return oids(readText(join(gitDir, 'MERGE_HEAD'))).map((head) => ['diff', `HEAD...${head}`]);
    case 'squash': {
      const [head] = oids(readText(join(gitDir, 'SQUASH_MSG')).replace(/^commit /gm, ''));
      return head === undefined ? [] : [['diff', `HEAD...${head}`]];
    }
    case 'cherry-pick':
    case 'rebase':
      return PICKED_HEADS.map((head) => ['diff-tree', '-r', '-m', '--root', '--no-commit-id', head]);
    case 'revert':
      return [['diff-tree', '-r', '-m', '-R', '--root', '--no-commit-id', 'REVERT_HEAD']];
    default:
      return [];
  }
}

/** The paths at which a merged tree differs from HEAD, with their states in that tree. */
export async function mergedPaths(cwd: string, head: Oid, tree: Oid): Promise<Map<string, FileState>> {
  return new Map((await changedPaths(cwd, head, tree)).map(({ path, index }) => [path, index]));
}

/**
 * Paths that were in conflict and are resolved, from the index's resolve-undo entries. `heads` has HEAD's states of the staged
 * paths: entries that do not match them are left from an earlier operation.
 */
export async function resolvedPaths(
  cwd: string,
  heads: ReadonlyMap<string, FileState>,
): Promise<Set<string>> {
  const ours = new Map<string, FileState>();
  for (const { path, state, stage } of await indexEntries({ cwd }, '--resolve-undo'))
    if (stage === '2' || !ours.has(path)) ours.set(path, stage === '2' ? state : null);
  return new Set(
    [...ours].flatMap(([path, state]) => (sameState(heads.get(path) ?? null, state) ? [path] : [])),
  );
}

function oids(text: string): Oid[] {
  return text.split('\n').flatMap((line) => parseOid(line.trim()) ?? []);
}
