import type { SessionId } from '../names.ts';

/** What decides whether somebody may remove a note for good. */
interface PurgeQuestion {
  /** `undefined`: there is none, or the tip cannot be read. */
  readonly owner: SessionId | undefined;
  /** The owner's process is at work. */
  readonly ownerIsLive: boolean;
  /** `undefined`: a person without an address. */
  readonly me: SessionId | undefined;
  readonly isPerson: boolean;
  /** Sessions whose conversation this one carries on. */
  readonly succeeded: readonly SessionId[];
  readonly take: boolean;
}

/**
 * A session removes its own notes. A person removes any, for somebody must be able to, but that of a live session only
 * by saying so.
 */
export function mayPurge({ owner, ownerIsLive, me, isPerson, succeeded, take }: PurgeQuestion): boolean {
  if (take || owner === undefined || owner === me || succeeded.includes(owner)) return true;
  return isPerson && !ownerIsLive;
}
