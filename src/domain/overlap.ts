import { type FileState, type Replaced, sameState } from './ledger/tree-status.ts';
import { escapeLine, listed, shellWord } from './messages.ts';

/**
 * Judges a path that two worktrees have changed since their histories parted: whether the changes overlap, and whether the
 * file would merge. Formats the notice that a session gets.
 */

/** Where a worktree has its own change of a path. */
export type Progress = 'uncommitted' | 'committed' | 'both';

/** Returns where a worktree's change of a path is; `undefined`: it has none. */
export function progressOf(base: FileState, { head, disk }: Replaced): Progress | undefined {
  const [isCommitted, isUncommitted] = [!sameState(head, base), !sameState(disk, head)];
  if (isCommitted) return isUncommitted ? 'both' : 'committed';
  return isUncommitted ? 'uncommitted' : undefined;
}

/**
 * `conflict`: a merge would stop at the path · `deleted`: it would stop, because one side deleted or moved what the other
 * changed · `not-judged`: no merge was tried · `same-file`: both sides changed the file, and it merges.
 */
export type OverlapKind = 'conflict' | 'deleted' | 'not-judged' | 'same-file';

/** Whether a merge would stop at an overlap of this kind. */
export const stopsMerge = (kind: string): boolean => kind === 'conflict' || kind === 'deleted';

/** Judges by the states alone. `undefined`: no overlap; `contents`: both sides' contents have to be read. */
export function overlapKindOf(
  base: FileState,
  mine: FileState,
  theirs: FileState,
): OverlapKind | 'contents' | undefined {
  if (sameState(mine, theirs) || sameState(mine, base) || sameState(theirs, base)) return undefined;
  if (mine === null || theirs === null) return 'deleted';
  const all = [mine, theirs, ...(base === null ? [] : [base])];
  if (!all.every(({ mode }) => mode.startsWith('100'))) return 'conflict';
  return all.every(({ oid }) => oid !== null) ? 'contents' : 'not-judged';
}

/** An overlap of two worktrees, as a notice tells it to a session in one of them. */
export interface OverlapNotice {
  readonly paths: readonly string[];
  /** The names of the sessions in the other worktree. */
  readonly who: string;
  /** A sentence for each of these sessions that is idle. */
  readonly idle: string;
  readonly folder: string;
  /** `undefined`: HEAD is detached. */
  readonly branch: string | undefined;
  readonly progress: Progress;
  readonly kind: OverlapKind;
}

const PROGRESS: Readonly<Record<Progress, string>> = {
  uncommitted: 'not committed',
  committed: 'committed',
  both: 'committed, and changed since',
};

const KINDS: Readonly<Record<OverlapKind, string>> = {
  'same-file': 'So far it merges with yours.',
  conflict: 'It conflicts with yours.',
  deleted: 'It conflicts with yours.',
  'not-judged': 'It is not known whether it merges with yours.',
};

/** Formats the notice as sentences. `git`: "git", with the options that a command needs to reach this repository. */
export function overlapText(notice: OverlapNotice, git: string): string {
  const { paths, who, idle, folder, branch, progress, kind } = notice;
  const is = paths.length === 1 ? 'is' : 'are';
  const where = `${escapeLine(folder)} (${branch === undefined ? 'detached HEAD' : `branch ${escapeLine(branch)}`})`;
  return (
    `${listed(paths.map(shellWord))} ${is} also changed in ${where}, where ${who} works: ${PROGRESS[progress]}. ` +
    `${idle}${KINDS[kind]} Nothing is refused; compare with: ${git} handoff overlap`
  );
}
