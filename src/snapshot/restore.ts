import { rmSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join, dirname } from 'node:path';
import type { WorkTree } from '../changes/dirty-work.ts';
import type { TreeStatus, FileState } from '../domain/ledger/tree-status.ts';
import type { SessionId, Oid } from '../domain/names.ts';
import type { Snapshot } from '../domain/snapshot.ts';
import type { TreeConfig } from '../git/config.ts';
import { ObjectBatch, readObjects } from '../git/objects.ts';
import { objectFormat } from '../git/repository.ts';
import { ownStore, scratchEnvironment, scratchStore, setEntries, whileLocked } from '../git/scratch.ts';
import { readTreeStatus, diskPath, stampOf } from '../git/worktrees.ts';
import { knownWorktreeId } from '../host/folders.ts';
import { appendEvents } from '../sessions/journal.ts';
import { type RestorePlan, planMerge, planWhole, type PlannedPath, nameBytes } from './plan.ts';
import { StateMerger } from './three-way.ts';
import { escapeLine, Failure } from '../domain/messages.ts';
import { asCheckedOut, filteredPaths, plainCheckouts } from '../git/filters.ts';
import { gitFailure, runGit } from '../git/run.ts';
import { lstatOf, obstacle, putFile } from '../host/disk.ts';

/**
 * `whole` restores each file as it was, whatever HEAD has now; `withIndex` also restores what was staged. `merge` applies
 * the snapshot with its deletions and staged changes to what HEAD has now; `markers` allows conflict markers.
 */
export type How =
  | { readonly kind: 'whole'; readonly withIndex: boolean }
  | {
      readonly kind: 'merge';
      readonly markers: boolean;
      readonly config: TreeConfig;
      /** The snapshot's name in the conflict markers. */
      readonly name: string;
    };

interface RestoreOptions {
  readonly how: How;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Throws if the plan must not be carried out; else saves what it overwrites and returns the owners. `undefined`: only plan. */
  readonly check?: (plan: RestorePlan) => Promise<((path: string) => SessionId | undefined) | undefined>;
}

/**
 * Brings a snapshot back into a working tree: all of it, or nothing if any path is refused.
 *
 * @throws Failure as `check` does; `integrity` when a content is gone; `lost-race` when a path changed after the plan
 */
export async function restoreSnapshot(
  place: WorkTree,
  snapshot: Pick<Snapshot, 'items'>,
  { how, now, check }: RestoreOptions,
): Promise<RestorePlan> {
  const { top } = place;
  const status = await readTreeStatus(top, { now, namesOnly: how.kind === 'merge' });
  const { batch, ...plan } = await planFor(place, snapshot, status, how);
  const ownerOf = await check?.(plan);
  if (ownerOf === undefined) return plan;
  await batch?.storeMany({ cwd: top });
  await applyPlan(place, plan.paths);
  await claimRestored(place, plan, ownerOf, now);
  return plan;
}

/** Makes the plan. `batch` has the merged contents, which are not stored yet. */
async function planFor(
  place: WorkTree,
  { items }: Pick<Snapshot, 'items'>,
  status: TreeStatus,
  how: How,
): Promise<RestorePlan & { readonly batch?: ObjectBatch }> {
  const { top } = place;
  const batch = new ObjectBatch(await objectFormat({ cwd: top }, status.head.oid ?? undefined));
  if (how.kind === 'whole') {
    if (!how.withIndex) return planWhole(place, items, status, undefined);
    const git = { cwd: top, env: scratchEnvironment(scratchStore(place.commonDir)) };
    const merger = new StateMerger(git, batch);
    try {
      return { ...(await planWhole(place, items, status, merger)), batch };
    } finally {
      merger.close();
    }
  }
  const { config, markers: merge } = how;
  const merger = new StateMerger({ cwd: top }, batch, ['HEAD', 'before the work', how.name]);
  const store = ownStore(place.commonDir);
  try {
    return { ...(await planMerge({ place, items, status, config, merger, store, merge })), batch };
  } finally {
    merger.close();
    rmSync(store.folder, { recursive: true, force: true });
  }
}

/** Claims each restored path for its owner, except for a session that is alone: it needs no claims. */
async function claimRestored(
  { top, gitDir, commonDir }: WorkTree,
  { paths }: RestorePlan,
  ownerOf: (path: string) => SessionId | undefined,
  now: number,
): Promise<void> {
  const worktreeId = knownWorktreeId(gitDir);
  const owned = paths.filter(({ path }) => ownerOf(path) !== undefined);
  if (worktreeId === undefined || owned.length === 0) return;
  const names = owned.map(({ path }) => path);
  const { dirty } = await readTreeStatus(top, { now, paths: names, scratch: scratchStore(commonDir) });
  for (const { path: name, mergedInto } of owned) {
    const [owner, entry] = [ownerOf(name), dirty.get(name)];
    if (owner === undefined || entry === undefined) continue;
    const { path, head, disk } = entry;
    const states = { base: head, before: mergedInto ?? head, after: disk };
    const claim = { t: 'claim', path, ...states, at: now, evidence: 'explicit', weak: false } as const;
    appendEvents({ commonDir, worktreeId }, owner, [claim]);
  }
}

