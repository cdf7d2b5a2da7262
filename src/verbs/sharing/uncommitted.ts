import type { ListedWorktree } from '../../git/worktrees.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { readLedgers } from '../../changes/ledger.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { type WorkTree, askerOf, belongingOf, lookAtWork } from '../../changes/dirty-work.ts';

/** What every session of a repository has changed and not committed: by worktree id, then by session. */
export type Uncommitted = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** Reads it for all worktrees that have sessions, one `git status` each. */
export async function uncommittedPaths(
  worktrees: readonly ListedWorktree[],
  commonDir: string,
  sessions: readonly JudgedSession[],
  now: number,
): Promise<Uncommitted> {
  const found = worktrees.map(async ({ path, gitDir }) => {
    const id = knownWorktreeId(gitDir);
    if (id === undefined || !sessions.some(({ worktreeId }) => worktreeId === id)) return [];
    return [[id, await pathsIn({ top: path, gitDir, commonDir }, id, sessions, now)] as const];
  });
  return new Map((await Promise.all(found)).flat());
}

async function pathsIn(
  tree: WorkTree,
  worktreeId: string,
  sessions: readonly JudgedSession[],
  now: number,
): Promise<Map<string, string[]>> {
  const paths = new Map<string, string[]>();
  const add = (session: string, path: string) => paths.set(session, [...(paths.get(session) ?? []), path]);
  try {
    const work = await lookAtWork(tree, sessions, now);
    const asker = askerOf(undefined, sessions);
    for (const dirty of work.snapshot.dirty.values()) {
      for (const { session } of belongingOf(work, dirty, asker).claims) add(session, dirty.path);
    }
  } catch {
    // A worktree that git cannot look at must not hide the sessions: what the ledgers say will do.
    for (const { session, claims } of readLedgers({ commonDir: tree.commonDir, worktreeId })) {
      for (const path of claims.keys()) add(session, path);
    }
  }
  return paths;
}
