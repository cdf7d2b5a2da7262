import { type Sides, claimsOn, strong } from '../../../domain/ledger/ownership.ts';
import type { Share, Shares } from '../../../domain/ledger/shares.ts';
import { isUpToDate } from '../../../domain/ledger/stale.ts';
import type { SessionId } from '../../../domain/names.ts';
import { hashFiles, scratchStore } from '../../../git/scratch-store.ts';
import type { DirtyWork } from '../../../changes/dirty-work.ts';
import { findStale, withUndone } from '../../../changes/stale-paths.ts';
import { readWindows } from '../../../changes/windows.ts';

/**
 * The shares with files told apart that are older than HEAD, or hold another session's commit that HEAD has left behind:
 * they go in as HEAD has them, with this session's hunks; without any they stay out.
 */
export async function withoutStale(
  self: SessionId,
  work: DirtyWork,
  shares: Shares,
  sides: Sides,
): Promise<Shares> {
  const { top, gitDir, commonDir } = work.tree;
  const known = shares.whole.map((share) => ({ share, candidate: candidateOf(share) }));
  const doubtful = known.filter(({ candidate }) => !isUpToDate(candidate)).map(({ candidate }) => candidate);
  if (doubtful.length === 0) return shares;
  const paths = doubtful.map(({ path }) => path);
  const oids = await hashFiles(top, paths, { scratch: scratchStore(commonDir) });
  const candidates = doubtful.map((one) => {
    const oid = oids.get(one.path);
    return one.next === null || oid === undefined ? one : { ...one, next: { ...one.next, oid } };
  });
  const windows = work.place === undefined ? [] : readWindows(work.place, self);
  const { head } = work.snapshot;
  const last = work.ledgers.find(({ session }) => session === self)?.head;
  const seen = [last, ...windows.map(({ snapshot }) => snapshot.head)].map((at) => at?.oid ?? null);
  const { stale, undone } = await findStale({ cwd: top, gitDir, commonDir, head, seen, sides }, candidates);
  const ledgers = withUndone(work.ledgers, undone, sides, candidates);
  const whole: Share[] = [];
  const contended = [...shares.contended];
  const refused = [...shares.refused];
  const left = [...shares.left];
  for (const share of shares.whole) {
    const { path } = share.dirty;
    const isLeft = undone.some((change) => change.path === path);
    const others = isLeft ? strong(claimsOn(path, ledgers, sides, share.dirty.head).foreign) : [];
    const [claim] = others;
    if (claim === undefined && !stale.has(path)) whole.push(share);
    else if (share.mine.length > 0) contended.push({ ...share, others });
    else if (claim === undefined) left.push({ path, owner: undefined });
    else refused.push({ path, claim });
  }
  return { whole, contended, refused, left };
}

const candidateOf = ({ dirty, mine }: Share) => ({
  path: dirty.path,
  head: dirty.head,
  next: dirty.disk,
  own: mine,
});
