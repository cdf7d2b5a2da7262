import { join } from 'node:path';
import type { OpenClaim } from '../../../domain/ledger/claims.ts';
import { foldLedger } from '../../../domain/ledger/fold.ts';
import { type Snapshot, stagedBetween } from '../../../domain/ledger/snapshot.ts';
import type { SessionId } from '../../../domain/names.ts';
import { lstatOf } from '../../../git/stat.ts';
import { claimsAround } from '../../../changes/window-changes.ts';
import { ARRIVAL, readStart, readWindows } from '../../../changes/windows.ts';
import type { DirtyWork } from '../../../changes/dirty-work.ts';

/** Changes that no ledger has yet: of a session that is alone, and of the commands that run this one. */
export async function unrecordedClaims(
  self: SessionId,
  work: DirtyWork,
  owners: ReadonlySet<SessionId>,
  now: number,
): Promise<OpenClaim[]> {
  const { lone, place, snapshot, ledgers, tree } = work;
  const alone = lone !== undefined && owners.has(lone.session) ? [...lone.claims.values()] : [];
  if (place === undefined) return alone;
  const windows = readWindows(place);
  const changed: OpenClaim[] = [];
  for (const window of windows) {
    // A session's arrival opens a window for those that were here, whether they run a command or not.
    if (window.session !== self || window.id === ARRIVAL) continue;
    const { top } = tree;
    const claims = await claimsAround({ top, window, windows, after: snapshot, ledgers, own: owners, now });
    changed.push(...foldLedger(self, claims).claims.values());
  }
  return [...alone, ...changed];
}

/** Taken out of the index by this session, and still on the disk. */
export function untrackedPaths(self: SessionId, work: DirtyWork, owners: ReadonlySet<SessionId>): string[] {
  const { place, snapshot, ledgers, tree } = work;
  const before: Snapshot[] = [];
  if (place !== undefined) {
    const start = readStart(place, self);
    if (work.lone?.session === self && start !== undefined) before.push(start);
    before.push(...readWindows(place, self).map((window) => window.snapshot));
  }
  const recent = new Set(before.flatMap((then) => stagedBetween(then, snapshot).map(({ path }) => path)));
  const onRecord = (path: string) =>
    ledgers.some(
      ({ session, staged }) => owners.has(session) && staged.get(path)?.some(({ state }) => state === null),
    );
  return [...snapshot.dirty.values()]
    .filter(
      ({ head, index, path }) => head !== null && index === null && (recent.has(path) || onRecord(path)),
    )
    .map(({ path }) => path)
    .filter((path) => lstatOf(join(tree.top, path))?.isFile() === true);
}
