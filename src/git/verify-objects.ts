import {
  MAX_COMMIT_BYTES,
  MAX_NOTE_BYTES,
  MAX_STATE_BYTES,
  MAX_TREE_BYTES,
  NOTE_FILE,
  STATE_FILE,
} from '../domain/handoff.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import { CommitText } from './commits.ts';
import { formatOf, objectName } from './hash.ts';
import { type ReadObject, readObjects, parseTree } from './objects.ts';
import { type GitOptions, oidsIn, runGit } from './run.ts';

/** An object of a handoff that cannot be read, or that is not what its name says. */
export interface BrokenObject {
  readonly commit: Oid;
  readonly what: 'commit' | 'tree' | typeof NOTE_FILE | typeof STATE_FILE;
  /** The object's name; `undefined` when the object that names it is broken, too. */
  readonly oid: Oid | undefined;
  /** `damaged`: the content does not match the name. */
  readonly why: 'missing or unreadable' | 'damaged' | 'of the wrong type';
}

/** A commit that was checked. */
interface JudgedCommit {
  readonly parents: readonly Oid[];
  /** The object of the commit that is broken, if any. */
  readonly broken: BrokenObject | undefined;
}

/** The fewest and the most commits in one process: even with notes of a megabyte each, the fewest fit in memory. */
const FEWEST = 64;
const MOST = 512;
/** Bytes that one process may print, if its notes are as large as those of the batch before. */
const MAX_PRINTED = 16 << 20;

/**
 * Every commit that is reachable from these tips; `undefined` when there is a hole (then each tip must be walked by
 * itself). One process.
 */
export async function reachableCommits(
  options: GitOptions,
  tips: readonly Oid[],
): Promise<Oid[] | undefined> {
  if (tips.length === 0) return [];
  const input = tips.map((tip) => `${tip}\n`).join('');
  const result = await runGit(['rev-list', '--stdin'], { ...options, input });
  if (result.code !== 0) return undefined;
  const commits = oidsIn(result);
  const known = new Set(commits);
  // git skips a tip that is no commit.
  return tips.every((tip) => known.has(tip)) ? commits : undefined;
}

/** Whether all of these commits can be read whole. Holds each commit in memory only while checking it. */
export async function areWhole(options: GitOptions, commits: readonly Oid[]): Promise<boolean> {
  for await (const batch of readBatches(options, commits))
    if (batch.some(({ broken }) => broken !== undefined)) return false;
  return true;
}

/** Reads commits in batches: git reads the next batch while the caller checks this one. */
async function* readBatches(options: GitOptions, commits: readonly Oid[]): AsyncGenerator<JudgedCommit[]> {
  let size = FEWEST;
  let reading = startBatch(options, commits.slice(0, size));
  for (let at = 0; at < commits.length;) {
    const { batch } = reading;
    const objects = await reading.objects;
    const printed = objects.reduce((sum, object) => sum + (object?.size ?? 0), 1);
    size = Math.max(FEWEST, Math.min(MOST, 2 * size, Math.floor((batch.length * MAX_PRINTED) / printed)));
    at += batch.length;
    reading = startBatch(options, commits.slice(at, at + size));
    yield batch.map((oid, n) => judge(oid, objects.slice(n * 4, n * 4 + 4)));
  }
}

function startBatch(options: GitOptions, batch: readonly Oid[]) {
  const requests = batch.flatMap((oid) => [
    { name: oid, mostBytes: MAX_COMMIT_BYTES },
    { name: `${oid}^{tree}`, mostBytes: MAX_TREE_BYTES },
    { name: `${oid}:${NOTE_FILE}`, mostBytes: MAX_NOTE_BYTES },
    { name: `${oid}:${STATE_FILE}`, mostBytes: MAX_STATE_BYTES },
  ]);
  const objects = readObjects(options, requests);
  // The code that awaits it gets the error.
  objects.catch(() => undefined);
  return { batch, objects };
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
  const treeOid = object === undefined ? undefined : treeOf(object.content);
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

function treeOf(content: Buffer): Oid | undefined {
  return parseOid(/^tree ([0-9a-f]+)\n/.exec(content.toString('latin1', 0, 80))?.[1] ?? '');
}

/** What is broken in a tip's history, commit by commit, as far as it can be read. */
export async function brokenBelow(options: GitOptions, tip: Oid): Promise<BrokenObject[]> {
  const found: BrokenObject[] = [];
  const waiting: Oid[] = [tip];
  const seen = new Set<Oid>();
  for (let oid = waiting.shift(); oid !== undefined; oid = waiting.shift()) {
    if (seen.has(oid)) continue;
    seen.add(oid);
    for await (const [one] of readBatches(options, [oid])) {
      if (one?.broken === undefined) waiting.push(...(one?.parents ?? []));
      else found.push(one.broken);
    }
  }
  return found;
}
