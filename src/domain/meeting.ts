import { type FileState, sameState } from './ledger/file-state.ts';
import { escapeLine, listed, shellWord } from './surfacing.ts';

/**
 * Paths that were changed in two worktrees since their histories parted: whether they overlap, whether a file would
 * merge, and what a session is told.
 */

/** What is at a path in a worktree. */
export interface Standing {
  readonly head: FileState;
  readonly disk: FileState;
}

/** Where a worktree has its own change of a path. */
export type Progress = 'uncommitted' | 'committed' | 'both';

/** `undefined`: the path is not changed there. */
export function progressOf(base: FileState, { head, disk }: Standing): Progress | undefined {
  const [isCommitted, isUncommitted] = [!sameState(head, base), !sameState(disk, head)];
  if (isCommitted) return isUncommitted ? 'both' : 'committed';
  return isUncommitted ? 'uncommitted' : undefined;
}

/** What becomes of a path when two worktrees are merged; `unjudged`: nobody tried. */
export type MergeOutcome = 'merges' | 'conflicts' | 'unjudged';

/** Judges by the states alone; `undefined`: no overlap, `contents`: both sides of a file have to be read. */
export function outcomeOf(
  base: FileState,
  mine: FileState,
  theirs: FileState,
): MergeOutcome | 'contents' | undefined {
  if (sameState(mine, theirs) || sameState(mine, base) || sameState(theirs, base)) return undefined;
  if (mine === null || theirs === null) return 'conflicts';
  const all = [mine, theirs, ...(base === null ? [] : [base])];
  if (!all.every(({ mode }) => mode.startsWith('100'))) return 'conflicts';
  return all.every(({ oid }) => oid !== null) ? 'contents' : 'unjudged';
}

/** Paths that two worktrees have both changed, as a session in one of them is told. */
export interface Meeting {
  readonly paths: readonly string[];
  /** The names of the sessions in the other worktree. */
  readonly who: string;
  /** A sentence for each of them that is idle. */
  readonly idle: string;
  readonly folder: string;
  /** `undefined`: HEAD is detached. */
  readonly branch: string | undefined;
  readonly progress: Progress;
  readonly outcome: MergeOutcome;
}

const PROGRESS: Readonly<Record<Progress, string>> = {
  uncommitted: 'not committed',
  committed: 'committed',
  both: 'committed, and changed since',
};

const OUTCOMES: Readonly<Record<MergeOutcome, string>> = {
  merges: 'So far it merges with yours.',
  conflicts: 'It conflicts with yours.',
  unjudged: 'Whether it merges with yours is not known.',
};

/**
 * Says it in sentences.
 *
 * @param git how git is called for the repository where the next command will run
 */
export function meetingText(meeting: Meeting, git: string): string {
  const { paths, who, idle, folder, branch, progress, outcome } = meeting;
  const is = paths.length === 1 ? 'is' : 'are';
  const where = `${escapeLine(folder)} (${branch === undefined ? 'detached HEAD' : `branch ${escapeLine(branch)}`})`;
  return (
    `${listed(paths.map(shellWord))} ${is} also changed in ${where}, where ${who} works: ${PROGRESS[progress]}. ` +
    `${idle}${OUTCOMES[outcome]} Nothing is refused; compare with: ${git} handoff overlap`
  );
}
