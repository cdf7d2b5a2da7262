import type { TreeStatus } from '../../../domain/ledger/tree-status.ts';
import { vanishedBetween } from '../../../domain/ledger/vanished.ts';
import type { SessionId } from '../../../domain/names.ts';
import { lookTimeoutMs, type WorkPlace } from '../../../changes/work-place.ts';
import type { TreeCall } from '../../call.ts';
import { saveVanished } from '../../../snapshot/vanished.ts';

/** The session whose command ran between two looks. */
interface Ran {
  readonly session: SessionId;
  readonly command: string;
  /** Others' work in whose place it has put something. */
  readonly changed: ReadonlySet<string>;
}

/**
 * Keeps uncommitted work that was there at the last look and is gone now. Says nothing when it cannot: the call goes on.
 *
 * @returns the number of the rescue that holds it
 */
export async function keepVanished(
  call: TreeCall,
  place: WorkPlace,
  before: TreeStatus,
  after: TreeStatus,
  owners: ReadonlyMap<string, SessionId>,
  ran?: Ran,
): Promise<number | undefined> {
  const ownerOf = (path: string) => owners.get(path);
  if (vanishedBetween(before, after, ownerOf, ran?.changed).length === 0) return undefined;
  const limits = call.settings.rescue;
  const { session = null, command = '', changed = new Set<string>() } = ran ?? {};
  const budget = call.budget.part(lookTimeoutMs(call));
  const looked = { before, after, ownerOf, session, command, changed, limits, now: call.now, budget };
  try {
    return await saveVanished(place, looked);
  } catch (error) {
    call.log('open', `work that is gone was not kept: ${String(error)}`);
    return undefined;
  }
}
