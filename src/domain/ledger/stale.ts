import type { OpenClaim } from './claims.ts';
import { sameState, type DirtyPath, type FileState } from './tree-status.ts';

/**
 * Whether committing a path would undo what HEAD has gained: HEAD moved, and the index (or the disk) stayed as it was.
 * Pure: if three texts have to be merged, the caller asks git.
 */

/** What HEAD gained at a path, and when; milliseconds since the epoch. */
export interface Gain {
  readonly from: FileState;
  readonly to: FileState;
  readonly at: number;
}

/** A path that is to be committed. */
export interface Candidate {
  readonly path: string;
  readonly head: FileState;
  /** The state that the commit would give the path. */
  readonly next: FileState;
  /** The committing session's own claims. */
  readonly own: readonly OpenClaim[];
}

/** How a state relates to a change: it has the change, lacks it, or changes the same lines in another way. */
export type Bearing = 'has' | 'lacks' | 'conflict';

/** Judges without the contents, as far as possible; `undefined`: three texts have to be merged. */
export function bearing(state: FileState, { from, to }: Gain): Bearing | undefined {
  if (sameState(state, to)) return 'has';
  if (sameState(state, from)) return 'lacks';
  if (state === null || from === null || to === null) return 'conflict';
  if (from.mode !== to.mode && state.mode === from.mode) return 'lacks';
  if (from.oid === to.oid || state.oid === to.oid) return 'has';
  if (state.oid === from.oid) return 'lacks';
  return [state, from, to].every(({ mode, oid }) => mode.startsWith('100') && oid !== null)
    ? undefined
    : 'conflict';
}

/**
 * Returns what HEAD has gained since the session began to change the path, according to its claims. `left`: for each move of
 * HEAD, newest first, the changes of the commits that it left behind, also newest first.
 */
export function claimGains(
  { path, own, head }: Candidate,
  at: number,
  left: readonly (readonly Pick<DirtyPath, 'path' | 'head' | 'index'>[])[] = [],
): Gain[] {
  return own.flatMap(({ base }) => {
    // If HEAD went back, it lost the content that the claim began from: that is no gain.
    const from = left.reduceRight((state, changes) => {
      const behind = changes.filter((change) => change.path === path);
      return behind.some(({ index }) => sameState(index, state)) ? (behind.at(-1)?.head ?? null) : state;
    }, base);
    return sameState(from, head) ? [] : [{ from, to: head, at }];
  });
}

/** Whether the session's changes lead from HEAD's content to the content to commit, so that history need not be read. */
export function isUpToDate({ own, head, next }: Candidate): boolean {
  const isOfHead = (state: FileState = null) => sameState(state, head);
  const isFrom = own.every(({ base, changes }) => isOfHead(base) && isOfHead(changes[0]?.before));
  return isFrom && own.some(({ after }) => sameState(after, next));
}

/** Whether the last change of one of the session's claims turned HEAD's content into exactly the content to commit. */
export function isMeant({ own, head, next }: Candidate): boolean {
  return own.some(({ changes }) => {
    const last = changes.at(-1);
    return last !== undefined && sameState(last.before, head) && sameState(last.after, next);
  });
}

/**
 * Whether the session has changed the path since HEAD moved, and so could see both versions. A command that moved HEAD, or ran
 * when HEAD moved, does not count. A reflog gives the time in whole seconds.
 */
export function isLater({ own }: Candidate, { at }: Gain): boolean {
  return own.some((claim) => (claim.began ?? claim.at) >= at + 1000);
}
