import { withRevived } from '../../domain/ledger/claim-ends.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { type Sides, claimsOn } from '../../domain/ledger/ownership.ts';
import type { Snapshot } from '../../domain/ledger/snapshot.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { settledClaims } from '../../changes/settle-claims.ts';
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
  // Of what was not looked at nothing is known.
  const asked = new Set(paths);
  const only = <T>(claims: ReadonlyMap<string, T>) =>
    new Map([...claims].filter(([path]) => asked.has(path)));
  const known = all.map((one) => ({ ...one, claims: only(one.claims), ended: only(one.ended) }));
  const settled = await settledClaims(place, known, snapshot, { timeoutMs: lookingTime(scene) });
  for (const [owner, entries] of settled) appendEntries(place, owner, entries);
  const ended = [...settled].flatMap(([owner, entries]) =>
    entries.flatMap((entry) => (entry.t === 'end' ? [`${owner} ${entry.path}`] : [])),
  );
  const shown = withRevived(known, (path) => snapshot.dirty.get(path));
  const claims = paths
    .flatMap((path) => claimsOn(path, shown, sides, snapshot.dirty.get(path)?.head).foreign)
    .filter(({ session, path }) => !ended.includes(`${session} ${path}`));
  return { claims, sides, isByLedger: false };
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
