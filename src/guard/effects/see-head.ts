import { scratchStore } from '../../git/scratch-store.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { appendEntries } from '../../changes/ledger.ts';
import { settledClaims } from '../../changes/settle-claims.ts';
import { mayHaveMoved, putLast, readLast } from '../../changes/windows.ts';
import { type WorkPlace, lookingTime, openLedgers } from '../../changes/work-place.ts';
import type { TreeCall } from '../call.ts';

/**
 * At a call that needs no look at the whole working tree: where HEAD has moved since the last one, a commit may have
 * taken uncommitted work along, and its sessions are to be told now.
 */
export async function seeHead(call: TreeCall, place: WorkPlace): Promise<void> {
  if (!mayHaveMoved(place)) return;
  const known = readLast(place);
  if (known === undefined) return;
  const timeoutMs = lookingTime(call);
  try {
    const options = { scratch: scratchStore(place.commonDir), timeoutMs, now: call.now, known };
    const snapshot = await takeSnapshot(place.top, options);
    const { all } = openLedgers(place, call.session);
    const settled = await settledClaims(place, all, snapshot, { timeoutMs });
    for (const [owner, entries] of settled) appendEntries(place, owner, entries);
    putLast(place, snapshot);
  } catch (error) {
    call.log('open', `who moved HEAD was not looked at: ${String(error)}`);
  }
}
