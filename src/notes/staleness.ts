import type { HandoffCommit } from '../domain/handoff.ts';
import type { BranchName } from '../domain/names.ts';
import { type Staleness, decideStaleness } from '../domain/staleness.ts';
import {
  type Branches,
  readBranchLogs,
  findDefaultBranch,
  listBranches,
  mergedBranches,
  mergedTips,
  remoteBranches,
  renamedBranches,
  formerBranches,
} from '../git/branches.ts';
import { REMOTE, encodeBranch } from '../git/namespace.ts';
import { listRefNames } from '../git/refs.ts';
import { type Repository, committer } from '../git/repository.ts';
import type { GitOptions } from '../git/run.ts';
import type { Budget } from '../host/io.ts';
import type { TopicState } from './topic.ts';

/** The most branches that are judged, because the length of a command line is limited. */
const MAX_BRANCHES = 500;

export type BranchStaleness = ReadonlyMap<string, Staleness>;

const NOTHING: BranchStaleness = new Map();

/**
 * Finds branches that have open notes but look finished: merged into the default branch, or deleted. Costs one git process,
 * however many topics there are, and a few more if a branch is in doubt. If `topics` is a promise, lists branches meanwhile.
 * `budget` is the time for all of it; when it is used up, nothing is stale.
 */
export async function judgeBranches(
  repository: Pick<Repository, 'cwd' | 'branch'>,
  topics: readonly TopicState[] | Promise<readonly TopicState[]>,
  budget: Budget,
): Promise<BranchStaleness> {
  const left = () => ({ cwd: repository.cwd, timeoutMs: budget.left() });
  const listing = listBranches(left());
  listing.catch(() => undefined);
  const tips = branchesOf(await topics);
  try {
    const branches = await listing;
    if (branches.heads.size === 0 || tips.size === 0) return NOTHING;
    return await judge(repository, tips, branches, left);
  } catch {
    // If the time ran out, or git cannot list the branches, nothing counts as stale.
    return NOTHING;
  }
}

/** The branches of open topics, with their tips. Leaves out a detached HEAD, and cut names whose full form is unknown. */
function branchesOf(topics: readonly TopicState[]): ReadonlyMap<BranchName, readonly HandoffCommit[]> {
  const tips = new Map<BranchName, HandoffCommit[]>();
  for (const { tip, branch, path } of topics) {
    if (tip?.trailers?.state !== 'open' || branch === 'HEAD') continue;
    const known = tips.get(branch);
    if (known !== undefined) known.push(tip);
    else if (tips.size < MAX_BRANCHES && encodeBranch(branch) === path.component) tips.set(branch, [tip]);
  }
  return tips;
}

/** Why the branch of an open topic makes the topic look done or out of place. */
export function stalenessOf(topic: TopicState, stale: BranchStaleness): Staleness {
  return topic.tip?.trailers?.state === 'open' ? (stale.get(topic.branch) ?? null) : null;
}

async function judge(
  { cwd, branch: current }: Pick<Repository, 'cwd' | 'branch'>,
  tips: ReadonlyMap<string, readonly HandoffCommit[]>,
  branches: Branches,
  left: () => GitOptions,
): Promise<BranchStaleness> {
  const names = [...tips.keys()];
  const { heads } = branches;
  const gone = names.filter((name) => !heads.has(name) && name !== current);
  const present = names.filter((name) => heads.has(name));
  const [renamed, elsewhere, remote, me, landed] = await Promise.all([
    gone.length === 0 ? undefined : renamedBranches(left()),
    gone.length === 0 ? undefined : branchesElsewhere(left(), gone),
    gone.length === 0 ? undefined : remoteBranches(left(), gone),
    gone.length === 0 ? undefined : committer(cwd),
    findLanded(left, present, branches),
  ]);
  const judged = names.map((name) => {
    const to = renamed?.get(name);
    const tip = heads.get(name)?.oid;
    const staleness = decideStaleness({
      branch: name,
      exists: tip !== undefined,
      isCurrent: name === current,
      isDefault: name === landed?.into,
      isMerged: landed?.merged.has(name) === true,
      moves: landed?.moves.get(name) ?? [],
      wasMerged: tip !== undefined && landed?.tips.has(tip) === true,
      renamedTo: to !== undefined && heads.has(to) ? to : undefined,
      isRemote: remote?.has(name) === true,
      isForeign:
        elsewhere?.has(name) === true ||
        (me?.email !== undefined && tips.get(name)?.some(({ mail }) => mail === me.email) !== true),
    });
    return [name, staleness] as const;
  });
  return new Map(judged.filter(([, staleness]) => staleness !== null));
}

/** Returns branches that were never checked out here, but whose notes a remote has: another clone may have them, unpushed. */
export async function branchesElsewhere(
  options: GitOptions,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const component = (name: string) => encodeBranch(name as BranchName);
  const [former, fetched] = await Promise.all([
    formerBranches(options),
    listRefNames(
      { cwd: options.cwd },
      names.map((name) => `${REMOTE}*/${component(name)}/*`),
    ),
  ]);
  const isFetched = (name: string) => fetched.some((ref) => ref.name.includes(`/${component(name)}/`));
  return new Set(names.filter((name) => isFetched(name) && !former.has(name)));
}

/** Finds which branches are merged into the default branch; `undefined` if there is no other branch to ask about. */
export async function findLanded(left: () => GitOptions, names: readonly string[], branches: Branches) {
  if (names.length === 0) return undefined;
  // A single branch is merged into no other, so git need not be asked for the default branch's name.
  if (branches.origin === undefined && branches.heads.size === 1) return undefined;
  const into = await findDefaultBranch(left(), branches);
  const asked = names.filter((name) => name !== into?.name);
  if (into === undefined || asked.length === 0) return undefined;
  const merged = await mergedBranches(left(), into);
  const inDoubt = asked.filter((name) => merged.has(name));
  const [moves, tips] =
    inDoubt.length === 0
      ? [new Map<string, never>(), new Set<string>()]
      : await Promise.all([readBranchLogs(left(), inDoubt), mergedTips(left(), into)]);
  return { into: into.name, refs: into.refs, merged, moves, tips };
}
