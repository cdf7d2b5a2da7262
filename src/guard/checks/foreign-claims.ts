import { withRevived } from '../../domain/ledger/claim-ends.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { type Sides, claimsOn } from '../../domain/ledger/ownership.ts';
import type { Snapshot } from '../../domain/ledger/snapshot.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { settledClaims } from '../../changes/settle-claims.ts';
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
  const ledgers = withRevived(known, (path) => snapshot.dirty.get(path)?.disk);
  const claims = paths
    .flatMap((path) => claimsOn(path, ledgers, sides, snapshot.dirty.get(path)?.head).foreign)
    .filter(({ session, path }) => !ended.includes(`${session} ${path}`));
  return { claims, sides };
}
