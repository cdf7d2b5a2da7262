import type { LedgerEntry } from '../../../domain/ledger/claims.ts';
import type { Share } from '../../../domain/ledger/shares.ts';
import { appendEntries, readLedger } from '../../../changes/ledger.ts';
import type { CommitScene } from './scene.ts';

/** Puts on record what was named and is nobody's: naming a path is claiming it. */
export function claimNamed(scene: CommitScene, shares: readonly Share[], now: number): void {
  const { place, lone } = scene.work;
  if (place === undefined || lone?.session === scene.self) return;
  const entries = shares
    .filter(({ mine }) => !mine.some(({ weak }) => !weak))
    .map(({ dirty }): LedgerEntry => {
      const { path, head, disk } = dirty;
      const change = { base: head, before: head, after: disk };
      return { t: 'claim', path, ...change, evidence: 'explicit', weak: false, at: now };
    });
  appendEntries(place, scene.self, entries);
}

/** Notes that what was claimed is committed, where nothing was changed since it was looked at. */
export function endClaims(scene: CommitScene, paths: Iterable<string>, now: number): void {
  const { place, ledgers } = scene.work;
  if (place === undefined) return;
  const committed = [...paths];
  for (const session of scene.owners) {
    const seen = ledgers.find((ledger) => ledger.session === session)?.claims;
    const current = readLedger(place, session).claims;
    const over = committed.filter((path) => {
      const claim = current.get(path);
      return claim !== undefined && claim.at === (seen?.get(path)?.at ?? now);
    });
    appendEntries(
      place,
      session,
      over.map((path): LedgerEntry => ({ t: 'end', path, why: 'committed', at: now })),
    );
  }
}
