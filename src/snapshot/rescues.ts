import type { Oid, RefName } from '../domain/names.ts';
import {
  type Snapshot,
  type SnapshotItem,
  type SnapshotReason,
  beyondLimits,
  bytesOf,
  isOnlyStaged,
  parseRescueNote,
} from '../domain/snapshot.ts';
import type { RescueLimits } from '../domain/settings.ts';
import { CommitText } from '../git/commits.ts';
import { formatOf } from '../git/hash.ts';
import { type TreeFile, listTree } from '../git/staged.ts';
import { RESCUE, parseRescueRef, rescueRef } from '../git/namespace.ts';
import { parseTree, readObjects } from '../git/objects.ts';
import { listRefs, type Ref, type RefUpdate, updateRefs } from '../git/refs.ts';
import { readSnapshots } from './commit.ts';

/**
 * Rescues of what commands may destroy. The ref of each, `refs/handoffs-local/rescue/<worktree-id>/<n>`, points at a snapshot or
 * at a commit that was in the stash. Up to version 0.1.0, a snapshot was a tree with `rescue.json`, `files/` and `index/`.
 */

export interface RescuePlace {
  /** Any folder in the repository, for git to run in. */
  readonly cwd: string;
  readonly worktreeId: string;
}

interface Stored {
  readonly ref: RefName;
  readonly worktreeId: string;
  readonly number: number;
  readonly oid: Oid;
}

/** Uncommitted work as it was at one moment. */
export interface SavedWork extends Stored, Snapshot {
  readonly kind: 'work';
  readonly reason: SnapshotReason;
  /** The trees of a rescue from version 0.1.0 or before, whose items have no blobs. */
  readonly trees?: ReadonlyMap<string, Oid>;
}

/** A commit that is, or was, in the stash. */
interface PinnedStash extends Stored {
  readonly kind: 'stash';
  readonly commit: CommitText;
}

export type Rescue = SavedWork | PinnedStash;

/** The limits apply to each group separately. */
type Group = Rescue['kind'] | 'stop';

/** Returns a rescue's group. Snapshots from the ends of turns have a group of their own, so that they displace no others. */
export const groupOf = (rescue: Rescue): Group =>
  rescue.kind === 'work' && rescue.reason.kind === 'stop' ? 'stop' : rescue.kind;

/** The most snapshots from the ends of turns that a worktree keeps. */
const MOST_TURNS = 20;

/** Lists every rescue of the repository, oldest first. Leaves out damaged ones. */
export async function listRescues(cwd: string, timeoutMs?: number): Promise<Rescue[]> {
  const git = { cwd, timeoutMs };
  const refs = await listRefs({ cwd }, [RESCUE], { content: true, timeoutMs });
  const commits = refs.filter(({ type, content }) => type === 'commit' && isSnapshot(content));
  const trees = refs.filter(({ type }) => type === 'tree');
  const names = trees.map(({ oid }) => `${oid}:rescue.json`);
  const tips = commits.map(({ oid }) => oid);
  const [snapshots, notes] = await Promise.all([readSnapshots(git, tips), readObjects(git, names)]);
  const read = new Map<Ref, Snapshot | undefined>([
    ...commits.map((ref, at) => [ref, snapshots[at]] as const),
    ...trees.map((ref, at) => [ref, parseRescueNote(notes[at]?.content.toString('utf8') ?? '')] as const),
  ]);
  return refs.flatMap((ref) => rescueOf(ref, read) ?? []).sort((a, b) => a.number - b.number);
}

/** Whether a commit is a snapshot. Commits of the stash have parents. */
const isSnapshot = (content: string) => new CommitText(content).parents.length === 0;

function rescueOf(ref: Ref, read: ReadonlyMap<Ref, Snapshot | undefined>): Rescue | undefined {
  const { name, oid, type, content } = ref;
  const path = parseRescueRef(name);
  if (path === undefined) return undefined;
  const stored = { ref: name, ...path, oid };
  if (!read.has(ref))
    return type === 'commit' ? { ...stored, kind: 'stash', commit: new CommitText(content) } : undefined;
  const snapshot = read.get(ref);
  if (snapshot?.reason === undefined) return undefined;
  const { reason } = snapshot;
  const trees = type === 'tree' ? parseTree(Buffer.from(content, 'latin1'), formatOf(oid)) : undefined;
  return { ...stored, ...snapshot, kind: 'work', reason, ...(trees === undefined ? {} : { trees }) };
}

