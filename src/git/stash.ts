import { STASH } from './namespace.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import { type TreeFile, listTree } from './list-tree.ts';
import { readObjects } from './objects.ts';
import { entriesOf } from './output.ts';
import { parseRaw } from './staged.ts';
import { type GitResult, gitFailure, runGit } from './run.ts';

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

/**
 * Writes files of a commit into the working tree as a checkout does (filters and line ends as the repository says); the
 * index stays as it is.
 *
 * @throws Failure `environment` when git fails, for a held index lock too
 */
export async function restoreFrom(top: string, commit: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const args = [
    'restore',
    `--source=${commit}`,
    '--worktree',
    '--pathspec-from-file=-',
    '--pathspec-file-nul',
  ];
  const result = await runGit(['--literal-pathspecs', ...args], { cwd: top, input: paths.join('\0') });
  if (result.code !== 0) throw gitFailure('restore', result);
}

/** A file that an entry of the stash changes or holds. */
export interface StashedFile extends TreeFile {
  readonly bytes: number;
  /** It was untracked: it stands in the entry's third parent (git-stash(1)). */
  readonly untracked: boolean;
}

/** The files of an entry: changed ones as the working tree had them, and untracked ones. */
export async function stashedFiles(cwd: string, entry: Oid): Promise<StashedFile[]> {
  const raw = ['-r', '-z', '--no-renames', '--no-abbrev', '--no-ext-diff', '--no-textconv', '--raw'];
  const [changed, untracked] = await Promise.all([
    runGit(['diff-tree', ...raw, `${entry}^1`, entry, '--'], { cwd }),
    listTree(cwd, `${entry}^3`),
  ]);
  const files = [
    ...changedFiles(changed).map((file) => ({ ...file, untracked: false })),
    ...untracked.map((file) => ({ ...file, untracked: true })),
  ];
  const found = await readObjects(
    { cwd },
    files.map(({ oid }) => ({ name: oid, infoOnly: true })),
  );
  return files.map((file, at) => ({ ...file, bytes: found[at]?.size ?? 0 }));
}

/** Deleted files have no content to bring back. */
function changedFiles({ code, stdout }: GitResult): TreeFile[] {
  if (code !== 0) return [];
  return parseRaw(stdout.toString('utf8')).flatMap(({ path, index }) => {
    const { mode = '', oid = null } = index ?? {};
    return oid === null || mode === '160000' ? [] : [{ path, mode, oid }];
  });
}
