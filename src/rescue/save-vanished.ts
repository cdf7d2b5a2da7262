import { basename } from 'node:path';
import { vanishedBetween } from '../domain/ledger/vanished.ts';
import type { DirtyPath, TreeStatus } from '../domain/ledger/tree-status.ts';
import type { SessionId } from '../domain/names.ts';
import { rescuedBytes } from '../domain/rescue.ts';
import type { RescueLimits } from '../domain/settings.ts';
import { formatOf } from '../git/hash.ts';
import { listTree } from '../git/list-tree.ts';
import { ObjectBatch } from '../git/object-batch.ts';
import { readObjects } from '../git/objects.ts';
import { bytesOf, nestedTree, rescueTree } from '../git/rescue-tree.ts';
import { readContents, scratchStore } from '../git/scratch-store.ts';
import type { LedgerPlace } from '../sessions/journal.ts';
import { type Rescue, type SavedWork, keepRescues, listRescues } from './rescues.ts';

export interface Looked {
  readonly before: TreeStatus;
  readonly after: TreeStatus;
  readonly ownerOf: (path: string) => SessionId | undefined;
  /** The command that ran in between and who ran it, when it is known. */
  readonly session: SessionId | null;
  readonly command: string;
  /** Others' work in whose place the command has put something. */
  readonly changed?: ReadonlySet<string>;
  readonly limits: RescueLimits;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly timeoutMs: number | undefined;
}

/** Snapshots in which a content is looked for before it is kept once more. */
const RECENT = 5;

/**
 * Keeps uncommitted work that is gone since the last look, with the contents that were seen then. Returns the number of
 * the rescue that holds it, be it a former one; `undefined` when nothing is lost.
 *
 * @param place the worktree; its last look kept the contents
 * @throws Failure `environment` when git fails or overruns its time
 */
export async function saveVanished(
  place: LedgerPlace & { readonly top: string },
  looked: Looked,
): Promise<number | undefined> {
  const { before, after, timeoutMs } = looked;
  const gone = vanishedBetween(before, after, looked.ownerOf, looked.changed);
  if (gone.length === 0) return undefined;
  const cwd = place.top;
  const limits = { timeoutMs };
  const names = gone.map(({ path }) => path);
  const [known, committed] = await Promise.all([
    listRescues(cwd, limits),
    after.head.oid === null ? [] : listTree(cwd, after.head.oid, names, limits),
  ]);
  const atHead = new Map(committed.map(({ path, oid }) => [path, oid]));
  const lost = gone.filter(({ path, disk }) => atHead.get(path) !== disk?.oid);
  const { unknown, newest } = await keptBefore(cwd, place.worktreeId, known, lost, limits);
  // What vanished together stays together, although a part of it may be held already: one restore brings it back.
  return unknown.length === 0 ? newest : keep(place, looked, lost, known);
}

/** What no recent snapshot holds, and the newest one that holds any of the rest. */
async function keptBefore(
  cwd: string,
  worktreeId: string,
  known: readonly Rescue[],
  lost: readonly DirtyPath[],
  limits: { timeoutMs: number | undefined },
): Promise<{ unknown: DirtyPath[]; newest: number | undefined }> {
  const recent = known
    .filter((one): one is SavedWork => one.kind === 'work' && one.worktreeId === worktreeId)
    .slice(-RECENT);
  const asked = recent.flatMap(({ files, note, number }) => {
    const names = new Set(note.files.map(({ path }) => path));
    const held = lost.filter(({ path }) => files !== undefined && !path.includes('\n') && names.has(path));
    return held.map(({ path, disk }) => ({ path, oid: disk?.oid, number, name: `${files ?? ''}:${path}` }));
  });
  const found = await readObjects(
    { cwd, ...limits },
    asked.map(({ name }) => ({ name, infoOnly: true })),
  );
  const held = asked.filter(({ oid }, at) => oid !== undefined && found[at]?.oid === oid);
  const paths = new Set(held.map(({ path }) => path));
  return { unknown: lost.filter(({ path }) => !paths.has(path)), newest: held.at(-1)?.number };
}

async function keep(
  { top: cwd, commonDir, worktreeId }: LedgerPlace & { readonly top: string },
  { before, ownerOf, session, command, limits, now, timeoutMs }: Looked,
  lost: readonly DirtyPath[],
  known: readonly Rescue[],
): Promise<number | undefined> {
  const oids = lost.flatMap(({ disk }) => disk?.oid ?? []);
  const contents = await readContents(cwd, scratchStore(commonDir), oids);
  const there = lost.flatMap((entry, at) => {
    const content = contents[at];
    return content === undefined ? [] : [{ entry, content, mode: entry.disk?.mode ?? '100644' }];
  });
  const [first] = oids;
  if (first === undefined || there.length === 0) return undefined;
  const batch = new ObjectBatch(formatOf(first));
  const files = nestedTree(
    batch,
    there.map(({ entry, content, mode }) => ({ path: bytesOf(entry), oid: batch.blob(content), mode })),
  );
  const note = {
    v: 1,
    kind: 'seen',
    command,
    session,
    at: before.at,
    worktree: basename(cwd),
    ref: before.head.ref,
    head: before.head.oid,
    files: there.map(({ entry: { path }, content, mode }) => {
      return { path, mode, bytes: content.length, owner: ownerOf(path) ?? null };
    }),
    deleted: [],
    staged: [],
    skipped: [],
  } as const;
  const tree = rescueTree(batch, note, [files, undefined]);
  await batch.storeMany({ cwd, timeoutMs });
  const numbers = await keepRescues({ cwd, worktreeId }, 'work', [tree], {
    known,
    limits,
    now,
    bytes: rescuedBytes(note),
  });
  return numbers?.[0];
}
