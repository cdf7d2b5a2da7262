import { isListed, noteChanged } from '../../changes/changed-elsewhere.ts';
import { readLast } from '../../changes/windows.ts';
import { lookTimeoutMs } from '../../changes/work-place.ts';
import { pathsBetween } from '../../git/commits.ts';
import { linkedWorktrees } from '../../git/worktrees.ts';
import { readObjects } from '../../git/objects.ts';
import { readTreeStatus } from '../../git/work-tree.ts';
import { knownWorktreeId, worktreeId } from '../../host/folders.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import type { TreeCall } from '../call.ts';

/** More paths of one worktree are not listed: everybody reads them. */
const MAX_PATHS = 2000;

/** A worktree with sessions at work. */
interface UsedTree {
  readonly id: string;
  readonly top: string;
  readonly gitDir: string;
}

/**
 * A session has registered. Where others work in other worktrees, it is kept from now on which paths are changed where
 * (changes/changed-elsewhere.ts), beginning with those that are changed already: in this worktree, and in those that were not listed yet.
 *
 * @param others sessions of the repository but this one, judged
 */
export async function listTouched(call: TreeCall, others: readonly JudgedSession[]): Promise<void> {
  const { commonDir, gitDir } = call.tree;
  const own = worktreeId(gitDir);
  const live = others.filter((one) => one.liveness === 'live').map((one) => one.worktreeId);
  if (!live.some((id) => id !== own)) return;
  const used = usedTrees(commonDir, new Set([...live, own]));
  const isStart = call.event.kind === 'session-start';
  const fresh = used.filter(({ id }) => (id === own && isStart) || !isListed({ commonDir, worktreeId: id }));
  if (fresh.length === 0) return;
  const uncommitted = fresh.map(async (tree) => [tree.id, await uncommittedIn(call, tree)] as const);
  const found = [...(await Promise.all(uncommitted)), ...(await committedIn(call, used, fresh))];
  for (const { id } of used) {
    const paths = new Set(found.flatMap(([tree, some]) => (tree === id ? some : [])));
    const isFresh = fresh.some((one) => one.id === id);
    noteChanged({ commonDir, worktreeId: id }, call.session, [...paths], call.now, isFresh);
  }
}

function usedTrees(commonDir: string, ids: ReadonlySet<string>): UsedTree[] {
  return linkedWorktrees(commonDir).flatMap(({ path, gitDir }): UsedTree[] => {
    const id = knownWorktreeId(gitDir);
    return id === undefined || !ids.has(id) ? [] : [{ id, top: path, gitDir }];
  });
}

async function uncommittedIn(call: TreeCall, tree: UsedTree): Promise<string[]> {
  const { commonDir } = call.tree;
  const last = readLast({ commonDir, worktreeId: tree.id });
  const options = { timeoutMs: lookTimeoutMs(call), now: call.now, namesOnly: true };
  // Registration may have looked just now.
  const { dirty } = last?.at === call.now ? last : await readTreeStatus(tree.top, options);
  return [...dirty.keys()].slice(0, MAX_PATHS);
}

/** What each of two worktrees has committed since their histories parted. */
async function committedIn(
  call: TreeCall,
  used: readonly UsedTree[],
  fresh: readonly UsedTree[],
): Promise<(readonly [tree: string, paths: readonly string[]])[]> {
  const { commonDir, workTree } = call.tree;
  const options = { cwd: workTree, timeoutMs: lookTimeoutMs(call) };
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
    const paths = await pathsBetween(options, other.oid, one.oid, 'parted');
    return [one.id, paths.slice(0, MAX_PATHS)] as const;
  });
  return Promise.all(listing);
}

/** How git names the HEAD of a worktree (gitrevisions(7) and git-worktree(1), "Refs"). */
function headName(gitDir: string, commonDir: string): string {
  if (gitDir === commonDir) return 'main-worktree/HEAD';
  return `${gitDir.slice(commonDir.length + 1)}/HEAD`;
}
