import type { Oid } from '../../domain/names.ts';
import { type HandoffPath, remotePrefix, trackingRef } from '../../git/namespace.ts';
import { updateRefs } from '../../git/ref-updates.ts';
import { listRefNames } from '../../git/refs.ts';
import type { InRepository } from '../../git/repository.ts';
import { addShown } from '../../git/shown-lists.ts';
import { inBatches, twoAtOnce } from './batches.ts';
import type { SyncedTopic } from './differences.ts';
import type { Folded } from './fold.ts';

/** A tip that a remote has, or is to have. */
export interface Arrived {
  readonly path: HandoffPath;
  readonly tip: Oid;
  /** What the remote showed before, and the value of the tracking ref. */
  readonly old: Oid | undefined;
  readonly tracking: Oid | undefined;
}

/** Refs in one transaction. */
const BATCH = 5000;

/** From this many on what has no tracking ref is listed. */
const MANY = 200;

/** Remembers what stands at a remote now. */
export async function track(
  repository: InRepository,
  remote: string,
  arrived: readonly Arrived[],
): Promise<void> {
  const moved = arrived.filter(({ tip, old }) => tip !== old);
  const anew = moved.filter(({ tracking }) => tracking === undefined);
  if (anew.length <= MANY) return moveRefs(repository, remote, moved);
  await moveRefs(
    repository,
    remote,
    moved.filter(({ tracking }) => tracking !== undefined),
  );
  const isListed = await addShown(
    repository,
    remote,
    anew.map(({ path, tip }) => ({ path, oid: tip })),
  );
  // What nothing remembers would go back to a remote that deletes it.
  if (!isListed) await moveRefs(repository, remote, anew);
}

/**
 * Remembers what is about to be fetched as objects only. Before anything is folded: a handoff that nobody remembers to have
 * come from a remote would go back to one that deletes it.
 */
export async function trackShown(
  repository: InRepository,
  remote: string,
  topics: readonly SyncedTopic[],
): Promise<void> {
  const shown = topics.flatMap(({ path, there, tracking }) =>
    there === undefined ? [] : [{ path, tip: there.oid, old: tracking, tracking }],
  );
  await track(repository, remote, shown);
}

/** Gives what was not folded into the handoff here a ref that holds it, which a list does not. */
export async function holdStrange(
  repository: InRepository,
  remote: string,
  folded: readonly Folded[],
): Promise<void> {
  const strange = folded.filter(({ kind }) => !HOLDS.includes(kind)).map(({ difference }) => difference);
  const tracking = new Map(
    (await listRefNames(repository, [remotePrefix(remote)])).map(({ name, oid }) => [name, oid]),
  );
  const shown = strange.map(({ path, there: { oid: tip } }) => {
    const now = tracking.get(trackingRef(remote, path));
    return { path, tip, old: now, tracking: now };
  });
  await moveRefs(repository, remote, shown);
}

/** After these the handoff here has what the remote showed in its history. */
const HOLDS: readonly Folded['kind'][] = ['nothing', 'create', 'forward', 'follow', 'set-aside'];

async function moveRefs(
  repository: InRepository,
  remote: string,
  arrived: readonly Arrived[],
): Promise<void> {
  const updates = arrived
    .filter(({ tip, tracking }) => tip !== tracking)
    .map(({ path, tip, tracking }) => ({ ref: trackingRef(remote, path), next: tip, old: tracking }));
  await twoAtOnce(inBatches(updates, BATCH), (batch) => updateRefs(repository, batch, { repeatable: true }));
}
