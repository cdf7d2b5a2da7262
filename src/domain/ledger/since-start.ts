import type { SessionId } from '../names.ts';
import type { OpenClaim } from './claims.ts';
import { type WindowChange, type TreeStatus, changesBetween } from './tree-status.ts';

/**
 * What a session that worked alone has changed since it began, by itself or the user, as claims by path.
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
 * A session that worked alone ends, or its client dies, and goes on later: what it had changed is still its own, what
 * others did in the break is not. `start` is its start list, `pause` the working tree when the break began.
 */

/**
 * The start list with which the session goes on: as nobody's also counts what changed in the break, but for what the
 * session had changed before on the same branch. `undefined`: nobody knows, and its list starts again.
 *
 * @param pause `undefined` when nobody looked then: all of the break counts as the session's
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

/** What the session had changed when the break began and is still in the working tree. */
export function changesLeft(start: TreeStatus, pause: TreeStatus, now: TreeStatus): WindowChange[] {
  const own = ownPaths(start, pause, now);
  const moved = new Set(changesBetween(pause, now).map(({ path }) => path));
  return changesBetween(start, pause).filter(
    ({ path }) => now.dirty.has(path) && (own.has(path) || !moved.has(path)),
  );
}

/** Whose changes count although they were changed further: on another branch the same path is another file. */
function ownPaths(start: TreeStatus, pause: TreeStatus, now: TreeStatus): ReadonlySet<string> {
  if (pause.head.ref !== now.head.ref) return new Set();
  return new Set(changesBetween(start, pause).map(({ path }) => path));
}
