import { markerOwner } from './marker.ts';
import type { SessionId } from './names.ts';

/** A guarded file that no longer has the content that was seen last. */
interface GuardedChange {
  /** What was seen last. */
  readonly before: string;
  /** What stands there now; `undefined` when the file is gone. */
  readonly now: string | undefined;
  /** The same change was told of before: somebody means it. */
  readonly toldBefore: boolean;
}

/**
 * `accept`: the owner's own, or nobody's file · `tell`: changed outside the guard, owner still named ·
 * `restore`: the owner's mark or the whole file is gone: the former text goes back.
 */
type GuardedChangeDecision = 'accept' | 'tell' | 'restore';

/** What to do about such a change when `session` (or a person) is the first to notice it. */
export function decideGuardedChange(
  change: GuardedChange,
  session: SessionId | undefined,
): GuardedChangeDecision {
  const owner = markerOwner(change.before);
  if (owner === undefined || owner === session || change.toldBefore) return 'accept';
  return change.now !== undefined && markerOwner(change.now) === owner ? 'tell' : 'restore';
}
