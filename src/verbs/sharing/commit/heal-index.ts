import { appendEvents } from '../../../sessions/journal.ts';
import { sameState, type FileState } from '../../../domain/ledger/file-state.ts';
import type { StagedPath } from '../../../domain/ledger/mixing.ts';
import { changedPaths } from '../../../git/commits.ts';
import { TextMerger } from '../../../git/merge-file.ts';
import { ObjectBatch } from '../../../git/object-batch.ts';
import { readObjects } from '../../../git/objects.ts';
import { setEntries, whileLocked } from '../../../git/private-index.ts';
import { objectFormat } from '../../../git/repository.ts';
import { stagedPaths } from '../../../git/staged.ts';
import type { MadeCommit } from './attempt.ts';
import type { CommitScene } from './scene.ts';

/**
 * After a commit: entries of the worktree's index that are as before it would take it back with the next
 * plain `git commit`. They get what HEAD has now; what another session has staged on the same path is carried
 * over. Every other entry stays. False when the index could not be written.
 */
export async function healIndex(
  scene: CommitScene,
  { commit, base }: MadeCommit,
  now: number,
): Promise<boolean> {
  const { top } = scene.work.tree;
  const [made, staged] = await Promise.all([changedPaths(top, base, commit), stagedPaths(top)]);
  const entries = new Map<string, FileState>();
  for (const change of made) {
    const stale = staged.find(({ path }) => path === change.path);
    // A later commit of somebody's has changed it again: not ours to set.
    if (stale === undefined || !sameState(stale.head, change.index)) continue;
    const next = await healed(scene, change, stale.index, now);
    if (next !== undefined) entries.set(change.path, next);
  }
  if (entries.size === 0) return true;
  return (await whileLocked(() => setEntries(top, entries))).code === 0;
}

/** What a stale entry becomes; `undefined`: it stays. */
async function healed(
  scene: CommitScene,
  change: StagedPath,
  index: FileState,
  now: number,
): Promise<FileState | undefined> {
  const { path } = change;
  const dirty = scene.work.snapshot.dirty.get(path);
  const isContended = scene.shares.contended.some(
    (share) => share.dirty.path === path && share.others.length > 0,
  );
  if (sameState(index, change.head)) return change.index;
  if (!isContended) {
    const isOurs = dirty !== undefined && [dirty.index, dirty.disk].some((state) => sameState(state, index));
    return isOurs ? change.index : undefined;
  }
  const carried = await carryOver(scene.work.tree.top, change, index);
  if (carried === undefined) return change.index;
  const { place, ledgers } = scene.work;
  for (const { session, staged } of place === undefined ? [] : ledgers) {
    if (place === undefined || staged.get(path)?.some(({ state }) => sameState(state, index)) !== true)
      continue;
    appendEvents(place, session, [{ t: 'staged', path, state: carried, head: change.index, at: now }]);
  }
  return carried;
}

/** What somebody staged on the former HEAD, on the new one; `undefined` when the two do not go together. */
async function carryOver(top: string, change: StagedPath, index: FileState): Promise<FileState | undefined> {
  const oids = [change.index?.oid, change.head?.oid, index?.oid];
  const [current, before, after] = await Promise.all(
    oids.map(async (oid) => {
      const [object] =
        oid === undefined || oid === null ? [] : await readObjects({ cwd: top }, [{ name: oid }]);
      return object?.content;
    }),
  );
  if (index === null || current === undefined || before === undefined || after === undefined)
    return undefined;
  const merger = new TextMerger();
  try {
    const merged = await merger.apply(current, before, after);
    if (merged.kind !== 'merged') return undefined;
    const batch = new ObjectBatch(await objectFormat({ cwd: top }, index.oid ?? undefined));
    const oid = batch.blob(merged.content);
    await batch.store({ cwd: top });
    return { mode: index.mode, oid };
  } finally {
    merger.close();
  }
}
