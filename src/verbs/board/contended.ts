import { basename } from 'node:path';
import { escapeLine } from '../../domain/surfacing.ts';
import type { ListedWorktree } from '../../git/worktrees.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { askerOf, belongingOf, lookAtWork } from '../../changes/dirty-work.ts';
import type { Lanes } from './lanes.ts';
import type { BoardContended } from '../../ui/board/shape.ts';

/** Paths with uncommitted changes of two live sessions: one `git status` for each worktree that has two. */
export async function contendedPaths(
  worktrees: readonly ListedWorktree[],
  commonDir: string,
  sessions: readonly JudgedSession[],
  lanes: Lanes,
  now: number,
): Promise<BoardContended[]> {
  const shared = worktrees.filter(({ gitDir }) => {
    const id = knownWorktreeId(gitDir);
    return sessions.filter((one) => one.worktreeId === id && one.liveness === 'live').length > 1;
  });
  const found = shared.map(async ({ path, gitDir }): Promise<BoardContended[]> => {
    const work = await lookAtWork({ top: path, gitDir, commonDir }, sessions, now);
    const asker = askerOf(undefined, sessions);
    return [...work.snapshot.dirty.values()].flatMap((dirty) => {
      const { state, claims } = belongingOf(work, dirty, asker);
      if (state !== 'contended') return [];
      const by = claims.flatMap(({ session }) => lanes.find(session) ?? []);
      return [{ worktree: escapeLine(basename(path)), path: escapeLine(dirty.path), by }];
    });
  });
  // A worktree that git cannot look at must not hide the others.
  const results = await Promise.allSettled(found);
  return results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}
