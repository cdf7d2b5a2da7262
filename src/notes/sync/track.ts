import type { Oid } from '../../domain/names.ts';
import { type HandoffPath, handoffRef, trackingRef } from '../../git/namespace.ts';
import { updateRefs } from '../../git/ref-updates.ts';
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

/** Remembers what stands at a remote now; every tip is in the history of the handoff here. */
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

/** Remembers what was fetched as objects only; what was not folded into the handoff here gets a ref that holds it. */
export async function trackFolded(
  repository: InRepository,
  remote: string,
  topics: readonly SyncedTopic[],
  folded: readonly Folded[],
): Promise<void> {
  const strange = new Set(
    folded.flatMap(({ kind, difference: { path } }) => (HOLDS.includes(kind) ? [] : [handoffRef(path)])),
  );
  const shown = topics.flatMap(({ path, there, tracking }) =>
    there === undefined ? [] : [{ path, tip: there.oid, old: tracking, tracking }],
  );
  const isStrange = ({ path }: Arrived) => strange.has(handoffRef(path));
  await moveRefs(repository, remote, shown.filter(isStrange));
  await track(
    repository,
    remote,
    shown.filter((one) => !isStrange(one)),
  );
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
