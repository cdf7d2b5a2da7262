import { join } from 'node:path';
import { readGitFile } from './discover.ts';
import { isReftable, pseudoRef } from './refs.ts';
import { exactStatOf } from './stat.ts';

/** An operation that git has stopped in and can continue later (git-status(1) names it). */
export interface Operation {
  readonly name: 'merge' | 'cherry-pick' | 'revert' | 'rebase' | 'am';
  /** Identifies the operation: a file that git wrote when it began, with its inode and time. */
  readonly mark: string;
  /** When the operation began, by the time of that file: milliseconds since the epoch. */
  readonly at: number;
  /** Whether git may have more commits to apply: it then continues only when nothing else is staged. */
  readonly isSequence: boolean;
}

/**
 * Finds the unfinished operation; the outermost of several. Only one that git itself would continue counts, not a folder
 * that was left behind.
 */
export function unfinishedOperation(gitDir: string): Operation | undefined {
  const has = (...names: string[]) => names.every((name) => isFile(join(gitDir, name)));
  if (has('rebase-merge/head-name', 'rebase-merge/onto')) return found(gitDir, 'rebase', 'rebase-merge/onto');
  if (has('rebase-apply/next', 'rebase-apply/last')) {
    if (has('rebase-apply/applying')) return found(gitDir, 'am', 'rebase-apply/last');
    if (has('rebase-apply/rebasing')) return found(gitDir, 'rebase', 'rebase-apply/last');
  }
  if (has('sequencer/todo', 'sequencer/head')) {
    const isRevert = readGitFile(join(gitDir, 'sequencer/todo')).trimStart().startsWith('revert');
    return found(gitDir, isRevert ? 'revert' : 'cherry-pick', 'sequencer/head');
  }
  const head = [...PICKED, MERGED].find(([file]) => isOid(readGitFile(join(gitDir, file))));
  if (head !== undefined) return found(gitDir, head[1], head[0]);
  // With reftable the refs of a pick are no files. Their message is one, and as old as they are.
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
