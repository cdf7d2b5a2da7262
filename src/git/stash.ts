import { STASH } from './namespace.ts';
import type { Oid } from '../domain/names.ts';
import type { SnapshotItem } from '../domain/snapshot.ts';
import { readReflogs } from './log.ts';
import { type TreeFile, listTree, askRawDiff } from './staged.ts';
import { lookUpObjects } from './objects.ts';
import type { GitOptions } from './run.ts';

/** One entry of git-stash(1): `stash@{<index>}`. All worktrees share the list. */
export interface StashEntry {
  readonly index: number;
  readonly oid: Oid;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What the list shows: `WIP on main: …`, or the message that was given. */
  readonly subject: string;
}

/** The stash, newest entry first; empty when there is none or it cannot be read. */
export async function listStash(options: GitOptions): Promise<StashEntry[]> {
  const entries = await readReflogs(options, [STASH]);
  return entries.map(({ oid, seconds, message }, index) => ({
    index,
    oid,
    at: seconds * 1000,
    subject: message,
  }));
}

/** What an entry of the stash holds: changed files as the working tree had them, and untracked ones. */
export async function stashItems(cwd: string, entry: Oid): Promise<SnapshotItem[]> {
  const [changed, untracked] = await Promise.all([
    askRawDiff({ cwd }, 'diff-tree', ['-r', `${entry}^1`, entry]),
    // Untracked files are in the entry's third parent (git-stash(1)).
    listTree({ cwd }, `${entry}^3`),
  ]);
  // A deleted file has no content to bring back.
  const kept = changed.flatMap(({ path, index }): TreeFile[] => {
    const { mode = '', oid = null } = index ?? {};
    return oid === null || mode === '160000' ? [] : [{ path, mode, oid }];
  });
  const files = [...kept, ...untracked];
  const names = files.map(({ oid }) => oid);
  const found = await lookUpObjects({ cwd }, names);
  return files.map(({ path, raw, mode, oid }, at) => ({
    path,
    raw,
    base: null,
    index: null,
    disk: { mode, oid },
    bytes: found[at]?.size ?? 0,
  }));
}
