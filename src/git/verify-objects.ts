import {
  MAX_COMMIT_BYTES,
  MAX_NOTE_BYTES,
  MAX_STATE_BYTES,
  MAX_TREE_BYTES,
  NOTE_FILE,
  STATE_FILE,
} from '../domain/handoff.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import { inBatches, twoAtOnce, type GitOptions } from './run.ts';
import { CommitText } from './commits.ts';
import { formatOf, objectName } from './hash.ts';
import { listHistories } from './histories.ts';
import { type ReadObject, readObjects, parseTree } from './objects.ts';

/** An object of a handoff that cannot be read, or that is not what its name says. */
export interface BrokenObject {
  readonly commit: Oid;
  readonly what: 'commit' | 'tree' | typeof NOTE_FILE | typeof STATE_FILE;
  /** The object's name; `undefined` when the object that names it is broken, too. */
  readonly oid: Oid | undefined;
  /** `damaged`: the content does not match the name. */
  readonly why: 'missing or unreadable' | 'damaged' | 'of the wrong type';
}

interface JudgedCommit {
  readonly parents: readonly Oid[];
  readonly broken: BrokenObject | undefined;
}

/** How many commits one process reads: even if each has a note of a megabyte, they fit in memory. */
const TOGETHER = 64;

/** Lists the commits reachable from these tips, in one process; `undefined` if one is missing: then walk each tip by itself. */
export async function reachableCommits(
  options: GitOptions,
  tips: readonly Oid[],
): Promise<Oid[] | undefined> {
  if (tips.length === 0) return [];
  const commits = await listHistories(options, [], tips).catch(() => undefined);
  if (commits === undefined) return undefined;
  const known = new Set(commits);
  // git skips a tip that is no commit.
  return tips.every((tip) => known.has(tip)) ? commits : undefined;
}

/** Whether all of these commits can be read whole. Holds each commit in memory only while checking it. */
export async function areWhole(options: GitOptions, commits: readonly Oid[]): Promise<boolean> {
  const batches = inBatches(commits, TOGETHER);
  const judged = await twoAtOnce(batches, async (batch) => {
    const found = await judgeCommits(options, batch);
    return found.every(({ broken }) => broken === undefined);
  });
  return !judged.includes(false);
}

async function judgeCommits(options: GitOptions, commits: readonly Oid[]): Promise<JudgedCommit[]> {
  const requests = commits.flatMap((oid) => [
    { name: oid, mostBytes: MAX_COMMIT_BYTES },
    { name: `${oid}^{tree}`, mostBytes: MAX_TREE_BYTES },
    { name: `${oid}:${NOTE_FILE}`, mostBytes: MAX_NOTE_BYTES },
    { name: `${oid}:${STATE_FILE}`, mostBytes: MAX_STATE_BYTES },
  ]);
  const objects = await readObjects(options, requests);
  return commits.map((oid, n) => judge(oid, objects.slice(n * 4, n * 4 + 4)));
}

function judge(commit: Oid, [object, tree, note, state]: readonly (ReadObject | undefined)[]): JudgedCommit {
  const broken = (
    what: BrokenObject['what'],
    found: ReadObject | undefined,
    type: string,
    oid: Oid | undefined,
  ): BrokenObject | undefined => {
    if (found === undefined) return { commit, what, oid, why: 'missing or unreadable' };
    if (found.type !== type) return { commit, what, oid, why: 'of the wrong type' };
    // An object too large for a handoff was not read: it is refused anyway.
    if (found.content.length < found.size) return undefined;
    const isWhole = objectName(formatOf(found.oid), found.type, found.content) === found.oid;
    return isWhole ? undefined : { commit, what, oid: found.oid, why: 'damaged' };
  };
  const header = object?.content.toString('latin1', 0, 80) ?? '';
  const treeOid = parseOid(/^tree ([0-9a-f]+)\n/.exec(header)?.[1] ?? '');
  const entries =
    tree?.type === 'tree' ? parseTree(tree.content, formatOf(tree.oid)) : new Map<string, Oid>();
  return {
    parents: object?.type === 'commit' ? new CommitText(object.content.toString('latin1')).parents : [],
    broken:
      broken('commit', object, 'commit', commit) ??
      broken('tree', tree, 'tree', treeOid) ??
      broken(NOTE_FILE, note, 'blob', entries.get(NOTE_FILE)) ??
      broken(STATE_FILE, state, 'blob', entries.get(STATE_FILE)),
  };
}

/** What is broken in a tip's history, commit by commit, as far as it can be read. */
export async function brokenBelow(options: GitOptions, tip: Oid): Promise<BrokenObject[]> {
  const found: BrokenObject[] = [];
  const seen = new Set([tip]);
  // The loop also visits what it adds to the set.
  for (const oid of seen) {
    const [one] = await judgeCommits(options, [oid]);
    if (one?.broken !== undefined) found.push(one.broken);
    else one?.parents.forEach((parent) => seen.add(parent));
  }
  return found;
}
