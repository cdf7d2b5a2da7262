import type { SessionId } from '../domain/names.ts';
import type { Settings } from '../domain/settings.ts';
import { escapeLine } from '../domain/surfacing.ts';
import type { PushedCommit, PushedRef } from '../git/push-range.ts';
import type { StoredSession } from '../sessions/records.ts';
import type { HookCall } from './hook-call.ts';

/** Who pushes, what is pushed, and who else is at work. */
export interface PushScene {
  readonly call: HookCall;
  readonly settings: Settings;
  /** `undefined`: a person. */
  readonly self: SessionId | undefined;
  /** Other live sessions; empty for a person. */
  readonly foreign: ReadonlySet<SessionId>;
  readonly sessions: readonly StoredSession[];
  /** The remote as the user typed it. */
  readonly remote: string;
  /** The remote's name, if it has remote-tracking refs. */
  readonly tracking: string | undefined;
  readonly refs: readonly PushedRef[];
  /** Commits that name a session and that the remote does not have yet, newest first. */
  readonly commits: readonly PushedCommit[];
}

/** What one check of a push has found. */
export interface PushFinding {
  readonly refused: boolean;
  readonly lines: readonly string[];
}

export const NOTHING: PushFinding = { refused: false, lines: [] };

/** The most commits that one answer names. */
export const MOST_COMMITS = 10;

/** Names a commit in a line of an answer. */
export function titleOf({ oid, summary }: PushedCommit): string {
  return `${oid.slice(0, 7)} "${escapeLine(summary).slice(0, 60)}"`;
}

/** Lines that name commits, each with its maker. */
export function commitLines<Found extends { readonly commit: PushedCommit }>(
  word: string,
  commits: readonly Found[],
  makerOf: (found: Found) => string,
): string[] {
  return commits
    .slice(0, MOST_COMMITS)
    .map((found) => `${word}:   ${titleOf(found.commit)} by ${makerOf(found)}`);
}
