import { type DirtyWork, workSeen } from '../../../changes/dirty-work.ts';
import { sameState } from '../../../domain/ledger/file-state.ts';
import type { DirtyPath, TreeStatus } from '../../../domain/ledger/tree-status.ts';
import type { Oid } from '../../../domain/names.ts';
import { type Extent, extentOf } from '../../../domain/overlap.ts';
import { bytesOf } from '../../../git/rescue-tree.ts';
import { MAX_READ } from '../../../git/scratch-store.ts';
import { readTreeStatus } from '../../../git/work-tree.ts';
import type { ListedWorktree } from '../../../git/worktrees.ts';
import type { JudgedSession } from '../../../sessions/records.ts';

/** A worktree with its id. */
export interface PlacedWorktree extends ListedWorktree {
  /** `undefined`: no session was ever there. */
  readonly id: string | undefined;
}

/** A line of work: what would be merged if it were all committed now. */
export interface Line {
  /** The working tree; `undefined`: a branch as it is committed. */
  readonly worktree: PlacedWorktree | undefined;
  readonly branch: string | undefined;
  /** The live sessions at work in it. */
  readonly sessions: readonly JudgedSession[];
  /** `undefined`: no commit yet. */
  readonly head: Oid | undefined;
  /** What is uncommitted. */
  readonly extent: Extent;
  /** `undefined`: a branch, or a working tree that git cannot read. */
  readonly snapshot: TreeStatus | undefined;
  /** Reads its uncommitted work with the ledgers' claims, on request. */
  readonly work: () => DirtyWork | undefined;
}

/**
 * Looks at working trees. Contents of changed files are not read.
 *
 * @param now milliseconds since the epoch
 */
export async function linesOfWorktrees(
  worktrees: readonly PlacedWorktree[],
  commonDir: string,
  sessions: readonly JudgedSession[],
  now: number,
): Promise<Line[]> {
  const lines = worktrees.map(async (worktree): Promise<Line> => {
    const { path: top, gitDir, branch, id } = worktree;
    const snapshot = await readTreeStatus(top, { now, namesOnly: true }).catch(() => undefined);
    return {
      worktree,
      branch,
      sessions: sessions.filter((one) => one.liveness === 'live' && one.worktreeId === id),
      head: snapshot?.head.oid ?? undefined,
      extent: extentOf(
        (snapshot === undefined ? [] : changesOf(snapshot)).map((dirty) => ({
          path: bytesOf(dirty),
          isNew: dirty.head === null,
          isGone: dirty.disk === null,
        })),
      ),
      snapshot,
      work: () => (snapshot === undefined ? undefined : workSeen({ top, gitDir, commonDir }, snapshot)),
    };
  });
  return Promise.all(lines);
}

/** A branch as it is committed. */
export const lineOfBranch = (branch: string, commit: Oid): Line => ({
  worktree: undefined,
  branch,
  sessions: [],
  head: commit,
  extent: extentOf([]),
  snapshot: undefined,
  work: () => undefined,
});

/** The paths where the working tree differs from HEAD; others are only staged, or separate repositories. */
export function changesOf({ dirty }: TreeStatus): DirtyPath[] {
  return [...dirty.values()].filter((one) => !sameState(one.disk, one.head) && !isRepository(one));
}

/** A submodule counts as HEAD has it: its own commits are not here. */
const isRepository = ({ disk }: DirtyPath) => disk?.mode === '160000' && disk.oid === null;

/** Whether the content of a changed path is still unknown. A file that is too large is never read. */
export const isNotRead = ({ disk }: DirtyPath) => disk !== null && disk.oid === null;

/**
 * Changed paths that count as unchanged, because they are too large or too many to read.
 *
 * @param isRead whether contents were read at all
 */
export function unreadPaths(snapshot: TreeStatus, isRead: boolean): string[] {
  const isLarge = ({ stamp }: DirtyPath) => Number.parseInt(stamp, 10) > MAX_READ;
  return changesOf(snapshot)
    .filter((one) => isNotRead(one) && (isRead || isLarge(one)))
    .map(({ path }) => path);
}
