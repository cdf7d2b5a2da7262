import { ago } from '../../domain/age.ts';
import type { HeadPlace } from '../../domain/ledger/snapshot.ts';
import { type Meeting, meetingText } from '../../domain/meeting.ts';
import type { SessionId } from '../../domain/names.ts';
import { ownerName } from '../../domain/owner-name.ts';
import { shellWord } from '../../domain/surfacing.ts';
import { readLedgers } from '../../changes/ledger.ts';
import { type PathMeeting, meetingsOf } from '../../changes/meetings.ts';
import { addTouched, isFirstToTell, keepOnly, readTouched, unmarkListed } from '../../changes/touched.ts';
import { lookingTime } from '../../changes/work-place.ts';
import { linkedWorktrees } from '../../git/linked-worktrees.ts';
import { scratchStore } from '../../git/scratch-store.ts';
import { realPath } from '../../host/disk.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { processTable } from '../../host/processes.ts';
import { type JudgedSession, judgeSessions, listSessions } from '../../sessions/records.ts';
import { sidesOf } from '../../sessions/sides.ts';
import type { TreeCall } from '../call.ts';

/** A session whose last call is longer ago is said to be idle. Milliseconds. */
const IDLE_MS = 15 * 60_000;

/**
 * After a file tool: notes what it changed, and tells what of it live sessions have changed in other worktrees. Each path
 * and other session is told once, and once more when merging becomes conflicting.
 *
 * @param paths from the top of the call's worktree
 */
export async function meetOtherWorktrees(call: TreeCall, paths: readonly string[]): Promise<string[]> {
  const { commonDir, gitDir } = call.tree;
  const own = knownWorktreeId(gitDir);
  if (own === undefined) return [];
  // First: of two that edit at once, the later one sees the other's line.
  addTouched(commonDir, own, paths);
  const noted = new Map(
    paths.flatMap((path) => {
      const ids = readTouched(commonDir, path).filter((id) => id !== own);
      return ids.length === 0 ? [] : [[path, ids] as const];
    }),
  );
  if (noted.size === 0) return [];
  const others = await neighbours(call, new Set([...noted.values()].flat()));
  const top = realPath(call.tree.workTree);
  const options = { scratch: scratchStore(commonDir), timeoutMs: lookingTime(call), now: call.now };
  const lines: string[] = [];
  const isTrue = new Set<string>();
  for (const other of others) {
    const shared = [...noted.keys()].filter((path) => noted.get(path)?.includes(other.id) === true);
    const { head, meetings } = await meetingsOf(top, other.top, shared, options);
    for (const { path, progress } of meetings) if (progress !== undefined) isTrue.add(path);
    lines.push(...newsOf(call, top, other, head, meetings));
  }
  for (const path of noted.keys()) if (!isTrue.has(path)) keepOnly(commonDir, path, own);
  return lines;
}

/** Another worktree with somebody at work in it. */
interface Neighbour {
  readonly id: string;
  readonly top: string;
  readonly live: readonly JudgedSession[];
  /** Those that are neither the asking session nor its parents or children. */
  readonly foreign: readonly JudgedSession[];
}

async function neighbours(call: TreeCall, ids: ReadonlySet<string>): Promise<Neighbour[]> {
  if (ids.size === 0) return [];
  const { commonDir, folder } = call.tree;
  const stored = await listSessions({ cwd: folder }, call.budget.left());
  const judged = judgeSessions(stored, commonDir, processTable(), call.settings.staleAfterMs, call.now);
  const { own } = sidesOf(call.session, judged);
  const trees = new Map(linkedWorktrees(commonDir).map((tree) => [knownWorktreeId(tree.gitDir), tree.path]));
  return [...ids].flatMap((id): Neighbour[] => {
    const live = judged.filter((one) => one.worktreeId === id && one.liveness === 'live');
    const top = trees.get(id);
    if (top === undefined) return [];
    if (live.length === 0) {
      unmarkListed(commonDir, id);
      return [];
    }
    return [{ id, top: realPath(top), live, foreign: live.filter(({ record }) => !own.has(record.session)) }];
  });
}

/** What the session has not been told of a worktree; alike paths make one sentence. */
function newsOf(
  call: TreeCall,
  top: string,
  other: Neighbour,
  { ref }: HeadPlace,
  found: readonly PathMeeting[],
): string[] {
  const meetings = new Map<string, Meeting>();
  const branch = ref === 'HEAD' ? undefined : ref.replace(/^refs\/heads\//, '');
  for (const { path, progress, outcome } of found) {
    if (progress === undefined || outcome === undefined) continue;
    const sessions = changersOf(call.tree.commonDir, other, path);
    const isNews = sessions.map(({ record }) => isNew(call, path, record.session, outcome === 'conflicts'));
    if (!isNews.includes(true)) continue;
    const who = sessions.map((one) => nameOf(one, call.now)).join(' and ');
    const key = [who, progress, outcome].join('\n');
    const paths = [...(meetings.get(key)?.paths ?? []), path];
    meetings.set(key, { paths, who, folder: other.top, branch, progress, outcome });
  }
  return [...meetings.values()].map((meeting) => meetingText(meeting, gitFor(call, top)));
}

/** Of several sessions in a worktree those that have claimed the path; who works alone claims nothing. */
function changersOf(
  commonDir: string,
  { id, live, foreign }: Neighbour,
  path: string,
): readonly JudgedSession[] {
  const ledgers = live.length < 2 ? [] : readLedgers({ commonDir, worktreeId: id });
  const claims = ledgers.filter((ledger) => ledger.claims.has(path)).map(({ session }) => session);
  const isClaimed = ({ record }: JudgedSession) => claims.includes(record.session);
  return live.some(isClaimed) ? foreign.filter(isClaimed) : foreign;
}

function isNew({ session, tree }: TreeCall, path: string, other: SessionId, conflicts: boolean): boolean {
  const isFirst = isFirstToTell(tree.commonDir, session, [path, other]);
  const isWorse = conflicts && isFirstToTell(tree.commonDir, session, [path, other, 'conflicts']);
  return isFirst || isWorse;
}

function nameOf({ record, idleMs = 0 }: JudgedSession, now: number): string {
  const name = ownerName(record.session, { client: record.client });
  return idleMs > IDLE_MS ? `${name} (idle, last call ${ago(now - idleMs, now)})` : name;
}

/** The next command runs where the client works, which may be another repository or none. */
function gitFor({ repository, tree }: TreeCall, top: string): string {
  return repository?.commonDir === tree.commonDir ? 'git' : `git -C ${shellWord(top)}`;
}
