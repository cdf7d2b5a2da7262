import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenClaim } from '../../../domain/ledger/claims.ts';
import type { DirtyPath } from '../../../domain/ledger/snapshot.ts';
import { formatOf, objectName } from '../../../git/hash.ts';
import type { WorkPlace } from '../../../changes/work-place.ts';
import type { TreeCall } from '../../call.ts';
import { keepVanished } from './keep-vanished.ts';

/**
 * Keeps the claimed content of a file that is as HEAD has it, or is gone, right before a file tool writes it: no look
 * in between would have seen that somebody threw the change away.
 */
export async function keepRevertedFile(
  call: TreeCall,
  place: WorkPlace,
  path: string,
  claims: readonly OpenClaim[],
): Promise<void> {
  const claim = [...claims].sort((a, b) => b.at - a.at)[0];
  const like = claim?.after?.oid;
  if (claim === undefined || like === undefined || like === null) return;
  const now = nameOf(join(place.top, path), like);
  if (now !== (claim.base?.oid ?? undefined)) return;
  const lost: DirtyPath = { path, head: claim.base, index: claim.base, disk: claim.after, stamp: '' };
  const head = { ref: 'HEAD', oid: null };
  const before = { head, dirty: new Map([[path, lost]]), at: claim.at };
  const owners = new Map([[path, claim.session]]);
  await keepVanished(call, place, before, { head, dirty: new Map(), at: call.now }, owners);
}

function nameOf(file: string, like: string): string | undefined {
  try {
    return objectName(formatOf(like), 'blob', readFileSync(file));
  } catch {
    return undefined;
  }
}
