import type { Share, Shares } from '../../../domain/ledger/shares.ts';
import { isUpToDate } from '../../../domain/ledger/stale.ts';
import type { SessionId } from '../../../domain/names.ts';
import { hashFiles, scratchStore } from '../../../git/scratch-store.ts';
import type { DirtyWork } from '../../../changes/dirty-work.ts';
import { findStale } from '../../../changes/stale-paths.ts';
import { readWindows } from '../../../changes/windows.ts';

/**
 * The shares with files told apart that are older than HEAD: they go in as HEAD has them, with this session's hunks;
 * without any they stay out.
 */
export async function withoutStale(self: SessionId, work: DirtyWork, shares: Shares): Promise<Shares> {
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
  const { stale } = await findStale({ cwd: top, gitDir, commonDir, head, seen }, candidates);
  const isStale = ({ dirty }: Share) => stale.has(dirty.path);
  const old = shares.whole.filter(isStale);
  return {
    ...shares,
    whole: shares.whole.filter((share) => !isStale(share)),
    contended: [...shares.contended, ...old.filter(({ mine }) => mine.length > 0)],
    left: [
      ...shares.left,
      ...old
        .filter(({ mine }) => mine.length === 0)
        .map(({ dirty }) => ({ path: dirty.path, owner: undefined })),
    ],
  };
}

const candidateOf = ({ dirty, mine }: Share) => ({
  path: dirty.path,
  head: dirty.head,
  next: dirty.disk,
  own: mine,
});
