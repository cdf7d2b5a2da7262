import type { DirtyPath, Snapshot } from '../../../domain/ledger/snapshot.ts';
import type { Oid } from '../../../domain/names.ts';
import { ObjectBatch } from '../../../git/object-batch.ts';
import { bytesOf } from '../../../git/rescue-tree.ts';
import { type ScratchStore, hashFiles, scratchEnvironment } from '../../../git/scratch-store.ts';
import { type TreeChange, changeTrees } from '../../../git/trees.ts';
import { type Line, changesOf, isNotRead } from './lines.ts';

/** Who commits what is never kept. */
const NOBODY = { name: 'git-handoff', email: '', seconds: 0, message: 'uncommitted work\n' };

/**
 * Commits what is uncommitted in each worktree, to a store that is removed afterwards. Without changes, or if they cannot be
 * read: HEAD.
 *
 * @param lines those with a commit
 * @returns the commits, and the looks with the contents that were read
 */
export async function commitLines(
  cwd: string,
  lines: readonly Line[],
  store: ScratchStore,
): Promise<{ readonly commits: ReadonlyMap<Line, Oid>; readonly read: ReadonlyMap<Line, Snapshot> }> {
  const commits = new Map<Line, Oid>();
  const read = new Map<Line, Snapshot>();
  await Promise.all(
    lines.map(async (line) => {
      if (line.head === undefined) return;
      commits.set(line, line.head);
      if (line.worktree === undefined || line.snapshot === undefined) return;
      read.set(line, await withContents(line.worktree.path, line.snapshot, store));
    }),
  );
  const changed = [...read].flatMap(([line, snapshot]) => {
    const changes = changesOf(snapshot).flatMap(treeChange);
    return line.head === undefined || changes.length === 0 ? [] : [{ line, commit: line.head, changes }];
  });
  if (changed.length === 0) return { commits, read };
  const format = changed[0]?.commit.length === 64 ? 'sha256' : 'sha1';
  const options = { cwd, env: scratchEnvironment(store) };
  const batch = new ObjectBatch(format);
  const trees = await changeTrees(options, format, batch, changed);
  for (const [n, { line, commit }] of changed.entries()) {
    const tree = trees[n];
    if (tree !== undefined) commits.set(line, batch.commit({ ...NOBODY, tree, parents: [commit] }));
  }
  await batch.storeMany(options);
  return { commits, read };
}

/** The same look, with the contents of the changed files read and hashed. */
async function withContents(top: string, snapshot: Snapshot, scratch: ScratchStore): Promise<Snapshot> {
  const unread = changesOf(snapshot).filter((one) => isNotRead(one) && one.disk?.mode.startsWith('100'));
  const oids = await hashFiles(
    top,
    unread.map(({ path }) => path),
    { scratch },
  ).catch(() => new Map<string, Oid>());
  const dirty = new Map(snapshot.dirty);
  for (const [key, one] of dirty) {
    const oid = isNotRead(one) ? oids.get(one.path) : undefined;
    if (oid !== undefined && one.disk !== null) dirty.set(key, { ...one, disk: { ...one.disk, oid } });
  }
  return { ...snapshot, dirty };
}

function treeChange(dirty: DirtyPath): TreeChange[] {
  const { disk } = dirty;
  const path = bytesOf(dirty);
  if (disk === null) return [{ path, state: null }];
  return disk.oid === null ? [] : [{ path, state: { mode: disk.mode, oid: disk.oid } }];
}
