import {
  addTouched,
  dropTouched,
  isListed,
  isTouchedKept,
  keepTouched,
  markListed,
} from '../../changes/touched.ts';
import { readLast } from '../../changes/windows.ts';
import { lookingTime } from '../../changes/work-place.ts';
import { changedSince } from '../../git/commits.ts';
import { linkedWorktrees } from '../../git/linked-worktrees.ts';
import { readObjects } from '../../git/objects.ts';
import { readTreeStatus } from '../../git/work-tree.ts';
import { knownWorktreeId, worktreeId } from '../../host/folders.ts';
import {
  type JudgedSession,
  type StoredSession,
  judgeSessions,
  listSessions,
} from '../../sessions/records.ts';
import type { TreeCall } from '../call.ts';

/** More paths of one worktree are not listed: a file each takes its time. */
const MAX_PATHS = 5000;

/** A worktree with sessions at work. */
interface UsedTree {
  readonly id: string;
  readonly top: string;
  readonly gitDir: string;
}

/**
 * A session has registered. Where others work in other worktrees, it is kept from now on which paths are changed where
 * (changes/touched.ts), beginning with those that are changed already: in this worktree, and in those that were not listed yet.
 *
 * @param others sessions of the repository but this one, judged
 */
export async function listTouched(call: TreeCall, others: readonly JudgedSession[]): Promise<void> {
  const { commonDir, gitDir } = call.tree;
  const own = worktreeId(gitDir);
  const live = others.filter((one) => one.liveness === 'live').map((one) => one.worktreeId);
  if (!live.some((id) => id !== own)) {
    // A visitor may work in another worktree itself.
    if (call.tree.visiting !== true) await dropUnused(call);
    return;
  }
  keepTouched(commonDir);
  const used = usedTrees(commonDir, new Set([...live, own]));
  const isStart = call.event.kind === 'session-start';
  const fresh = used.filter(({ id }) => (id === own && isStart) || !isListed(commonDir, id));
  if (fresh.length === 0) return;
  await Promise.all(fresh.map((tree) => listUncommitted(call, tree)));
  await listCommitted(call, used, fresh);
  for (const { id } of fresh) markListed(commonDir, id);
}

function usedTrees(commonDir: string, ids: ReadonlySet<string>): UsedTree[] {
  return linkedWorktrees(commonDir).flatMap(({ path, gitDir }): UsedTree[] => {
    const id = knownWorktreeId(gitDir);
    return id === undefined || !ids.has(id) ? [] : [{ id, top: path, gitDir }];
  });
}

async function listUncommitted(call: TreeCall, tree: UsedTree): Promise<void> {
  const { commonDir } = call.tree;
  const last = readLast({ commonDir, worktreeId: tree.id });
  const options = { timeoutMs: lookingTime(call), now: call.now, namesOnly: true };
  // Registration may have looked just now.
  const { dirty } = last?.at === call.now ? last : await readTreeStatus(tree.top, options);
  addTouched(commonDir, tree.id, [...dirty.keys()].slice(0, MAX_PATHS));
}

/** What each of two worktrees has committed since their histories parted. */
async function listCommitted(
  call: TreeCall,
  used: readonly UsedTree[],
  fresh: readonly UsedTree[],
): Promise<void> {
  const { commonDir, workTree } = call.tree;
  const options = { cwd: workTree, timeoutMs: lookingTime(call) };
  const names = used.map(({ gitDir }) => ({ name: headName(gitDir, commonDir), infoOnly: true }));
  const found = await readObjects(options, names);
  const heads = used.flatMap((tree, n) => {
    const oid = found[n]?.oid;
    return oid === undefined ? [] : [{ ...tree, oid }];
  });
  const isFresh = ({ id }: UsedTree) => fresh.some((one) => one.id === id);
  const pairs = heads.flatMap((one) =>
    heads
      .filter((other) => other.oid !== one.oid && (isFresh(one) || isFresh(other)))
      .map((other) => [one, other] as const),
  );
  const listing = pairs.map(async ([one, other]) => {
    const paths = await changedSince(options, other.oid, one.oid);
    addTouched(commonDir, one.id, paths.slice(0, MAX_PATHS));
  });
  await Promise.all(listing);
}

/** How git names the HEAD of a worktree (gitrevisions(7) and git-worktree(1), "Refs"). */
function headName(gitDir: string, commonDir: string): string {
  if (gitDir === commonDir) return 'main-worktree/HEAD';
  return `${gitDir.slice(commonDir.length + 1)}/HEAD`;
}

/** A session has ended, or others are gone. */
export async function dropUnused(call: TreeCall): Promise<void> {
  const { commonDir, folder } = call.tree;
  if (!isTouchedKept(commonDir)) return;
  const isNeeded = async () =>
    worktreesInUse(call, await listSessions({ cwd: folder }, call.budget.left())) > 1;
  if (!(await isNeeded())) await dropTouched(commonDir, isNeeded);
}

function worktreesInUse(
  { tree, machine, settings, now }: TreeCall,
  stored: readonly StoredSession[],
): number {
  const judged = judgeSessions(stored, tree.commonDir, machine.processes, settings.staleAfterMs, now);
  return new Set(judged.flatMap((one) => (one.liveness === 'live' ? [one.worktreeId] : []))).size;
}
