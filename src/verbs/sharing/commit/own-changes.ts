import { join } from 'node:path';
import type { OpenClaim } from '../../../domain/ledger/claims.ts';
import {
  type Snapshot,
  changesBetween,
  stagedBetween,
  windowEvidence,
} from '../../../domain/ledger/snapshot.ts';
import type { SessionId } from '../../../domain/names.ts';
import { lstatOf } from '../../../git/stat.ts';
import { ARRIVAL, readStart, readWindows } from '../../../changes/windows.ts';
import type { DirtyWork } from '../../../changes/dirty-work.ts';

/** Changes that no ledger has yet: of a session that is alone, and of the commands that run this one. */
export function unrecordedClaims(
  self: SessionId,
  work: DirtyWork,
  owners: ReadonlySet<SessionId>,
  now: number,
): OpenClaim[] {
  const { lone, place, snapshot, ledgers } = work;
  const alone = lone !== undefined && owners.has(lone.session) ? [...lone.claims.values()] : [];
  if (place === undefined) return alone;
  // A session's arrival opens a window for those that were here, whether they run a command or not.
  const windows = readWindows(place).filter(({ id }) => id !== ARRIVAL);
  const closed = ledgers.flatMap((ledger) => ledger.windows);
  const running = windows.filter(({ session }) => session === self);
  const changed = running.flatMap((window) => {
    const others = [...windows, ...closed].filter((one) => one.session !== self);
    const sure = windowEvidence({ ...window, to: now }, others);
    return changesBetween(window.snapshot, snapshot).flatMap((change): OpenClaim[] => {
      const { path, base, before, after } = change;
      const named = window.named.some((name) => path === name || path.startsWith(`${name}/`));
      const known = (session: SessionId) =>
        ledgers.some((ledger) => ledger.session === session && ledger.claims.has(path));
      const mine = [...owners].some(known);
      const theirs = ledgers
        .filter(({ session }) => !owners.has(session))
        .flatMap(({ claims }) => claims.get(path) ?? []);
      // What another changed meanwhile is in the difference, too.
      if (theirs.some(({ at }) => at >= window.from)) return [];
      // A formatter does not make another's, or nobody's, file this session's.
      if (!named && !mine && theirs.length === 0 && change.wasDirty) return [];
      const evidence = named ? 'named' : 'window';
      const weak = !named && sure.weak;
      const at = { since: now, at: now };
      return [
        {
          session: self,
          path,
          base,
          changes: [{ before, after }],
          after,
          committed: [],
          evidence,
          weak,
          ...at,
        },
      ];
    });
  });
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
      ({ session, staged }) => owners.has(session) && staged.get(path)?.some((state) => state === null),
    );
  return [...snapshot.dirty.values()]
    .filter(
      ({ head, index, path }) => head !== null && index === null && (recent.has(path) || onRecord(path)),
    )
    .map(({ path }) => path)
    .filter((path) => lstatOf(join(tree.top, path))?.isFile() === true);
}
