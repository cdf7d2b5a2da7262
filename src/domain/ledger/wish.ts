/** What a session wanted to do with another's uncommitted work, when it was refused. */
export const WISHES = ['edit', 'commit', 'discard', 'stash', 'switch'] as const;
export type Wish = (typeof WISHES)[number];
