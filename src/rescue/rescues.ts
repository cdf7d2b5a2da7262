import { type RescueNote, beyondLimits, parseRescueNote, rescuedBytes } from '../domain/rescue.ts';
import type { Oid, RefName } from '../domain/names.ts';
import type { RescueLimits } from '../domain/settings.ts';
import { CommitText } from '../git/commit-text.ts';
import { RESCUE, parseRescueRef, rescueRef } from '../git/namespace.ts';
import { readObjects, parseTree } from '../git/objects.ts';
import { type RefUpdate, updateRefs } from '../git/ref-updates.ts';
import { type Ref, listRefs } from '../git/refs.ts';
import { FILES_NAME, INDEX_NAME, NOTE_NAME } from '../git/rescue-tree.ts';
import { formatOf } from '../git/hash.ts';

/**
 * What destructive commands would have lost: `refs/handoffs-local/rescue/<worktree-id>/<n>` holds the tree of one
 * snapshot, or a commit of the stash that was seen.
 */

/** Where rescues of a worktree are kept. */
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
export interface SavedWork extends Stored {
  readonly kind: 'work';
  readonly note: RescueNote;
  /** The trees of its files and of what was staged only, as far as there are any. */
  readonly files: Oid | undefined;
  readonly index: Oid | undefined;
}

/** A commit of the stash; also when the stash does not have it any more. */
export interface PinnedStash extends Stored {
  readonly kind: 'stash';
  readonly commit: CommitText;
}

export type Rescue = SavedWork | PinnedStash;

interface Limits {
  readonly timeoutMs?: number | undefined;
}

/** Every rescue of the repository, oldest first. Damaged ones are left out. */
export async function listRescues(cwd: string, limits: Limits = {}): Promise<Rescue[]> {
  const { timeoutMs } = limits;
  const refs = await listRefs({ cwd }, [RESCUE], { content: true, timeoutMs });
  const trees = refs.filter(({ type }) => type === 'tree');
  const names = trees.map(({ oid }) => ({ name: `${oid}:${NOTE_NAME}` }));
  const notes = await readObjects({ cwd, timeoutMs }, names);
  const texts = new Map(trees.map(({ name }, at) => [name, notes[at]?.content.toString('utf8') ?? '']));
  const found = refs.flatMap((ref) => rescueOf(ref, texts.get(ref.name)) ?? []);
  return found.sort((a, b) => a.number - b.number);
}

function rescueOf({ name, oid, type, content }: Ref, text: string | undefined): Rescue | undefined {
  const path = parseRescueRef(name);
  if (path === undefined) return undefined;
  const stored = { ref: name, ...path, oid };
  if (type === 'commit') return { ...stored, kind: 'stash', commit: new CommitText(content) };
  const note = parseRescueNote(text ?? '');
  if (note === undefined) return undefined;
  const entries = parseTree(Buffer.from(content, 'latin1'), formatOf(oid));
  return { ...stored, kind: 'work', note, files: entries.get(FILES_NAME), index: entries.get(INDEX_NAME) };
}

/** Milliseconds since the epoch: when the work was last seen, or the stash made. */
export function rescuedAt(rescue: Rescue): number {
  return rescue.kind === 'work' ? rescue.note.at : rescue.commit.seconds * 1000;
}

const MAX_TRIES = 20;
/** Each is waited for. */
const MAX_LOCKS = 2;

/**
 * Keeps trees of saved work or commits of the stash under the next free numbers of a worktree, in one transaction, and
 * lets go of what is beyond the limits: snapshots and stashes are counted each by themselves.
 *
 * @returns the numbers; `undefined` when a lock was held
 */
export async function keepRescues(
  place: RescuePlace,
  kind: Rescue['kind'],
  oids: readonly Oid[],
  { known, limits, now, bytes = 0, held }: Keeping,
): Promise<number[] | undefined> {
  let numbers = numbersAfter(known, oids.length);
  const same = known.filter(
    (one) => one.kind === kind && one.worktreeId === place.worktreeId && held?.has(one.oid) !== true,
  );
  // The new ones count, and are the last to go.
  const added = held === undefined ? numbers.map((number) => ({ number, at: now, bytes })) : [];
  const kept = [...same.map((rescue) => keptOf(rescue, now)), ...added];
  const over = new Set(beyondLimits(kept, limits, now).map(({ number }) => number));
  const removed = same.filter(({ number }) => over.has(number));
  const removals = removed.map(({ ref, oid }): RefUpdate => ({ ref, next: undefined, old: oid }));
  let locks = 0;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const created = oids.map((next, at): RefUpdate => {
      const ref = rescueRef({ worktreeId: place.worktreeId, number: numbers[at] ?? 1 });
      return { ref, next, old: undefined };
    });
    // Somebody else may have let go of the same ones, or hold a lock: after the first try only the new ones matter.
    const updates = tries === 0 ? [...created, ...removals] : created;
    const result = await updateRefs({ cwd: place.cwd }, updates);
    if (result.kind === 'done') return numbers;
    if (result.kind === 'locked') {
      locks += 1;
      if (locks > MAX_LOCKS) return undefined;
      // It may be one of those that were to go.
      if (tries === 0 && removals.length > 0) continue;
    }
    // Also where a killed process has left a lock on the number.
    numbers = numbers.map((number) => number + numbers.length);
  }
  return undefined;
}

/** What keeping needs to know. */
interface Keeping {
  /** Every rescue of the repository: numbers are its own, so that one says which is meant. */
  readonly known: readonly Rescue[];
  readonly limits: RescueLimits;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Entries that are in the stash: they need no room, and none of them goes. */
  readonly held?: ReadonlySet<Oid>;
  /** Of the files in a new snapshot. */
  readonly bytes?: number;
}

function numbersAfter(known: readonly Rescue[], count: number): number[] {
  const last = Math.max(0, ...known.map(({ number }) => number));
  return Array.from({ length: count }, (_, at) => last + 1 + at);
}

/** When an entry was dropped nobody knows: only how many there are counts. */
function keptOf(rescue: Rescue, now: number) {
  const { number } = rescue;
  return rescue.kind === 'work'
    ? { number, at: rescue.note.at, bytes: rescuedBytes(rescue.note) }
    : { number, at: now, bytes: 0 };
}
