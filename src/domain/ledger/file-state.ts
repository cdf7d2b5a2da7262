import type { Oid } from '../names.ts';

/** What stands at a path; `null`: nothing. `oid` is `null` when the content was not read (too big, a submodule). */
export type FileState = { readonly mode: string; readonly oid: Oid | null } | null;

/**
 * How we know: a tool or a command that names the path; a difference seen around a shell command; what a session
 * that worked alone had changed when the second one arrived.
 */
export type Evidence = 'explicit' | 'window' | 'since-start';

/** Two states of a path are one. Content that was not read is like nothing else. */
export function sameState(a: FileState, b: FileState): boolean {
  if (a === null || b === null) return a === b;
  return a.oid !== null && a.oid === b.oid && a.mode === b.mode;
}
