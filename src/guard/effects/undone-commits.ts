import type { LedgerEntry } from '../../domain/ledger/claims.ts';
import { sameState } from '../../domain/ledger/file-state.ts';
import { isMaker } from '../../domain/ledger/ownership.ts';
import type { DirtyPath, Snapshot } from '../../domain/ledger/snapshot.ts';
import { type SessionId, meantId } from '../../domain/names.ts';
import { isAncestor } from '../../git/push-range.ts';
import { pastChanges } from '../../git/staged.ts';
import { type Ledgers, type WorkPlace, lookingTime } from '../../changes/work-place.ts';
import type { TreeCall } from '../call.ts';

/**
 * A command has moved HEAD back over commits and left their files as they are (`git reset --soft`, `--mixed`): what was
 * committed is uncommitted work again, of the sessions that made the commits; beside what was uncommitted there already.
 */
export async function undoneClaims(
  call: TreeCall,
  { top }: WorkPlace,
  { all, self }: Ledgers,
  before: Snapshot,
  after: Snapshot,
): Promise<Map<SessionId, LedgerEntry[]>> {
  const claims = new Map<SessionId, LedgerEntry[]>();
  const [from, to] = [after.head.oid, before.head.oid];
  const kept = [...after.dirty.values()].filter((one) => isKept(one, before.dirty.get(one.path)));
  if (from === null || to === null || from === to || kept.length === 0) return claims;
  const timeoutMs = lookingTime(call);
  // What a merge brought along is its session's.
  const undone = await pastChanges(top, ['--first-parent', `${from}..${to}`], [], timeoutMs);
  // Where HEAD has gained something besides, what is left of the former one's change is not known.
  const isBack =
    kept.some(({ path }) => before.dirty.has(path)) &&
    (await isAncestor({ cwd: top, timeoutMs: lookingTime(call) }, from, to));
  const ledgers = [self, ...all.filter(({ session }) => session !== self.session)];
  const sessions = ledgers.map(({ session }) => session);
  const isOf = (session: SessionId, id: string) => meantId(id, sessions) === session;
  for (const { path, head, disk } of kept) {
    const changes = undone.filter((change) => change.path === path);
    const stood = changes[0]?.index;
    const isFresh = !before.dirty.has(path);
    if (stood === undefined || sameState(stood, head) || (isFresh ? !sameState(stood, disk) : !isBack))
      continue;
    const made = changes.reverse().flatMap((change) => {
      const maker = ledgers.find((ledger) => isMaker(ledger, change, isOf));
      return maker === undefined ? [] : [{ maker, after: change.index }];
    });
    // What nobody's commits changed goes with the commits around them.
    for (const [n, { maker, after: own }] of made.entries()) {
      if (!isFresh && maker.claims.has(path)) continue;
      const [was, is] = [n === 0 ? head : (made[n - 1]?.after ?? null), n === made.length - 1 ? stood : own];
      const change = { path, base: head, before: was, after: is };
      const claim = { t: 'claim', ...change, evidence: 'explicit', weak: false, at: call.now } as const;
      claims.set(maker.session, [...(claims.get(maker.session) ?? []), claim]);
    }
  }
  return claims;
}

/** The file is as it was, and HEAD has something else there now. */
const isKept = ({ head, disk }: DirtyPath, then: DirtyPath | undefined): boolean =>
  then === undefined || (sameState(disk, then.disk) && !sameState(head, then.head));