/** Returns the items of a rescue with their blobs, whichever version made it. */
export async function itemsOf(cwd: string, { items, trees }: SavedWork): Promise<readonly SnapshotItem[]> {
  if (trees === undefined) return items;
  const listed = async (name: string) => {
    const oid = trees.get(name);
    // Names that are not UTF-8 may decode to the same text: each item takes the next file with that name.
    const byPath = new Map<string, TreeFile[]>();
    for (const file of oid === undefined ? [] : await listTree({ cwd }, oid))
      byPath.set(file.path, [...(byPath.get(file.path) ?? []), file]);
    return (path: string) => byPath.get(path)?.shift();
  };
  const [inFiles, inIndex] = [await listed('files'), await listed('index')];
  return items.map((item: SnapshotItem & { readonly isRaw?: true }): SnapshotItem => {
    const { path, disk, isRaw } = item;
    const file = disk === null ? undefined : inFiles(path);
    const staged = isOnlyStaged(item) ? inIndex(path) : undefined;
    return {
      ...item,
      ...(staged === undefined ? {} : { index: { mode: staged.mode, oid: staged.oid } }),
      ...(file === undefined ? {} : { disk: { mode: file.mode, oid: file.oid } }),
      raw: file?.raw,
      own: isRaw === true && file?.mode !== '120000' ? file?.oid : undefined,
    };
  });
}

/** When the work was last seen, or the stash entry was made, in milliseconds since the epoch. */
export const rescuedAt = (rescue: Rescue): number =>
  rescue.kind === 'work' ? rescue.reason.at : rescue.commit.seconds * 1000;

/** The most attempts, and the number of retries after which we give up because of a lock. */
const [MAX_TRIES, MAX_LOCKED] = [20, 2];

/**
 * Keeps snapshots or commits of the stash under the next free numbers of a worktree, in one transaction, and removes rescues of
 * this group that exceed the limits. Returns the numbers; `undefined` when another process held a lock.
 */
export async function keepRescues(
  place: RescuePlace,
  group: Group,
  oids: readonly Oid[],
  { known, limits, now, bytes = 0, held }: Keeping,
): Promise<number[] | undefined> {
  const last = Math.max(0, ...known.map(({ number }) => number));
  let numbers = oids.map((_, at) => last + 1 + at);
  const same = known.filter(
    (one) => groupOf(one) === group && one.worktreeId === place.worktreeId && held?.has(one.oid) !== true,
  );
  // The new rescues count towards the limits, and are the last to be removed.
  const added = held === undefined ? numbers.map((number) => ({ number, at: now, bytes })) : [];
  // Nobody knows when a stash entry was dropped: only its number counts.
  const kept = same.map((one) =>
    one.kind === 'work'
      ? { number: one.number, at: one.reason.at, bytes: bytesOf(one) }
      : { number: one.number, at: now, bytes: 0 },
  );
  const maxCount = group === 'stop' ? Math.min(limits.maxCount, MOST_TURNS) : limits.maxCount;
  const over = new Set(
    beyondLimits([...kept, ...added], { ...limits, maxCount }, now).map(({ number }) => number),
  );
  const removed = same.filter(({ number }) => over.has(number));
  const removals = removed.map(({ ref, oid }): RefUpdate => ({ ref, next: undefined, old: oid }));
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const created = oids.map((next, at): RefUpdate => {
      const ref = rescueRef({ worktreeId: place.worktreeId, number: numbers[at] ?? 1 });
      return { ref, next, old: undefined };
    });
    // Another process may have removed the same rescues, or hold a lock: after the first try, only add the new rescues.
    const updates = tries === 0 ? [...created, ...removals] : created;
    const result = await updateRefs({ cwd: place.cwd }, updates);
    if (result.kind === 'done') return numbers;
    if (result.kind === 'locked' && tries >= MAX_LOCKED) return undefined;
    // A new number also helps when a killed process has left a lock on the old one.
    numbers = numbers.map((number) => number + numbers.length);
  }
  return undefined;
}

export interface Keeping {
  /** Every rescue of the repository, not only of the worktree: a number alone identifies a rescue. */
  readonly known: readonly Rescue[];
  readonly limits: RescueLimits;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Entries that the stash still has: they do not count towards the limits, and are not removed. */
  readonly held?: ReadonlySet<Oid>;
  /** The bytes of the files in a new snapshot. */
  readonly bytes?: number;
}
