import type { SessionId } from '../names.ts';
import type { OpenClaim } from './claims.ts';
import type { WindowChange } from './tree-status.ts';

/**
 * What a session that worked alone has changed since it began, by itself or by hand, as claims by path.
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
