import type { Oid } from '../../domain/names.ts';
import { inBatches, twoAtOnce } from '../../git/batches.ts';
import { type HandoffPath, remotePrefix, shownRef, trackingRef } from '../../git/namespace.ts';
import { updateRefs } from '../../git/ref-updates.ts';
import { listRefNames } from '../../git/refs.ts';
import type { InRepository } from '../../git/repository.ts';
import { addToList } from '../../git/ref-lists.ts';
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

/** Remembers which tips a remote has now; `objects` settles when they are here, for a ref needs its object. */
export async function track(
  repository: InRepository,
  remote: string,
  arrived: readonly Arrived[],
  objects?: Promise<unknown>,
): Promise<void> {
  const moved = arrived.filter(({ tip, old }) => tip !== old);
  const anew = moved.filter(({ tracking }) => tracking === undefined);
  const entries = anew.map(({ path, tip }) => ({ path, oid: tip }));
  const isListed = anew.length > MANY && (await addToList(repository, shownRef(remote), entries));
  await objects;
  // What nothing remembers would go back to a remote that deletes it.
  const byRef = isListed ? moved.filter(({ tracking }) => tracking !== undefined) : moved;
  await moveRefs(repository, remote, byRef);
}

/**
 * Remembers what is being fetched as objects only. Before anything is folded: a handoff that nobody remembers to have come
 * from a remote would go back to one that deletes it. An entry of what does not come counts for nothing.
 */
export async function trackShown(
  repository: InRepository,
  remote: string,
  topics: readonly SyncedTopic[],
  fetching: Promise<unknown>,
): Promise<void> {
  const shown = topics.flatMap(({ path, there, tracking }) =>
    there === undefined ? [] : [{ path, tip: there.oid, old: tracking, tracking }],
  );
  await track(repository, remote, shown, fetching);
}

/** Gives what was not folded into the handoff here a ref that holds it, which a list does not. */
export async function holdStrange(
  repository: InRepository,
  remote: string,
  folded: readonly Folded[],
): Promise<void> {
  const strange = folded.filter(({ kind }) => !HOLDS.includes(kind)).map(({ difference }) => difference);
  if (strange.length === 0) return;
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
