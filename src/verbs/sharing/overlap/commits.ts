import type { DirtyPath } from '../../../domain/ledger/snapshot.ts';
import type { Oid } from '../../../domain/names.ts';
import { ObjectBatch } from '../../../git/object-batch.ts';
import { bytesOf } from '../../../git/rescue-tree.ts';
import { type ScratchStore, hashFiles, scratchEnvironment } from '../../../git/scratch-store.ts';
import { type TreeChange, changeTrees } from '../../../git/trees.ts';
import { type Line, changesOf, isNotRead } from './lines.ts';
import type { SeenTree } from './remembered.ts';

/** Who commits what is never kept. */
const NOBODY = { name: 'git-handoff', email: '', seconds: 0, message: 'uncommitted work\n' };

/**
 * Commits what is uncommitted in each worktree, to the scratch store. Without changes, or if they cannot be read: HEAD.
 *
 * @param lines those with a commit
 * @returns the commits, and what to remember about the worktrees
 */
export async function commitLines(
  cwd: string,
  lines: readonly Line[],
  store: ScratchStore,
): Promise<{ readonly commits: ReadonlyMap<Line, Oid>; readonly seen: ReadonlyMap<Line, SeenTree> }> {
  const commits = new Map<Line, Oid>();
  const missing: { line: Line; commit: Oid; seen: SeenTree; changes: readonly TreeChange[] }[] = [];
  await Promise.all(
    lines.map(async (line) => {
      if (line.head === undefined) return;
      commits.set(line, line.seen?.commit ?? line.head);
      if (line.worktree === undefined || line.seen === undefined || line.seen.commit !== undefined) return;
      const seen = await withContents(line.worktree.path, line.seen, store);
      const changes = changesOf(seen.snapshot).flatMap(treeChange);
      missing.push({ line, commit: line.head, seen, changes });
    }),
  );
  const changed = missing.filter(({ changes }) => changes.length > 0);
  const format = changed[0]?.commit.length === 64 ? 'sha256' : 'sha1';
  const options = { cwd, env: scratchEnvironment(store) };
  const batch = new ObjectBatch(format);
  const trees = changed.length === 0 ? [] : await changeTrees(options, format, batch, changed);
  for (const [n, { line, commit }] of changed.entries()) {
    const tree = trees[n];
    if (tree !== undefined) commits.set(line, batch.commit({ ...NOBODY, tree, parents: [commit] }));
  }
  if (changed.length > 0) await batch.storeLoosely(options);
  const seen = missing.map((one) => [one.line, { ...one.seen, commit: commits.get(one.line) }] as const);
  return { commits, seen: new Map(seen) };
}

/** The same look, with the contents of the changed files read and hashed. */
async function withContents(top: string, seen: SeenTree, scratch: ScratchStore): Promise<SeenTree> {
  const unread = changesOf(seen.snapshot).filter((one) => isNotRead(one) && one.disk?.mode.startsWith('100'));
  const oids = await hashFiles(
    top,
    unread.map(({ path }) => path),
    { scratch },
  ).catch(() => new Map<string, Oid>());
  const dirty = new Map(seen.snapshot.dirty);
  for (const [key, one] of dirty) {
    const oid = isNotRead(one) ? oids.get(one.path) : undefined;
    if (oid !== undefined && one.disk !== null) dirty.set(key, { ...one, disk: { ...one.disk, oid } });
  }
  return { ...seen, snapshot: { ...seen.snapshot, dirty } };
}

function treeChange(dirty: DirtyPath): TreeChange[] {
  const { disk } = dirty;
  const path = bytesOf(dirty);
  if (disk === null) return [{ path, state: null }];
  return disk.oid === null ? [] : [{ path, state: { mode: disk.mode, oid: disk.oid } }];
}
