import type { Oid } from '../names.ts';

/** What is at a path; `null`: nothing. `oid` is `null` if the content was not read (too big, a submodule). */
export type FileState = { readonly mode: string; readonly oid: Oid | null } | null;

/** File times lag behind the clock by up to a tick of the kernel. Milliseconds. */
export const CLOCK_SLACK_MS = 20;

/**
 * How we know of a change: `explicit`, a file tool (or a person's word) that names the path; `named`, a program in a
 * shell command that writes it by name; `window`, a difference seen around a shell command; `since-start`, what a
 * session that worked alone had changed when the second one arrived.
 */
export type Evidence = (typeof EVIDENCE)[number];

/** Weakest first. */
export const EVIDENCE = ['since-start', 'window', 'named', 'explicit'] as const;

/** Ranks evidence: what proves more has a higher rank. */
export function rankOf(evidence: Evidence): number {
  return EVIDENCE.indexOf(evidence);
}

/** What a session wanted to do with another's uncommitted work, when it was refused. */
export const WISHES = ['edit', 'commit', 'discard', 'stash', 'switch'] as const;
export type Wish = (typeof WISHES)[number];

/** Whether two states of a path are the same. Content that was not read is never the same. */
export function sameState(a: FileState, b: FileState): boolean {
  if (a === null || b === null) return a === b;
  return a.oid !== null && a.oid === b.oid && a.mode === b.mode;
}
