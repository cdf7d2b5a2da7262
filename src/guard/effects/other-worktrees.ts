import { type Meeting, meetingText } from '../../domain/meeting.ts';
import type { SessionId } from '../../domain/names.ts';
import { peerName } from '../../domain/owner-name.ts';
import { shellWord } from '../../domain/surfacing.ts';
import { type OtherTree, otherTrees } from '../../changes/other-trees.ts';
import { addTouched, isFirstToTell, keepOnly, readTouched, unmarkListed } from '../../changes/touched.ts';
import { lookingTime } from '../../changes/work-place.ts';
import { realPath } from '../../host/disk.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { processTable } from '../../host/processes.ts';
import { idleText } from '../../sessions/idle.ts';
import { clientsOf, judgeSessions, listSessions } from '../../sessions/records.ts';
import type { TreeCall } from '../call.ts';

/**
 * After a file tool: notes what it changed, and tells what of it live sessions have changed in other worktrees. Each path
 * and other session is told once, and once more when merging becomes conflicting.
 *
 * @param paths from the top of the call's worktree
 */
export async function meetOtherWorktrees(call: TreeCall, paths: readonly string[]): Promise<string[]> {
  const { commonDir, gitDir, folder } = call.tree;
  const own = knownWorktreeId(gitDir);
  if (own === undefined) return [];
  // First: of two that edit at once, the later one sees the other's line.
  addTouched(commonDir, own, paths);
  const idsOf = (path: string) => readTouched(commonDir, path).filter((id) => id !== own);
  const noted = new Map(paths.map((path) => [path, idsOf(path)]));
  const ids = new Set([...noted.values()].flat());
  if (ids.size === 0) return [];
  const stored = await listSessions({ cwd: folder }, call.budget.left());
  const judged = judgeSessions(stored, commonDir, processTable(), call.settings.staleAfterMs, call.now);
  const top = realPath(call.tree.workTree);
  const options = { asking: call.session, timeoutMs: lookingTime(call), now: call.now };
  const others = await otherTrees({ commonDir, gitDir, top }, paths, judged, options);
  // Nobody is at work there any more.
  for (const id of ids) if (!others.some((other) => other.id === id)) unmarkListed(commonDir, id);
  const isTrue = (path: string) =>
    others.some(({ meetings }) => meetings.some((one) => one.path === path && one.progress !== undefined));
  for (const [path, there] of noted) if (there.length > 0 && !isTrue(path)) keepOnly(commonDir, path, own);
  return others.flatMap((other) => newsOf(call, top, other, clientsOf(judged)));
}

/** What the session has not been told of a worktree; alike paths make one sentence. */
function newsOf(
  call: TreeCall,
  top: string,
  { top: folder, head: { ref }, meetings }: OtherTree,
  clients: ReadonlyMap<SessionId, string>,
): string[] {
  const found = new Map<string, Meeting>();
  const branch = ref === 'HEAD' ? undefined : ref.replace(/^refs\/heads\//, '');
  for (const { path, progress, outcome, sessions } of meetings) {
    if (progress === undefined || outcome === undefined) continue;
    const ids = sessions.map(({ record }) => record.session);
    const isNews = ids.map((id) => isNew(call, path, id, outcome === 'conflicts'));
    if (!isNews.includes(true)) continue;
    const who = ids.map((id) => peerName(id, { clients })).join(' and ');
    const idle = idleText(call.tree.commonDir, ids, { clients }, call.now);
    const key = [who, progress, outcome].join('\n');
    const paths = [...(found.get(key)?.paths ?? []), path];
    found.set(key, { paths, who, idle, folder, branch, progress, outcome });
  }
  return [...found.values()].map((meeting) => meetingText(meeting, gitFor(call, top)));
}

function isNew({ session, tree }: TreeCall, path: string, other: SessionId, conflicts: boolean): boolean {
  const isFirst = isFirstToTell(tree.commonDir, session, [path, other]);
  const isWorse = conflicts && isFirstToTell(tree.commonDir, session, [path, other, 'conflicts']);
  return isFirst || isWorse;
}

/** The next command runs where the client works, which may be another repository or none. */
function gitFor({ repository, tree }: TreeCall, top: string): string {
  return repository?.commonDir === tree.commonDir ? 'git' : `git -C ${shellWord(top)}`;
}
