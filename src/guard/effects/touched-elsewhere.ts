import { ago } from '../../domain/age.ts';
import { type Meeting, meetingText } from '../../domain/meeting.ts';
import type { SessionId } from '../../domain/names.ts';
import { ownerName } from '../../domain/owner-name.ts';
import { shellWord } from '../../domain/surfacing.ts';
import { readLedgers } from '../../changes/ledger.ts';
import { type TreeStanding, meetingsOf, standingIn } from '../../changes/meetings.ts';
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
export async function touchedElsewhere(call: TreeCall, paths: readonly string[]): Promise<string[]> {
  const { commonDir, gitDir } = call.tree;
  const own = knownWorktreeId(gitDir);
  if (own === undefined) return [];
  // First: of two that edit at once, the later one sees the other's line.
  addTouched(commonDir, own, paths);
  const noted = new Map(paths.map((path) => [path, readTouched(commonDir, path).filter((id) => id !== own)]));
  const others = await neighbours(call, new Set([...noted.values()].flat()));
  const met = paths.filter((path) => (noted.get(path) ?? []).length > 0);
  if (met.length === 0) return [];
  const there = new Map(
    others.map((one) => [one, met.filter((path) => noted.get(path)?.includes(one.id) === true)]),
  );
  const { lines, stale } = await meet(call, met, there);
  for (const path of met) {
    const isGone = (id: string) => stale.has(`${id} ${path}`) || !others.some((one) => one.id === id);
    if (noted.get(path)?.every(isGone) === true) keepOnly(commonDir, path, own);
  }
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
    if (live.length === 0 || top === undefined) {
      unmarkListed(commonDir, id);
      return [];
    }
    return [{ id, top: realPath(top), live, foreign: live.filter(({ record }) => !own.has(record.session)) }];
  });
}

async function meet(
  call: TreeCall,
  paths: readonly string[],
  there: ReadonlyMap<Neighbour, readonly string[]>,
): Promise<{ lines: string[]; stale: Set<string> }> {
  const { commonDir, workTree } = call.tree;
  const top = realPath(workTree);
  const options = { scratch: scratchStore(commonDir), timeoutMs: lookingTime(call), now: call.now };
  const looking = standingIn(top, paths, options);
  const lines: string[] = [];
  const stale = new Set<string>();
  for (const [neighbour, shared] of there) {
    if (neighbour.foreign.length === 0) continue;
    const [mine, theirs] = await Promise.all([looking, standingIn(neighbour.top, shared, options)]);
    const meetings = new Map<string, Meeting>();
    for (const { path, progress, outcome } of await meetingsOf(top, [mine, theirs], shared, options)) {
      if (progress === undefined) stale.add(`${neighbour.id} ${path}`);
      if (progress === undefined || outcome === undefined) continue;
      const sessions = changersOf(commonDir, neighbour, path);
      const isNews = sessions.map(({ record }) => isNew(call, path, record.session, outcome === 'conflicts'));
      if (!isNews.includes(true)) continue;
      const who = sessions.map((one) => nameOf(one, call.now)).join(' and ');
      const key = [who, progress, outcome].join('\n');
      const known = meetings.get(key)?.paths ?? [];
      const { folder, branch } = placeOf(neighbour, theirs);
      meetings.set(key, { paths: [...known, path], who, folder, branch, progress, outcome });
    }
    lines.push(...[...meetings.values()].map((one) => meetingText(one, gitFor(call, top))));
  }
  return { lines, stale };
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

function placeOf({ top }: Neighbour, { head: { ref } }: TreeStanding) {
  return { folder: top, branch: ref === 'HEAD' ? undefined : ref.replace(/^refs\/heads\//, '') };
}

/** The next command runs where the client works, which may be another repository or none. */
function gitFor({ repository, tree }: TreeCall, top: string): string {
  return repository?.commonDir === tree.commonDir ? 'git' : `git -C ${shellWord(top)}`;
}
