import type { SessionId } from '../names.ts';
import type { PathChange, OpenClaim } from './claims.ts';
import { sameState, type FileState } from './file-state.ts';
import { type PathClaims, strong } from './ownership.ts';
import type { DirtyPath } from './tree-status.ts';

/** Who owns a dirty path, as shown to people: `git handoff status`, `take -- <path>` and `sessions` ask. */

/** `other`: another live session's · `left`: of a session that is over · `contended`: of two live sessions. */
export type BelongsTo = 'mine' | 'other' | 'left' | 'nobody' | 'contended';

export interface Belonging {
  readonly state: BelongsTo;
  /** The claims that show this, one for each session: the asking session's first, then the newest first. */
  readonly claims: readonly OpenClaim[];
  /** Whether all these claims only warn. */
  readonly weak: boolean;
}

/**
 * Judges the open claims on a path. A sure claim outweighs a weak one. Of two equal ones, a live session's outweighs
 * that of a session that is over.
 *
 * @param areOne whether two sessions count as one (the same conversation, one started inside the other)
 */
export function decideBelonging(
  { own, foreign, left }: Pick<PathClaims, 'own' | 'foreign' | 'left'>,
  areOne: (a: SessionId, b: SessionId) => boolean,
): Belonging {
  const live = [...newestFirst(own), ...newestFirst(foreign)];
  const choices = [strong(live), strong(newestFirst(left)), live, newestFirst(left)];
  const claims = choices.find((some) => some.length > 0) ?? [];
  const [first] = claims;
  if (first === undefined) return { state: 'nobody', claims, weak: false };
  const { weak } = first;
  if (left.includes(first)) return { state: 'left', claims, weak };
  if (claims.some(({ session }) => !areOne(session, first.session))) {
    return { state: 'contended', claims, weak };
  }
  return { state: own.includes(first) ? 'mine' : 'other', claims, weak };
}

function newestFirst(claims: readonly OpenClaim[]): OpenClaim[] {
  return [...claims].sort((a, b) => b.at - a.at);
}

/** How a path differs from HEAD; a rename is a deletion and an addition. */
export type ChangeKind = 'added' | 'modified' | 'deleted' | 'type-changed' | 'mode';

/** Returns how the disk differs from HEAD or, if it does not, how the index does. */
export function changeKind({ head, index, disk }: DirtyPath): ChangeKind {
  const now = sameState(disk, head) ? index : disk;
  if (head === null) return 'added';
  if (now === null) return 'deleted';
  if (head.mode.slice(0, 3) !== now.mode.slice(0, 3)) return 'type-changed';
  return head.mode !== now.mode && head.oid === now.oid ? 'mode' : 'modified';
}

/** Whether the index holds a part of the change. */
export function isStaged({ head, index }: DirtyPath): boolean {
  return !sameState(head, index);
}

/**
 * Returns the changes of several claims in the order in which they were made: each begins where the one before it
 * ended, as far as they fit together.
 */
export function chainChanges(base: FileState, claims: readonly OpenClaim[]): PathChange[] {
  const open = [...claims].sort((a, b) => a.since - b.since).flatMap(({ changes }) => changes);
  const chain: PathChange[] = [];
  for (let at = base; open.length > 0; at = chain.at(-1)?.after ?? null) {
    const next = open.findIndex(({ before }) => sameState(before, at));
    chain.push(...open.splice(Math.max(0, next), 1));
  }
  return chain;
}
