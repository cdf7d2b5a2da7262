import { type OpenClaim, isCommitted } from '../../domain/ledger/claims.ts';
import type { Snapshot } from '../../domain/ledger/snapshot.ts';
import type { SessionId } from '../../domain/names.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { appendEntries } from '../../changes/ledger.ts';
import type { Scene } from '../scene.ts';
import { aliveBeside, isChanged } from './by-ledger.ts';
import { sidesNow } from '../sides-now.ts';
import { type WorkPlace, lookingTime, openLedgers } from '../../changes/work-place.ts';

/** Claims of other live sessions that are open. */
export interface ForeignClaims {
  readonly claims: readonly OpenClaim[];
  /** git did not say in time: told by the ledger alone. */
  readonly isByLedger: boolean;
}

/**
 * Claims of other live sessions that are open, by a fresh look at the disk and the live refs; where git does not answer in
 * time, by the ledger.
 */
export async function foreignClaims(
  scene: Scene,
  found: FoundRepository,
  place: WorkPlace,
  session: SessionId,
  candidates: readonly OpenClaim[],
  seen?: Snapshot,
): Promise<ForeignClaims> {
  const paths = candidates.map(({ path }) => path);
  const looking = Promise.all([
    sidesNow(scene, found, session),
    seen ?? takeSnapshot(place.top, { paths, timeoutMs: lookingTime(scene), now: scene.now }),
  ]);
  const looked = await looking.catch((error: unknown) => {
    scene.log('open', `whose the files are is told by the ledger: ${String(error)}`);
    return undefined;
  });
  if (looked === undefined)
    return { claims: claimsByLedger(scene, place, session, candidates), isByLedger: true };
  const [sides, snapshot] = looked;
  const open: OpenClaim[] = [];
  for (const claim of candidates) {
    const dirty = snapshot.dirty.get(claim.path);
    if (dirty === undefined || isCommitted(claim, dirty.head)) {
      const why = dirty === undefined ? 'clean' : 'committed';
      appendEntries(place, claim.session, [{ t: 'end', path: claim.path, why, at: scene.now }]);
    } else if (sides.foreign.has(claim.session)) open.push(claim);
  }
  return { claims: open, isByLedger: false };
}

/** The same without git. */
export function claimsByLedger(
  scene: Scene,
  place: WorkPlace,
  session: SessionId,
  candidates: readonly OpenClaim[],
): OpenClaim[] {
  const { all } = openLedgers(place, session);
  const alive = aliveBeside(scene, place, session, all);
  return candidates.filter((claim) => alive.has(claim.session) && isChanged(place.top, claim));
}
