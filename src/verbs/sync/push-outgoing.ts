import type { Oid } from '../../domain/names.ts';
import { shownAddress, decidePush } from '../../domain/sync.ts';
import { inBatches, twoAtOnce } from '../../git/batches.ts';
import { HANDOFFS, handoffRef, trackingRef, type HandoffPath } from '../../git/namespace.ts';
import { updateRefs } from '../../git/ref-updates.ts';
import type { Remote } from '../../git/remotes.ts';
import type { TransferOptions } from '../../git/network.ts';
import type { Difference, SyncedTopic } from '../../notes/sync/differences.ts';
import type { SyncReport } from './items.ts';
import { type Outgoing, withoutSecrets } from './leaving-notes.ts';
import type { SyncWorld } from './world.ts';
import { type RefValue, listRefNames } from '../../git/refs.ts';
import { type PushOutcome, pushRefs } from '../../git/transfer.ts';

/** How git is run for one remote. */
export function transferOptions(
  { repository, options }: Pick<SyncWorld, 'repository' | 'options'>,
  remote: Remote,
): TransferOptions {
  const { mayAsk, onProgress } = options;
  return {
    cwd: repository.cwd,
    mayAsk,
    onProgress: onProgress === undefined ? undefined : (progress) => onProgress(remote.name, progress),
  };
}

interface Push {
  readonly topics: readonly SyncedTopic[];
  readonly differences: readonly Difference[];
  readonly there: ReadonlyMap<string, Oid>;
}

/** Pushes what goes on from the remote's; `false`: somebody was faster. */
export async function pushOutgoing(
  world: SyncWorld,
  remote: Remote,
  { topics, differences, there }: Push,
  report: SyncReport,
): Promise<boolean> {
  const { options, prefix } = world;
  const ahead = new Set(
    differences.filter(({ facts }) => facts.relation === 'ahead').map(({ path }) => handoffRef(path)),
  );
  const outgoing: Outgoing[] = [];
  const arrived: Outgoing[] = [];
  for (const { path, here, there: tracked } of topics) {
    const tip = here?.tip?.oid;
    if (tip === undefined) continue;
    const ref = handoffRef(path);
    const facts = { tip, shown: there.get(ref), tracked: tracked?.oid, isAhead: ahead.has(ref) };
    const action = decidePush({ ...facts, restore: options.restore });
    // What was fetched in this round is newer than what was shown.
    const isFolded = action === 'behind' && options.fetch && ahead.has(ref);
    // It got there unseen: by a push that was killed, or under another remote's name.
    if (action === 'current' && tracked?.oid !== tip) arrived.push({ path, tip, old: tracked?.oid });
    if (action === 'push' || isFolded) outgoing.push({ path, tip, old: tracked?.oid });
    else if (action === 'deleted-there' || (action === 'behind' && !options.fetch))
      report.left(path, tip, action);
    else if (action === 'blocked' && !options.fetch) report.left(path, tip, 'behind');
  }
  await track(world, remote, arrived);
  const leaving = outgoing.length === 0 ? [] : await withoutSecrets(world, remote.name, outgoing, report);
  if (leaving.length === 0) return true;
  if (there.size === 0) options.warn(firstPush(world, remote, leaving.length));
  const byRef = new Map(leaving.map((one) => [prefix + handoffRef(one.path).slice(HANDOFFS.length), one]));
  const outcomes = await pushAll(world, transferOptions(world, remote), {
    remote: remote.name,
    there,
    outgoing: byRef,
  });
  const pushed = outcomes.flatMap(({ ref, kind }) => (kind === 'pushed' ? (byRef.get(ref) ?? []) : []));
  await track(world, remote, pushed);
  report.pushed(outcomes, byRef);
  return !outcomes.some(({ kind }) => kind === 'moved');
}

/** Refs in one transaction. */
const BATCH = 5000;

/** Remembers what a remote has now. */
async function track({ repository }: SyncWorld, { name }: Remote, there: readonly Outgoing[]): Promise<void> {
  const updates = there
    .filter(({ tip, old }) => tip !== old)
    .map(({ path, tip, old }) => ({ ref: trackingRef(name, path), next: tip, old }));
  await twoAtOnce(inBatches(updates, BATCH), (batch) => updateRefs(repository, batch, { repeatable: true }));
}

function firstPush({ component }: SyncWorld, { name, pushUrls }: Remote, count: number): string {
  const what =
    count === 1
      ? 'a handoff goes, with its whole history,'
      : `${count} handoffs go, each with its whole history,`;
  return (
    `${name} has no handoffs${component === undefined ? '' : ' of this branch'} yet: ` +
    `${what} to ${pushUrls.map(shownAddress).join(' and ')}, where everybody with access to that repository can read them`
  );
}

/** From this many on a pattern is cheaper than names are. */
export const MAX_NAMED = 200;

/** What goes to a remote. */
interface Leaving {
  readonly remote: string;
  /** What the remote shows, by our names. */
  readonly there: ReadonlyMap<string, Oid>;
  /** By the remote's names. */
  readonly outgoing: ReadonlyMap<string, { readonly path: HandoffPath; readonly tip: Oid }>;
}

/** By name what is little; by a pattern what is much, for git looks through all refs for each name. */
async function pushAll(
  world: SyncWorld,
  transfer: TransferOptions,
  { remote, there, outgoing }: Leaving,
): Promise<PushOutcome[]> {
  const named = [...outgoing].map(([ref, { tip }]) => ({ oid: tip, ref }));
  if (named.length <= MAX_NAMED) return pushRefs(transfer, remote, named);
  const below = world.component === undefined ? '' : `${world.component}/`;
  const values = new Map([...outgoing.values()].map(({ path, tip }) => [handoffRef(path) as string, tip]));
  const own = await listRefNames(world.repository, [HANDOFFS + below]);
  const goes = ({ name, oid }: RefValue) => values.get(name) === oid;
  const except = own.filter((ref) => !goes(ref) && there.get(ref.name) !== ref.oid).map(({ name }) => name);
  // Each name that is left out is compared with each ref: then names are no dearer.
  if (except.length > MAX_NAMED) return pushRefs(transfer, remote, named);
  const inPattern = new Set<string>(
    own.filter(goes).map(({ name }) => world.prefix + name.slice(HANDOFFS.length)),
  );
  const rest = named.filter(({ ref }) => !inPattern.has(ref));
  const pattern = { from: HANDOFFS + below, to: world.prefix + below, except };
  const outcomes = await pushRefs(transfer, remote, rest, pattern);
  return outcomes.filter(({ ref }) => outgoing.has(ref));
}
