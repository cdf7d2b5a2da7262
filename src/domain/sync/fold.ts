import type { IllegalReason } from '../transition.ts';

/** How a remote's handoff stands to ours. */
export type Relation = 'same' | 'ahead' | 'behind' | 'diverged' | 'only-there';

/** What is known of one handoff that a remote shows. */
export interface FoldFacts {
  readonly relation: Relation;
  /** Why the remote's move to there is none of ours; `undefined`: it is legal. */
  readonly illegal: IllegalReason | undefined;
  /** It was deleted here on purpose, at the very commit that the remote still has. */
  readonly deletedHere: boolean;
  /** Ours has a text that the remote's history has not. */
  readonly hasOwnText: boolean;
}

/**
 * `create`, `forward`: ours becomes the remote's · `follow`: the same although ours has steps of its own, for none of
 * them wrote anything · `set-aside`: the remote's keeps the name, ours goes on under another one.
 */
export type FoldAction =
  | { readonly kind: 'nothing' | 'create' | 'forward' | 'follow' | 'set-aside' | 'leave-deleted' }
  | { readonly kind: 'refuse'; readonly reason: IllegalReason };

/** Decides what a remote's handoff does to ours. What moved illegally there changes nothing here. */
export function decideFold({ relation, illegal, deletedHere, hasOwnText }: FoldFacts): FoldAction {
  if (relation === 'same' || relation === 'ahead') return { kind: 'nothing' };
  if (illegal !== undefined) return { kind: 'refuse', reason: illegal };
  if (relation === 'behind') return { kind: 'forward' };
  if (relation === 'only-there') return { kind: deletedHere ? 'leave-deleted' : 'create' };
  return { kind: hasOwnText ? 'set-aside' : 'follow' };
}
