import { sameState, type FileState } from './file-state.ts';
import type { StagedPath } from './mixing.ts';

/** What a merge, pick, revert or squash that is being finished has put into the index by itself. */
export interface Finishing {
  /** What its own commits make of each path that they change; several for several heads. */
  readonly made: ReadonlyMap<string, readonly FileState[]>;
  /** What git merged for it, where that differs from HEAD; `undefined`: not known to be this operation's. */
  readonly merged: ReadonlyMap<string, FileState> | undefined;
  /** Paths that were in conflict: whatever stands there now is how they were resolved. */
  readonly resolved: ReadonlySet<string>;
}

/** Whether the operation itself staged this: it is nobody's uncommitted work. Everything else is judged as ever. */
export function isOfOperation({ path, index }: StagedPath, { made, merged, resolved }: Finishing): boolean {
  if (resolved.has(path)) return true;
  const states = made.get(path);
  if (states === undefined) return false;
  const result = merged?.get(path);
  if (result !== undefined) return sameState(result, index);
  return states.some((state) => sameState(state, index));
}
