import { linkedWorktrees } from '../git/linked-worktrees.ts';
import { scratchStore } from '../git/scratch-store.ts';
import { knownWorktreeId } from '../host/folders.ts';
import type { JudgedSession } from '../sessions/records.ts';
import type { WorkTree } from './dirty-work.ts';
import { type PathMeeting, meetingsOf } from './meetings.ts';
import { isTouchedKept, readTouched } from './touched.ts';

/** Another worktree in which sessions are at work, and the paths on which its changes meet this one's. */
export interface OtherTree {
  readonly top: string;
  /** Those at work there, without the ones that work here, too. */
  readonly sessions: readonly JudgedSession[];
  readonly meetings: readonly PathMeeting[];
}

/**
 * Which changes of a worktree meet those of another in which somebody is at work: as the guard has noted them, and looked
 * at now. A worktree in which nothing meets is left out.
 *
 * @param paths from the top, to be asked about
 * @param options `timeoutMs` for each look; `now` in milliseconds since the epoch
 */
export async function otherTrees(
  tree: WorkTree,
  paths: readonly string[],
  judged: readonly JudgedSession[],
  options: { readonly timeoutMs: number; readonly now: number },
): Promise<OtherTree[]> {
  const { commonDir, top } = tree;
  const own = knownWorktreeId(tree.gitDir);
  if (own === undefined || !isTouchedKept(commonDir)) return [];
  const noted = paths.map((path) => ({ path, ids: readTouched(commonDir, path) }));
  const isHere = ({ record }: JudgedSession) =>
    judged.some((one) => one.worktreeId === own && one.record.session === record.session);
  const looking = { ...options, scratch: scratchStore(commonDir) };
  const trees = linkedWorktrees(commonDir).map(async ({ path, gitDir }): Promise<OtherTree[]> => {
    const id = knownWorktreeId(gitDir);
    const live = judged.filter((one) => one.worktreeId === id && one.liveness === 'live');
    const sessions = live.filter((one) => !isHere(one));
    const shared = noted.flatMap((one) => (id !== undefined && one.ids.includes(id) ? [one.path] : []));
    if (id === own || sessions.length === 0 || shared.length === 0) return [];
    const found = await meetingsOf(top, path, shared, looking);
    const meetings = found.meetings.filter(({ outcome }) => outcome !== undefined);
    return meetings.length === 0 ? [] : [{ top: path, sessions, meetings }];
  });
  return (await Promise.all(trees)).flat();
}
