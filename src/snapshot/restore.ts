import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TreeStatus } from '../domain/ledger/tree-status.ts';
import type { SessionId } from '../domain/names.ts';
import type { Snapshot } from '../domain/snapshot.ts';
import type { TreeConfig } from '../git/config.ts';
import { ObjectBatch } from '../git/object-batch.ts';
import { type Repository, objectFormat } from '../git/repository.ts';
import { ownStore, scratchStore } from '../git/scratch-store.ts';
import { readTreeStatus } from '../git/work-tree.ts';
import { knownWorktreeId } from '../host/folders.ts';
import { appendEvents } from '../sessions/journal.ts';
import { applyPlan } from './apply.ts';
import { type RestorePlan, type TreePlace, planMerge, planWhole } from './plan.ts';
import { StateMerger } from './three-way.ts';

/**
 * `whole` brings each file back as it was, whatever HEAD has now, and leaves the index. `merge` puts the snapshot onto what
 * HEAD has now, deletions and staged changes included, and writes conflict markers if they are allowed.
 */
export type How =
  | { readonly kind: 'whole' }
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
  /** Whether to make a plan only. */
  readonly dryRun?: boolean;
  /** Throws when the plan must not be carried out, and keeps what it overwrites. Returns who will own each path. */
  readonly check?: (plan: Restoring) => Promise<(path: string) => SessionId | undefined>;
}

/** What a restore is about to do. */
export interface Restoring extends RestorePlan {
  /** The working tree when the restore was planned. */
  readonly status: TreeStatus;
}

/** The working tree at `top`, with the index that git would use. */
export function treePlace(
  { gitDir, commonDir }: Repository,
  top: string,
  env: Readonly<Record<string, string | undefined>>,
): TreePlace {
  return { top, gitDir, commonDir, indexFile: resolve(top, env['GIT_INDEX_FILE'] ?? join(gitDir, 'index')) };
}

/**
 * Brings a snapshot back into a working tree: all of it, or nothing if any path is refused.
 *
 * @throws Failure as `check` does; `integrity` when a content is gone; `lost-race` when a path has changed since the plan was made
 */
export async function restoreSnapshot(
  place: TreePlace,
  snapshot: Pick<Snapshot, 'items'>,
  { how, now, dryRun = false, check }: RestoreOptions,
): Promise<Restoring> {
  const { top } = place;
  const status = await readTreeStatus(top, { now, namesOnly: how.kind === 'merge' });
  const { batch, ...plan } = await planFor(place, snapshot, status, how);
  const restoring = { ...plan, status };
  const ownerOf = await check?.(restoring);
  if (dryRun || ownerOf === undefined) return restoring;
  await batch?.storeMany({ cwd: top });
  await applyPlan(place, plan.paths);
  await claimRestored(place, plan, ownerOf, now);
  return restoring;
}

/** Makes the plan; merged contents are in the batch, and not stored yet. */
async function planFor(
  place: TreePlace,
  { items }: Pick<Snapshot, 'items'>,
  status: TreeStatus,
  how: How,
): Promise<RestorePlan & { readonly batch?: ObjectBatch }> {
  const { top } = place;
  if (how.kind === 'whole') return planWhole(top, items, status);
  const { config, markers: merge } = how;
  const batch = new ObjectBatch(await objectFormat({ cwd: top }, status.head.oid ?? undefined));
  const names = { ours: 'HEAD', base: 'before the work', theirs: how.name };
  const merger = new StateMerger(top, batch, names);
  const store = ownStore(place.commonDir);
  try {
    return { ...(await planMerge({ place, items, status, config, merger, store, merge })), batch };
  } finally {
    merger.close();
    rmSync(store.folder, { recursive: true, force: true });
  }
}

/** Claims each restored path for its owner. A session that is alone needs no claims. */
async function claimRestored(
  { top, gitDir, commonDir }: TreePlace,
  { paths }: RestorePlan,
  ownerOf: (path: string) => SessionId | undefined,
  now: number,
): Promise<void> {
  const worktreeId = knownWorktreeId(gitDir);
  const owned = paths.filter(({ path }) => ownerOf(path) !== undefined);
  if (worktreeId === undefined || owned.length === 0) return;
  const names = owned.map(({ path }) => path);
  const { dirty } = await readTreeStatus(top, { now, paths: names, scratch: scratchStore(commonDir) });
  for (const name of names) {
    const [owner, entry] = [ownerOf(name), dirty.get(name)];
    if (owner === undefined || entry === undefined) continue;
    const { path, head, disk } = entry;
    const claim = { t: 'claim', path, base: head, before: head, after: disk, at: now } as const;
    appendEvents({ commonDir, worktreeId }, owner, [{ ...claim, evidence: 'explicit', weak: false }]);
  }
}
