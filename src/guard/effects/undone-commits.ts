import type { LedgerEntry } from '../../domain/ledger/claims.ts';
import { sameState } from '../../domain/ledger/file-state.ts';
import type { Snapshot } from '../../domain/ledger/snapshot.ts';
import { type SessionId, meantId } from '../../domain/names.ts';
import { undonePaths } from '../../git/undone-commits.ts';
import { statesAt } from '../../changes/window-changes.ts';
import { type Ledgers, type WorkPlace, lookingTime } from '../../changes/work-place.ts';
import type { Scene } from '../scene.ts';

/**
 * A command has moved HEAD back over commits and left their files as they are (`git reset --soft`, `--mixed`): what was
 * committed is uncommitted work again, of the session that each commit names.
 */
export async function undoneClaims(
  scene: Scene,
  place: WorkPlace,
  { all, self }: Ledgers,
  before: Snapshot,
  after: Snapshot,
): Promise<Map<SessionId, LedgerEntry[]>> {
  const claims = new Map<SessionId, LedgerEntry[]>();
  const [from, to] = [after.head.oid, before.head.oid];
  const fresh = [...after.dirty.values()].filter(({ path }) => !before.dirty.has(path));
  if (from === null || to === null || from === to || fresh.length === 0) return claims;
  const undone = await undonePaths(place.top, from, to, lookingTime(scene));
  const paths = fresh.map(({ path }) => path).filter((path) => undone.has(path));
  const was = await statesAt(place.top, to, paths, lookingTime(scene));
  const sessions = [self.session, ...all.map(({ session }) => session)];
  for (const { path, head, disk } of fresh) {
    const owner = undone
      .get(path)
      ?.map((id) => meantId(id, sessions))
      .find((id) => id !== undefined);
    const stood = was.get(path);
    if (owner === undefined || stood === undefined || !sameState(stood, disk)) continue;
    const change = { path, base: head, before: head, after: disk };
    const claim = { t: 'claim', ...change, evidence: 'named', weak: false, at: scene.now } as const;
    claims.set(owner, [...(claims.get(owner) ?? []), claim]);
  }
  return claims;
}
