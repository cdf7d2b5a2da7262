import type { HeadPlace, TreeStatus } from '../domain/ledger/tree-status.ts';
import type { SessionId } from '../domain/names.ts';
import { linkedWorktrees } from '../git/worktrees.ts';
import { scratchStore } from '../git/scratch-store.ts';
import { readTreeStatus } from '../git/work-tree.ts';
import { realPath } from '../host/disk.ts';
import { knownWorktreeId } from '../host/folders.ts';
import { type JudgedSession, groupSessions } from '../sessions/records.ts';
import type { WorkTree } from './dirty-work.ts';
import { type LedgerPlace, readLedgers } from '../sessions/journal.ts';
import { treesWith } from './changed-elsewhere.ts';
import { type PathMeeting, type Side, meetingsBetween } from './meetings.ts';

/** Another worktree in which sessions are at work, and what the paths that both have changed come to. */
export interface OtherTree {
  readonly id: string;
  readonly top: string;
  readonly head: HeadPlace;
  readonly meetings: readonly OtherMeeting[];
}

interface OtherMeeting extends PathMeeting {
  /** Who has changed it there; neither the asking session nor its parents or children. */
  readonly sessions: readonly JudgedSession[];
}

/**
 * Which changes of a worktree meet those of others in which somebody is at work: as the guard has noted them, and looked
 * at now.
 *
 * @param paths from the top, to be asked about
 * @param options `asking`: `undefined` for a person; `timeoutMs` for each look; `now` in milliseconds since the epoch
 */
export async function otherTrees(
  tree: WorkTree,
  paths: readonly string[],
  judged: readonly JudgedSession[],
  options: { readonly asking: SessionId | undefined; readonly timeoutMs: number; readonly now: number },
): Promise<OtherTree[]> {
  const { commonDir, top } = tree;
  const here = knownWorktreeId(tree.gitDir);
  if (here === undefined) return [];
  const noted = paths.map((path) => ({ path, ids: treesWith(commonDir, path) }));
  const { own } = groupSessions(options.asking, judged);
  const looking = { ...options, scratch: scratchStore(commonDir) };
  const trees = linkedWorktrees(commonDir).map(async ({ path, gitDir }): Promise<OtherTree[]> => {
    const id = knownWorktreeId(gitDir);
    if (id === undefined || id === here) return [];
    const live = judged.filter((one) => one.worktreeId === id && one.liveness === 'live');
    const shared = noted.flatMap((one) => (one.ids.has(id) ? [one.path] : []));
    if (live.length === 0 || shared.length === 0) return [];
    const [mine, theirs] = await Promise.all(
      [top, path].map((folder) => readTreeStatus(folder, { ...looking, paths: shared })),
    );
    if (mine === undefined || theirs === undefined) return [];
    const sides = [sideOf(mine), sideOf(theirs)] as const;
    const found = await meetingsBetween(top, sides, shared, looking);
    const changers = changersIn({ commonDir, worktreeId: id }, live);
    const meetings = (found === 'unrelated' ? [] : found).map((one) => ({
      ...one,
      sessions: changers(one.path).filter(({ record }) => !own.has(record.session)),
    }));
    return [{ id, top: realPath(path), head: theirs.head, meetings }];
  });
  return (await Promise.all(trees)).flat();
}

const sideOf = ({ head, dirty }: TreeStatus): Side => ({ head: head.oid, dirty });

/** Of several sessions in a worktree those that have claimed a path; who works alone claims nothing. */
export function changersIn(
  place: LedgerPlace,
  live: readonly JudgedSession[],
): (path: string) => readonly JudgedSession[] {
  const ledgers = live.length < 2 ? [] : readLedgers(place);
  return (path) => {
    const claims = ledgers.filter((ledger) => ledger.claims.has(path)).map(({ session }) => session);
    const claiming = live.filter(({ record }) => claims.includes(record.session));
    return claiming.length === 0 ? live : claiming;
  };
}
