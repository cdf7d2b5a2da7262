import { basename } from 'node:path';
import type { Oid, SessionId } from '../domain/names.ts';
import { rescuedBytes } from '../domain/rescue.ts';
import type { RescueLimits } from '../domain/settings.ts';
import type { Work, WorkItem, WorkState } from '../domain/work.ts';
import { formatOf } from '../git/hash.ts';
import { ObjectBatch } from '../git/object-batch.ts';
import { readObjects } from '../git/objects.ts';
import { bytesOf, nestedTree, rescueTree } from '../git/rescue-tree.ts';
import { type RescuePlace, keepRescues, listRescues } from './rescues.ts';

/** Work that a note no longer carries. */
interface Carried {
  readonly work: Work;
  /** The blobs by their numbers. */
  readonly blobs: readonly Oid[];
  readonly owner: SessionId;
  /** Full name of the branch. */
  readonly ref: string;
}

interface Occasion {
  readonly command: string;
  readonly session: SessionId | null;
  readonly limits: RescueLimits;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Moves the contents of work that no note carries any more to a rescue. Returns the rescue's number; `undefined` if the work
 * only deletes files.
 *
 * @throws Error when a lock is held
 */
export async function saveCarried(
  place: RescuePlace,
  { work: { base, items }, blobs, owner, ref }: Carried,
  { command, session, limits, now }: Occasion,
): Promise<number | undefined> {
  const { cwd } = place;
  const [first] = blobs;
  const there = items.flatMap((item) => {
    const state = contentOf(item);
    return state === null ? [] : [{ path: item.path, state, isRaw: item.raw !== undefined }];
  });
  if (first === undefined || there.length === 0) return undefined;
  const batch = new ObjectBatch(formatOf(first));
  const entry = (path: string, { mode, blob }: Content) => {
    return { path: bytesOf({ path }), oid: blobs[blob] ?? first, mode };
  };
  const staged = items.flatMap(({ path, base: head, index, disk }) => {
    const isElsewhere = index === null || index.blob === head?.blob || index.blob === disk?.blob;
    return isElsewhere ? [] : [{ path, state: index }];
  });
  const files = nestedTree(
    batch,
    there.map(({ path, state }) => entry(path, state)),
  );
  const index = nestedTree(
    batch,
    staged.map(({ path, state }) => entry(path, state)),
  );
  const sizes = await readObjects(
    { cwd },
    blobs.map((name) => ({ name, infoOnly: true })),
  );
  const note = {
    v: 1,
    kind: 'seen',
    command,
    session,
    at: now,
    worktree: basename(cwd),
    ref,
    head: base,
    files: there.map(({ path, state: { mode, blob }, isRaw }) => {
      return { path, mode, bytes: sizes[blob]?.size ?? 0, owner, ...(isRaw ? { isRaw } : {}) };
    }),
    deleted: items.flatMap(({ path, base: head, disk }) => (disk === null && head !== null ? [path] : [])),
    staged: staged.map(({ path }) => path),
    skipped: [],
  } as const;
  const tree = rescueTree(batch, note, [files, index]);
  await batch.storeMany({ cwd });
  const numbers = await keepRescues(place, 'work', [tree], {
    known: await listRescues(cwd),
    limits,
    now,
    bytes: rescuedBytes(note),
  });
  const [number] = numbers ?? [];
  if (number === undefined) throw new Error('a ref is locked (git handoff doctor)');
  return number;
}

type Content = Exclude<WorkState, null>;

/** The content on the disk; for a file that was only staged, the staged one. */
function contentOf({ index, disk, raw }: WorkItem): WorkState {
  if (disk === null) return index;
  return raw === undefined ? disk : { mode: disk.mode, blob: raw };
}
