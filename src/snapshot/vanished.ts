import { vanishedBetween } from '../domain/ledger/vanished.ts';
import type { DirtyPath, TreeStatus } from '../domain/ledger/tree-status.ts';
import type { SessionId } from '../domain/names.ts';
import type { RescueLimits } from '../domain/settings.ts';
import { listTree } from '../git/staged.ts';
import { readContents, scratchStore } from '../git/scratch.ts';
import type { Budget } from '../host/io.ts';
import type { LedgerPlace } from '../sessions/journal.ts';
import { type Rescue, type SavedWork, groupOf, itemsOf, listRescues } from './rescues.ts';
import { takeSnapshot } from './take.ts';

export interface Ran {
  readonly session: SessionId;
  readonly command: string;
  /** The paths where the command replaced others' work. */
  readonly changed: ReadonlySet<string>;
}

interface Looked {
  readonly before: TreeStatus;
  readonly after: TreeStatus;
  readonly owners: ReadonlyMap<string, SessionId>;
  /** `undefined`: no command is known. */
  readonly ran?: Ran | undefined;
  readonly limits: RescueLimits;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly budget: Budget;
}

/** How many of the newest snapshots to search for lost work: if none has all of it, we keep it again. */
const RECENT = 5;

/** Work that is gone, and the number of the rescue that holds it, new or old; `undefined` if the work could not be kept. */
export interface Vanished {
  readonly lost: readonly DirtyPath[];
  readonly kept: number | undefined;
}

/**
 * Keeps uncommitted work that has vanished since the last status, with the contents that the status kept. Returns
 * `undefined` when nothing is lost.
 *
 * @throws Failure `environment` when git fails or overruns its time
 */
export async function saveVanished(
  place: LedgerPlace & { readonly top: string },
  looked: Looked,
): Promise<Vanished | undefined> {
  const { before, after, owners, ran, budget } = looked;
  const gone = vanishedBetween(before, after, (path) => owners.get(path), ran?.changed);
  if (gone.length === 0) return undefined;
  const cwd = place.top;
  const timeoutMs = budget.left();
  const names = gone.map(({ path }) => path);
  const [known, committed] = await Promise.all([
    listRescues(cwd, timeoutMs),
    after.head.oid === null ? [] : listTree({ cwd, timeoutMs }, after.head.oid, names),
  ]);
  const atHead = new Map(committed.map(({ path, oid }) => [path, oid]));
  const lost = gone.filter(({ path, disk }) => atHead.get(path) !== disk?.oid);
  if (lost.length === 0) return undefined;
  // What vanished together is kept together, even if rescues already hold the parts: one restore brings back everything.
  return { lost, kept: (await rescueWithAll(place, known, lost)) ?? (await keep(place, looked, lost)) };
}

/** Returns the number of the newest snapshot that holds all of this work; searches the last few only. */
async function rescueWithAll(
  { top, worktreeId }: LedgerPlace & { readonly top: string },
  known: readonly Rescue[],
  lost: readonly DirtyPath[],
): Promise<number | undefined> {
  const recent = known
    .filter((one): one is SavedWork => groupOf(one) === 'work' && one.worktreeId === worktreeId)
    .slice(-RECENT)
    .reverse();
  for (const rescue of recent) {
    const items = await itemsOf(top, rescue);
    const held = new Set(items.map(({ path, disk, own }) => `${own ?? disk?.oid ?? ''} ${path}`));
    if (lost.every(({ path, disk }) => held.has(`${disk?.oid ?? '?'} ${path}`))) return rescue.number;
  }
  return undefined;
}

async function keep(
  { top: cwd, commonDir, worktreeId }: LedgerPlace & { readonly top: string },
  { before, owners, ran, limits, now, budget }: Looked,
  lost: readonly DirtyPath[],
): Promise<number | undefined> {
  const names = lost.flatMap(({ disk }) => disk?.oid ?? []);
  const contents = await readContents(cwd, scratchStore(commonDir), names);
  const seen = new Map(lost.map(({ path }, at) => [path, contents[at]]));
  const there = lost.filter(({ path }) => seen.get(path) !== undefined);
  const taken = await takeSnapshot(
    { cwd, worktreeId },
    { ...before, dirty: new Map(there.map((one) => [one.path, one])) },
    {
      reason: { kind: 'seen', command: ran?.command ?? '', session: ran?.session ?? null, at: before.at },
      ownerOf: (path) => owners.get(path) ?? null,
      seen: ({ path }) => seen.get(path),
    },
    { limits, now, budget },
  );
  return taken?.commit === undefined ? undefined : taken.number;
}
