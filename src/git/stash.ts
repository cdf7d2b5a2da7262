import { STASH } from './namespace.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import type { SnapshotItem } from '../domain/snapshot.ts';
import { type TreeFile, listTree, parseRaw } from './staged.ts';
import { readObjects } from './objects.ts';
import { entriesOf, type GitResult, runGit } from './run.ts';

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
export async function listStash(cwd: string, timeoutMs?: number): Promise<StashEntry[]> {
  const args = ['log', '--walk-reflogs', '-z', '--format=%H %ct %gs', '--no-show-signature', '--no-notes'];
  const result = await runGit([...args, STASH, '--'], { cwd, timeoutMs });
  if (result.code !== 0) return [];
  return entriesOf(result)
    .flatMap((record): StashEntry[] => {
      const match = /^([0-9a-f]+) (\d+) (.*)$/s.exec(record);
      const oid = parseOid(match?.[1] ?? '');
      if (match === null || oid === undefined) return [];
      return [{ index: 0, oid, at: Number(match[2]) * 1000, subject: match[3] ?? '' }];
    })
    .map((entry, index) => ({ ...entry, index }));
}

/** What an entry of the stash holds: changed files as the working tree had them, and untracked ones. */
export async function stashItems(cwd: string, entry: Oid): Promise<SnapshotItem[]> {
  const raw = ['-r', '-z', '--no-renames', '--no-abbrev', '--no-ext-diff', '--no-textconv', '--raw'];
  const [changed, untracked] = await Promise.all([
    runGit(['diff-tree', ...raw, `${entry}^1`, entry, '--'], { cwd }),
    listTree(cwd, `${entry}^3`),
  ]);
  // Untracked files are in the entry's third parent (git-stash(1)).
  const files = [...changedFiles(changed), ...untracked];
  const found = await readObjects(
    { cwd },
    files.map(({ oid }) => ({ name: oid, infoOnly: true })),
  );
  return files.map(({ path, raw, mode, oid }, at) => ({
    path,
    ...(raw === undefined ? {} : { name: raw }),
    base: null,
    index: null,
    disk: { mode, oid },
    bytes: found[at]?.size ?? 0,
  }));
}

/** The changed files of an entry; deleted ones have no content to bring back. */
function changedFiles({ code, stdout }: GitResult): TreeFile[] {
  if (code !== 0) return [];
  return parseRaw(stdout.toString('utf8')).flatMap(({ path, index }) => {
    const { mode = '', oid = null } = index ?? {};
    return oid === null || mode === '160000' ? [] : [{ path, mode, oid }];
  });
}
