import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { type Sides, claimsOn } from '../../domain/ledger/ownership.ts';
import type { Snapshot } from '../../domain/ledger/snapshot.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { appendEntries } from '../../changes/ledger.ts';
import type { Scene } from '../scene.ts';
import { aliveBeside, isChanged } from './by-ledger.ts';
import { sidesNow } from '../sides-now.ts';
import { type Ledgers, type WorkPlace, lookingTime } from '../../changes/work-place.ts';

/** Claims of other live sessions that are open; no touches. */
export interface ForeignClaims {
  readonly claims: readonly OpenClaim[];
  readonly sides: Sides;
  /** git did not say in time: told by the ledger alone. */
  readonly isByLedger: boolean;
}

/**
 * Claims of other live sessions on paths, by a fresh look at the disk and the live refs; where git does not answer in
 * time, by the ledger.
 */
export async function foreignClaims(
  scene: Scene,
  found: FoundRepository,
  place: WorkPlace,
  ledgers: Ledgers,
  paths: readonly string[],
  seen?: Snapshot,
): Promise<ForeignClaims> {
  const { all, self } = ledgers;
  const looking = Promise.all([
    sidesNow(scene, found, self.session),
    seen ?? takeSnapshot(place.top, { paths, timeoutMs: lookingTime(scene), now: scene.now }),
  ]);
  const looked = await looking.catch((error: unknown) => {
    scene.log('open', `whose the files are is told by the ledger: ${String(error)}`);
    return undefined;
  });
  if (looked === undefined) return claimsByLedger(scene, place, ledgers, paths);
  const [sides, snapshot] = looked;
  const open = paths.flatMap((path) => {
    const dirty = snapshot.dirty.get(path);
    if (dirty !== undefined) return claimsOn(path, all, sides, dirty.head).foreign;
    for (const { session, claims } of all) {
      if (session === self.session || !claims.has(path)) continue;
      appendEntries(place, session, [{ t: 'end', path, why: 'clean', at: scene.now }]);
    }
    return [];
  });
  return { claims: open, sides, isByLedger: false };
}

/** The same without git: a path counts as long as its bytes differ from what HEAD had. */
export function claimsByLedger(
  scene: Scene,
  place: WorkPlace,
  { all, self }: Ledgers,
  paths: readonly string[],
): ForeignClaims {
  const sides = { own: new Set([self.session]), foreign: aliveBeside(scene, place, self.session, all) };
  const bases = all.flatMap(({ claims }) => paths.flatMap((path) => claims.get(path) ?? []));
  const claims = paths.flatMap((path) => {
    const base = bases.find((claim) => claim.path === path)?.base ?? null;
    return isChanged(place.top, { path, base }) ? claimsOn(path, all, sides, base).foreign : [];
  });
  return { claims, sides, isByLedger: true };
}
