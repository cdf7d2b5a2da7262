import type { Oid } from '../../../domain/names.ts';
import { bytesOf } from '../../../git/rescue-tree.ts';
import type { ListedWorktree } from '../../../git/worktrees.ts';
import { type ScratchStore, scratchEnvironment } from '../../../git/scratch-store.ts';
import { ObjectBatch } from '../../../git/object-batch.ts';
import { readObjects } from '../../../git/objects.ts';
import { type TreeChange, changeTrees } from '../../../git/trees.ts';
import { type DirtyWork, lookAtWork } from '../../../changes/dirty-work.ts';
import { knownWorktreeId } from '../../../host/folders.ts';
import type { JudgedSession } from '../../../sessions/records.ts';
import { sameState } from '../../../domain/ledger/file-state.ts';
import type { DirtyPath } from '../../../domain/ledger/snapshot.ts';

/** A line of work: what would be merged if it were all committed now. */
export interface Line {
  /** The working tree; `undefined`: a branch as it is committed. */
  readonly worktree: ListedWorktree | undefined;
  readonly branch: string | undefined;
  /** The live sessions at work in it. */
  readonly sessions: readonly JudgedSession[];
  /** HEAD, with what is uncommitted as a commit on top; `undefined`: it has no commit yet. */
  readonly commit: Oid | undefined;
  /** Its uncommitted work; `undefined`: a branch, or a working tree that git cannot look at. */
  readonly work: DirtyWork | undefined;
  /** Changed paths whose content was not read: they count as HEAD has them. */
  readonly unread: readonly string[];
}

/** Who commits what is never kept. */
const NOBODY = { name: 'git-handoff', email: '', seconds: 0, message: 'uncommitted work\n' };

/**
 * Looks at working trees, and makes a commit of what is uncommitted in each, in a store of its own.
 *
 * @param now milliseconds since the epoch
 */
export async function linesOfWorktrees(
  worktrees: readonly ListedWorktree[],
  commonDir: string,
  sessions: readonly JudgedSession[],
  store: ScratchStore,
  now: number,
): Promise<Line[]> {
  const looked = await Promise.all(
    worktrees.map(async (worktree) => {
      const { path: top, gitDir } = worktree;
      const look = lookAtWork({ top, gitDir, commonDir }, sessions, now, { keep: store });
      return { worktree, work: await look.catch(() => undefined) };
    }),
  );
  const commits = await commitWork(
    looked.flatMap(({ work }) => work ?? []),
    store,
  );
  return looked.map(({ worktree, work }) => {
    const id = knownWorktreeId(worktree.gitDir);
    const here = sessions.filter((one) => one.liveness === 'live' && one.worktreeId === id);
    const unread = work === undefined ? [] : changesOf(work).unread;
    const commit = work === undefined ? undefined : commits.get(work);
    return { worktree, branch: worktree.branch, sessions: here, commit, work, unread };
  });
}

/** A branch as it is committed. */
export const lineOfBranch = (branch: string, commit: Oid): Line => ({
  worktree: undefined,
  branch,
  sessions: [],
  commit,
  work: undefined,
  unread: [],
});

async function commitWork(all: readonly DirtyWork[], store: ScratchStore): Promise<Map<DirtyWork, Oid>> {
  const born = all.flatMap((work) => {
    const head = work.snapshot.head.oid;
    return head === null ? [] : [{ work, head, changes: changesOf(work).changes }];
  });
  const commits = new Map(born.map(({ work, head }) => [work, head]));
  const changed = born.filter(({ changes }) => changes.length > 0);
  const [first] = changed;
  if (first === undefined) return commits;
  const format = first.head.length === 64 ? 'sha256' : 'sha1';
  const options = { cwd: first.work.tree.top, env: scratchEnvironment(store) };
  const trees = await readObjects(
    options,
    changed.map(({ head }) => ({ name: `${head}^{tree}`, infoOnly: true })),
  );
  const batch = new ObjectBatch(format);
  const wanted = changed.flatMap(({ changes, ...rest }, n) => {
    const tree = trees[n]?.oid;
    return tree === undefined ? [] : [{ ...rest, tree, changes }];
  });
  const made = await changeTrees(options, format, batch, wanted);
  for (const [n, { work, head }] of wanted.entries()) {
    const tree = made[n];
    if (tree !== undefined) commits.set(work, batch.commit({ ...NOBODY, tree, parents: [head] }));
  }
  await batch.storeMany(options);
  return commits;
}

/** What the working tree has otherwise than HEAD, as git would commit it. */
function changesOf({ snapshot }: DirtyWork): { changes: TreeChange[]; unread: string[] } {
  const changes: TreeChange[] = [];
  const unread: string[] = [];
  for (const dirty of snapshot.dirty.values()) {
    const { disk, head, path } = dirty;
    // Only staged, or a repository of its own.
    if (sameState(disk, head) || isRepository(dirty)) continue;
    if (disk === null) changes.push({ path: bytesOf(dirty), state: null });
    else if (disk.oid === null) unread.push(path);
    else changes.push({ path: bytesOf(dirty), state: { mode: disk.mode, oid: disk.oid } });
  }
  return { changes, unread };
}

/** A submodule counts as HEAD has it: its own commits are not here. */
const isRepository = ({ disk }: DirtyPath) => disk?.mode === '160000' && disk.oid === null;
