import { type OpenClaim, isCommitted } from '../../domain/ledger/claims.ts';
import type { Snapshot } from '../../domain/ledger/snapshot.ts';
import type { SessionId } from '../../domain/names.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { appendEntries } from '../../changes/ledger.ts';
import type { Scene } from '../scene.ts';
import { sidesNow } from '../sides-now.ts';
import { type WorkPlace, lookingTime } from '../../changes/work-place.ts';

/** Claims of other live sessions that are open, by a fresh look at the disk and the live refs. */
export async function foreignClaims(
  scene: Scene,
  found: FoundRepository,
  place: WorkPlace,
  session: SessionId,
  candidates: readonly OpenClaim[],
  seen?: Snapshot,
): Promise<OpenClaim[]> {
  const paths = candidates.map(({ path }) => path);
  const [sides, snapshot] = await Promise.all([
    sidesNow(scene, found, session),
    seen ?? takeSnapshot(place.top, { paths, timeoutMs: lookingTime(scene), now: scene.now }),
  ]);
  const open: OpenClaim[] = [];
  for (const claim of candidates) {
    const dirty = snapshot.dirty.get(claim.path);
    if (dirty === undefined || isCommitted(claim, dirty.head)) {
      const why = dirty === undefined ? 'clean' : 'committed';
      appendEntries(place, claim.session, [{ t: 'end', path: claim.path, why, at: scene.now }]);
    } else if (sides.foreign.has(claim.session)) open.push(claim);
  }
  return open;
}
