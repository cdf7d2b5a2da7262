import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { type Sides, claimsOn } from '../../domain/ledger/ownership.ts';
import type { Snapshot } from '../../domain/ledger/snapshot.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { appendEntries } from '../../changes/ledger.ts';
import type { Scene } from '../scene.ts';
import { sidesNow } from '../sides-now.ts';
import { type Ledgers, type WorkPlace, lookingTime } from '../../changes/work-place.ts';

/** Claims of other live sessions on paths, by a fresh look at the disk and the live refs; no touches. */
export async function foreignClaims(
  scene: Scene,
  found: FoundRepository,
  place: WorkPlace,
  { all, self }: Ledgers,
  paths: readonly string[],
  seen?: Snapshot,
): Promise<{ readonly claims: readonly OpenClaim[]; readonly sides: Sides }> {
  const [sides, snapshot] = await Promise.all([
    sidesNow(scene, found, self.session),
    seen ?? takeSnapshot(place.top, { paths, timeoutMs: lookingTime(scene), now: scene.now }),
  ]);
  const claims = paths.flatMap((path) => {
    const dirty = snapshot.dirty.get(path);
    if (dirty !== undefined) return claimsOn(path, all, sides, dirty.head).foreign;
    for (const { session, claims } of all) {
      if (session === self.session || !claims.has(path)) continue;
      appendEntries(place, session, [{ t: 'end', path, why: 'clean', at: scene.now }]);
    }
    return [];
  });
  return { claims, sides };
}
