import type { Oid } from '../../domain/names.ts';
import { HANDOFFS, type HandoffPath, handoffRef } from '../../git/namespace.ts';
import type { TransferOptions } from '../../git/network.ts';
import { type RefValue, listRefNames } from '../../git/refs.ts';
import { type PushOutcome, pushRefs } from '../../git/transfer.ts';
import type { SyncWorld } from './world.ts';

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
export async function pushAll(
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
