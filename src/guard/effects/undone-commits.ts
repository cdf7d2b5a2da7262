import type { LedgerEntry } from '../../domain/ledger/claims.ts';
import { sameState } from '../../domain/ledger/file-state.ts';
import type { DirtyPath, Snapshot } from '../../domain/ledger/snapshot.ts';
import { type SessionId, meantId } from '../../domain/names.ts';
import { isAncestor } from '../../git/push-range.ts';
import { undonePaths } from '../../git/undone-commits.ts';
import { statesAt } from '../../changes/window-changes.ts';
import { type Ledgers, type WorkPlace, lookingTime } from '../../changes/work-place.ts';
import type { TreeCall } from '../call.ts';

/**
 * A command has moved HEAD back over commits and left their files as they are (`git reset --soft`, `--mixed`): what was
 * committed is uncommitted work again, of the session that each commit names; beside what was uncommitted there already.
 */
export async function undoneClaims(
  call: TreeCall,
  place: WorkPlace,
  { all, self }: Ledgers,
  before: Snapshot,
  after: Snapshot,
): Promise<Map<SessionId, LedgerEntry[]>> {
  const claims = new Map<SessionId, LedgerEntry[]>();
  const [from, to] = [after.head.oid, before.head.oid];
  const kept = [...after.dirty.values()].filter((one) => isKept(one, before.dirty.get(one.path)));
  if (from === null || to === null || from === to || kept.length === 0) return claims;
  const undone = await undonePaths(place.top, from, to, lookingTime(call));
  const found = kept.filter(({ path }) => undone.has(path));
  if (found.length === 0) return claims;
  const options = { cwd: place.top, timeoutMs: lookingTime(call) };
  // Where HEAD has gained something besides, what is left of the former one's change is not known.
  const isBack = found.some(({ path }) => before.dirty.has(path)) && (await isAncestor(options, from, to));
  const was = await statesAt(
    place.top,
    to,
    found.map(({ path }) => path),
    lookingTime(call),
  );
  const sessions = [self.session, ...all.map(({ session }) => session)];
  for (const { path, head, disk } of found) {
    const owner = undone
      .get(path)
      ?.map((id) => meantId(id, sessions))
      .find((id) => id !== undefined);
    const stood = was.get(path);
    if (owner === undefined || stood === undefined || sameState(stood, head)) continue;
    const isFresh = !before.dirty.has(path);
    if (isFresh ? !sameState(stood, disk) : !isBack || hasClaim(all, owner, path)) continue;
    const change = { path, base: head, before: head, after: stood };
    const claim = { t: 'claim', ...change, evidence: 'explicit', weak: false, at: call.now } as const;
    claims.set(owner, [...(claims.get(owner) ?? []), claim]);
  }
  return claims;
}

/** The file is as it was, and HEAD has something else there now. */
const isKept = ({ head, disk }: DirtyPath, then: DirtyPath | undefined): boolean =>
  then === undefined || (sameState(disk, then.disk) && !sameState(head, then.head));

const hasClaim = (all: Ledgers['all'], owner: SessionId, path: string): boolean =>
  all.some(({ session, claims }) => session === owner && claims.has(path));
