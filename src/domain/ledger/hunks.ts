import type { Oid } from '../names.ts';
import { chainChanges } from './ownership.ts';
import type { OpenClaim, PathChange } from './claims.ts';
import { sameState, type FileState } from './tree-status.ts';

/**
 * The facts that decide how to apply one session's hunks to HEAD's content, where another session has changed the path, too.
 * This file looks only at the claims; git merges the contents (src/git/merge-file.ts).
 */
interface HunkFacts {
  readonly head: FileState;
  readonly disk: FileState;
  readonly mine: readonly OpenClaim[];
  readonly others: readonly OpenClaim[];
}

/** One change to apply; `null`: no file, which is merged like an empty one. */
interface HunkStep {
  readonly before: Oid | null;
  readonly after: Oid | null;
}

export type HunkPlan =
  /** Apply the steps to the content `start`, in order; the result has this mode. */
  | {
      readonly kind: 'apply';
      readonly start: Oid | null;
      readonly steps: readonly HunkStep[];
      readonly mode: string;
    }
  /** All sessions removed the file. */
  | { readonly kind: 'removed' }
  | { readonly kind: 'overlap' }
  /** Some content was too big to be kept, or is no text: a symbolic link, a submodule. */
  | { readonly kind: 'unknown' };

/** Plans what has to be merged for a session's share of a contended path. */
export function planHunks({ head, disk, mine, others }: HunkFacts): HunkPlan {
  const base = mine[0]?.base ?? null;
  const changes = chainChanges(base, mine).filter(({ before, after }) => !sameState(before, after));
  const states = [head, disk, ...changes.flatMap(({ before, after }) => [before, after])];
  if (changes.at(-1)?.after === null) {
    const allRemoved = disk === null && others.every(({ after }) => after === null);
    return { kind: allRemoved ? 'removed' : 'overlap' };
  }
  if (disk === null) return { kind: 'overlap' };
  if (states.some(isUnreadable)) return { kind: 'unknown' };
  const steps = changes
    .map(({ before, after }) => ({ before: before?.oid ?? null, after: after?.oid ?? null }))
    .filter(({ before, after }) => before !== after);
  return { kind: 'apply', start: head?.oid ?? null, steps, mode: modeOf(head, disk, changes) };
}

/** Returns the object names of the contents that a plan needs. */
export function contentsOf(plan: Extract<HunkPlan, { kind: 'apply' }>): Oid[] {
  const names = [plan.start, ...plan.steps.flatMap(({ before, after }) => [before, after])];
  return [...new Set(names.filter((name) => name !== null))];
}

function isUnreadable(state: FileState): boolean {
  return state !== null && (state.oid === null || !state.mode.startsWith('100'));
}

/** Returns the mode that the session gave the file, else HEAD's, else (for a new file) the one on the disk. */
function modeOf(head: FileState, disk: NonNullable<FileState>, changes: readonly PathChange[]): string {
  const given = changes.filter(({ before, after }) => before !== null && after?.mode !== before.mode);
  return given.at(-1)?.after?.mode ?? head?.mode ?? disk.mode;
}
