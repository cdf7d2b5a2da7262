/** The git verbs that may reach over uncommitted work (`treeReach`). Apart from what judges them, which few calls need. */
const TREE_VERBS = [
  'switch',
  'checkout',
  'restore',
  'reset',
  'stash',
  'clean',
  'rm',
  'mv',
  'rebase',
  'pull',
  'merge',
  'cherry-pick',
  'revert',
  'am',
  'apply',
  'bisect',
  'read-tree',
  'checkout-index',
  'symbolic-ref',
  'fast-import',
  // None of git's: a program that commits everything there is (`jj new`).
  'snapshot',
] as const;

export type TreeVerb = (typeof TREE_VERBS)[number];

/** Whether a git verb may change the files of a working tree in bulk. */
export function isTreeVerb(verb: string): verb is TreeVerb {
  return TREE_VERBS.some((name) => name === verb);
}

/** Whether a git verb may destroy uncommitted work, a whole working tree included. */
export const changesTree = (verb: string): boolean => isTreeVerb(verb) || verb === 'worktree';
