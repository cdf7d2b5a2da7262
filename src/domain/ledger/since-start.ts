import type { SessionId } from '../names.ts';
import type { OpenClaim } from './claims.ts';
import { type WindowChange, type TreeStatus, changesBetween } from './tree-status.ts';

/**
 * Returns what a session that worked alone, or its user, has changed since it began, as claims by path.
 *
 * @param at when a path was changed, as far as that is known; milliseconds since the epoch
 */
export function sinceStart(
  session: SessionId,
  changes: readonly Omit<WindowChange, 'wasDirty'>[],
  at: (path: string) => number,
): Map<string, OpenClaim> {
  const claims = changes.map(({ path, base, before, after }): OpenClaim => {
    const sure = { evidence: 'since-start', weak: false } as const;
    const times = { since: at(path), at: at(path) };
    return { session, path, base, changes: [{ before, after }], after, committed: [], ...sure, ...times };
  });
  return new Map(claims.map((claim) => [claim.path, claim]));
}

/**
 * A session that worked alone ends, or its client dies, and it continues later: what it had changed is still its own,
 * what others did in the break is not. `start` is its start list, `pause` the working tree when the break began.
 */

/**
 * Returns the start list with which the session continues: what changed in the break counts as nobody's, too, unless
 * the session had changed it before on the same branch. `undefined`: that is not known, and the list starts again.
 *
 * @param pause `undefined` if nobody looked then: all changes of the break count as the session's
 */
export function resumedStart(
  start: TreeStatus,
  pause: TreeStatus | undefined,
  now: TreeStatus,
): TreeStatus | undefined {
  if (pause === undefined) return start.head.ref === now.head.ref ? start : undefined;
  const own = ownPaths(start, pause, now);
  const dirty = new Map(start.dirty);
  for (const path of pause.dirty.keys()) if (!now.dirty.has(path)) dirty.delete(path);
  for (const { path } of changesBetween(pause, now)) {
    const found = now.dirty.get(path);
    if (found !== undefined && !own.has(path)) dirty.set(path, found);
  }
  return { head: start.head, dirty, at: now.at };
}

/** Returns what the session had changed when the break began, as far as it is still in the working tree. */
export function changesLeft(start: TreeStatus, pause: TreeStatus, now: TreeStatus): WindowChange[] {
  const own = ownPaths(start, pause, now);
  const moved = new Set(changesBetween(pause, now).map(({ path }) => path));
  return changesBetween(start, pause).filter(
    ({ path }) => now.dirty.has(path) && (own.has(path) || !moved.has(path)),
  );
}

/** Returns the session's paths, its own even if changed further; on another branch a path is another file. */
function ownPaths(start: TreeStatus, pause: TreeStatus, now: TreeStatus): ReadonlySet<string> {
  if (pause.head.ref !== now.head.ref) return new Set();
  return new Set(changesBetween(start, pause).map(({ path }) => path));
}