type Written = PlannedPath & { readonly disk: NonNullable<FileState> & { readonly oid: Oid } };

/**
 * Carries out a plan: stages, removes and writes files. If a restore was killed, the same command finishes it: files
 * that are already as they should be count as restored.
 *
 * @throws Failure `lost-race` when a path has changed since the plan was made; it is not overwritten
 */
export async function applyPlan({ top }: WorkTree, paths: readonly PlannedPath[]): Promise<void> {
  // The index comes first: if this run is stopped afterwards, the disk still has what the next run must save.
  await stage(top, paths);
  const changing = paths.filter(({ writes }) => writes);
  for (const planned of changing.filter(({ disk }) => disk === null)) remove(top, planned);
  const written = changing.filter((one): one is Written => one.disk !== null && one.disk.oid !== null);
  // Attribute files come first: they decide how git writes the other files.
  const isFirst = ({ path }: PlannedPath) => /(?:^|\/)\.gitattributes$/.test(path);
  for (const part of [written.filter(isFirst), written.filter((one) => !isFirst(one))])
    await write(top, part);
  await intend(top, paths);
}

function remove(top: string, planned: PlannedPath): void {
  requireUntouched(top, planned);
  unlinkSync(join(top, planned.path));
  // As git does, also remove folders that are now empty.
  for (let folder = dirname(planned.path); folder !== '.'; folder = dirname(folder)) {
    try {
      rmdirSync(join(top, folder));
    } catch {
      return;
    }
  }
}

async function write(top: string, files: readonly Written[]): Promise<void> {
  const contents = await checkouts(top, files);
  for (const [at, file] of files.entries()) {
    const content = contents[at];
    if (content === undefined)
      throw new Failure('integrity', `the content of ${escapeLine(file.path)} cannot be read`, {
        hint: 'git fsck --connectivity-only',
      });
    requireUntouched(top, file);
    const { disk, isPrivate = false } = file;
    removeEmptyFolders(diskPath(top, file));
    putFile(top, { path: nameBytes(file), mode: disk.mode, content, isPrivate });
  }
}

/** Removes a folder without files, which a killed run may have left. If there is a file, `rmdirSync` throws. */
function removeEmptyFolders(folder: string | Buffer): void {
  if (lstatOf(folder)?.isDirectory() !== true) return;
  for (const name of readdirSync(folder)) removeEmptyFolders(join(folder.toString(), name));
  rmdirSync(folder);
}

/** Throws if the path has changed since the plan was made, or a link now leads elsewhere. */
function requireUntouched(top: string, planned: PlannedPath): void {
  const why = obstacle(top, nameBytes(planned), new Set());
  // A folder without files counts as nothing. A file may have been removed to make room for another path's folder.
  const now = lstatOf(diskPath(top, planned))?.isDirectory() === true ? '' : stampOf(top, planned);
  if (why === undefined && (now === planned.stamp || (now === '' && planned.head === null))) return;
  const message = `${escapeLine(planned.path)} changed while it was restored; it was left as it is`;
  throw new Failure('lost-race', message, { hint: 'git handoff status' });
}

/** Returns what a checkout would write, in the order of the files. */
async function checkouts(top: string, files: readonly Written[]): Promise<(Buffer | undefined)[]> {
  const names = files.map(({ path }) => path);
  const filtered = await filteredPaths({ cwd: top }, names);
  const isStored = ({ own, disk }: Written) => own !== undefined || disk.mode === '120000';
  const stored = files.filter(isStored);
  const plain = files.filter((file) => !isStored(file) && !filtered.has(file.path));
  const oids = stored.map(({ own, disk }) => own ?? disk.oid);
  const objects = await readObjects({ cwd: top }, oids);
  const places = plain.map(({ path, disk }) => ({ path, oid: disk.oid }));
  const written = await plainCheckouts({ cwd: top }, places);
  const found = new Map<Written, Buffer | undefined>([
    ...stored.map((file, at) => [file, objects[at]?.content] as const),
    ...plain.map((file, at) => [file, written[at]] as const),
  ]);
  for (const file of files)
    if (!found.has(file)) found.set(file, await asCheckedOut({ cwd: top }, file.path, file.disk.oid));
  return files.map((file) => found.get(file));
}

async function stage(top: string, paths: readonly PlannedPath[]): Promise<void> {
  const entries = new Map(paths.filter(({ stages }) => stages).map(({ path, index }) => [path, index]));
  if (entries.size === 0) return;
  const result = await whileLocked(() => setEntries(top, entries));
  if (result.code !== 0) throw gitFailure('update-index', result);
}

async function intend(top: string, paths: readonly PlannedPath[]): Promise<void> {
  const input = paths.flatMap(({ path, intended }) => (intended === true ? [`${path}\0`] : [])).join('');
  if (input === '') return;
  const args = ['add', '--force', '--intent-to-add', '--pathspec-from-file=-', '--pathspec-file-nul'];
  const added = await whileLocked(() => runGit(['--literal-pathspecs', ...args], { cwd: top, input }));
  if (added.code !== 0) throw gitFailure('add', added);
}
