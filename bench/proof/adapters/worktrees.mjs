/** One `git worktree` and branch for each session and sub-agent, and nothing else. */
import { adapter as nothing } from './nothing.mjs';

/** @type {import('../adapter.mjs').Adapter} */
export const adapter = {
  ...nothing,
  name: 'worktrees',
  ownWorktrees: true,
  refused: ({ stderr }) => /is already (?:checked out|used by worktree) at/.test(stderr),
};
