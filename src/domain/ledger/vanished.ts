import type { SessionId } from '../names.ts';
import type { SessionLedger } from './claims.ts';
import { sameState, type DirtyPath, type TreeStatus } from './tree-status.ts';

/**
 * Returns uncommitted work that `before` shows and `after` does not: files that are gone, or are as HEAD has them. It may have
 * been committed meanwhile. Work at `changed` paths is lost, too, because a command replaced it. An untracked file that nobody
 * has claimed is left out: builds and tests make and remove such files all the time.
 */
export function vanishedBetween(
  before: TreeStatus,
  after: TreeStatus,
  ownerOf: (path: string) => SessionId | undefined,
  changed: ReadonlySet<string> = new Set(),
): DirtyPath[] {
  return [...before.dirty.values()].filter((then) => {
    const { path, head, index, disk } = then;
    if (disk === null || disk.oid === null || disk.mode === '160000' || sameState(disk, head)) return false;
    const isUntracked = head === null && index === null;
    if (isUntracked && ownerOf(path) === undefined) return false;
    const now = after.dirty.get(path);
    return now === undefined || now.disk === null || changed.has(path);
  });
}

/** Returns the last status of a working tree, updated with what file tools have changed since. */
export function lastSeen(last: TreeStatus | undefined, ledgers: readonly SessionLedger[]): TreeStatus {
  const dirty = new Map(last?.dirty);
  let seen = last?.at ?? 0;
  for (const { claims } of ledgers) {
    for (const { path, base, after, at } of claims.values()) {
      if (at < (last?.at ?? 0) && dirty.has(path)) continue;
      dirty.set(path, { path, head: base, index: base, disk: after, stamp: '' });
      seen = Math.max(seen, at);
    }
  }
  return { head: last?.head ?? { ref: 'HEAD', oid: null }, dirty, at: seen };
}

/** Returns the session that claims each path. */
export function claimOwners(ledgers: readonly SessionLedger[]): ReadonlyMap<string, SessionId> {
  return new Map(ledgers.flatMap(({ claims, session }) => [...claims.keys()].map((path) => [path, session])));
}
