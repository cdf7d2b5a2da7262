import { type DirtyWork, workSeen } from '../../../changes/dirty-work.ts';
import { sameState } from '../../../domain/ledger/file-state.ts';
import { type DirtyPath, type Snapshot, sameDirty } from '../../../domain/ledger/snapshot.ts';
import type { Oid } from '../../../domain/names.ts';
import { type Extent, extentOf } from '../../../domain/overlap.ts';
import { bytesOf } from '../../../git/rescue-tree.ts';
import { MAX_READ } from '../../../git/scratch-store.ts';
import { takeSnapshot } from '../../../git/work-tree.ts';
import type { ListedWorktree } from '../../../git/worktrees.ts';
import { knownWorktreeId } from '../../../host/folders.ts';
import type { JudgedSession } from '../../../sessions/records.ts';
import { type Remembered, type SeenTree, callsIn, indexStamp, isStillSo } from './remembered.ts';

/** A worktree with its id. */
export interface PlacedWorktree extends ListedWorktree {
  /** `undefined`: no session was ever there. */
  readonly id: string | undefined;
}

/** A line of work: what would be merged if it were all committed now. */
export interface Line {
  /** The working tree; `undefined`: a branch as it is committed. */
  readonly worktree: PlacedWorktree | undefined;
  /** Its id; `undefined`: no session was ever there. */
  readonly id: string | undefined;
  readonly branch: string | undefined;
  /** The live sessions at work in it. */
  readonly sessions: readonly JudgedSession[];
  /** `undefined`: no commit yet. */
  readonly head: Oid | undefined;
  /** What is uncommitted. */
  readonly extent: Extent;
  /** `undefined`: a branch, or a working tree that git cannot read. */
  readonly seen: SeenTree | undefined;
  /** Reads its uncommitted work with the ledgers' claims, on request. */
  readonly work: () => DirtyWork | undefined;
  /** When it was last looked at, if not now. Milliseconds since the epoch. */
  readonly asOf: number | undefined;
}

/** A look at a working tree. */
export interface Look {
  readonly snapshot: Snapshot;
  readonly index: string;
}

/** What a look needs: the time, in milliseconds since the epoch, and what is remembered. */
export interface Looking {
  readonly now: number;
  readonly remembered: Remembered;
}

/** Looks at a working tree. Unknown contents of changed files are not read. */
export async function look(
  { path, gitDir }: Pick<ListedWorktree, 'path' | 'gitDir'>,
  { now, remembered }: Looking,
): Promise<Look> {
  const index = indexStamp(gitDir);
  const known = remembered.trees.get(knownWorktreeId(gitDir) ?? '')?.snapshot;
  const options = { now, namesOnly: true, ...(known === undefined ? {} : { known }) };
  return { snapshot: await takeSnapshot(path, options), index };
}

/**
 * Looks at working trees, except those that are known to be unchanged since the last look.
 *
 * @param begun looks that have begun already, by git directory
 */
export async function linesOfWorktrees(
  worktrees: readonly PlacedWorktree[],
  commonDir: string,
  sessions: readonly JudgedSession[],
  looking: Looking,
  begun: ReadonlyMap<string, Promise<Look>>,
): Promise<Line[]> {
  const lines = worktrees.map(async (worktree): Promise<Line> => {
    const { path: top, gitDir, branch, id } = worktree;
    const here = sessions.filter((one) => one.liveness === 'live' && one.worktreeId === id);
    const known = looking.remembered.trees.get(id ?? '');
    const calls = callsIn(here, commonDir);
    const taken = begun.get(gitDir);
    const isKnown = taken === undefined && known !== undefined && isStillSo(known, worktree, calls);
    const found = isKnown ? known : await (taken ?? look(worktree, looking)).catch(() => undefined);
    // If nothing has changed, the commit of the last look still holds.
    const isSame = known !== undefined && found !== undefined && sameDirty(known.snapshot, found.snapshot);
    const commit = isSame ? known.commit : undefined;
    const seen = found === undefined ? undefined : { ...found, calls: calls.text, commit };
    return {
      worktree,
      id,
      branch,
      sessions: here,
      head: seen?.snapshot.head.oid ?? undefined,
      extent: extentOf(
        (seen === undefined ? [] : changesOf(seen.snapshot)).map((dirty) => ({
          path: bytesOf(dirty),
          isNew: dirty.head === null,
          isGone: dirty.disk === null,
        })),
      ),
      seen,
      work: () => (seen === undefined ? undefined : workSeen({ top, gitDir, commonDir }, seen.snapshot)),
      asOf: isKnown ? known.snapshot.at : undefined,
    };
  });
  return Promise.all(lines);
}

/** A branch as it is committed. */
export const lineOfBranch = (branch: string, commit: Oid): Line => ({
  worktree: undefined,
  id: undefined,
  branch,
  sessions: [],
  head: commit,
  extent: extentOf([]),
  seen: undefined,
  work: () => undefined,
  asOf: undefined,
});

/** The paths where the working tree differs from HEAD; others are only staged, or separate repositories. */
export function changesOf({ dirty }: Snapshot): DirtyPath[] {
  return [...dirty.values()].filter((one) => !sameState(one.disk, one.head) && !isRepository(one));
}

/** A submodule counts as HEAD has it: its own commits are not here. */
const isRepository = ({ disk }: DirtyPath) => disk?.mode === '160000' && disk.oid === null;

/** Whether the content of a changed path is still unknown. A file that is too large is never read. */
export const isNotRead = ({ disk }: DirtyPath) => disk !== null && disk.oid === null;

/** Changed paths that count as unchanged, because they are too large or too many to read. */
export function unreadPaths({ snapshot, commit }: SeenTree): string[] {
  const isLarge = ({ stamp }: DirtyPath) => Number.parseInt(stamp, 10) > MAX_READ;
  return changesOf(snapshot)
    .filter((one) => isNotRead(one) && (commit !== undefined || isLarge(one)))
    .map(({ path }) => path);
}
