import type { Oid } from '../names.ts';
import { shellWord } from '../surfacing.ts';

/** What decides whether a handoff is pushed. */
interface PushFacts {
  /** Our tip. */
  readonly tip: Oid;
  /** What the remote shows now, and what it showed when it was last asked. */
  readonly shown: Oid | undefined;
  readonly tracked: Oid | undefined;
  /** Whether ours goes on from `tracked`; told only where the two differ. */
  readonly isAhead: boolean;
  /** Whether what was deleted there may be put back. */
  readonly restore: boolean;
}

/**
 * `push` · `current`: it is there · `deleted-there`: somebody deleted it at the remote · `behind`: the remote has moved
 * on since it was last fetched · `blocked`: ours does not go on from the remote's.
 */
type PushAction = 'push' | 'current' | 'deleted-there' | 'behind' | 'blocked';

/** Decides about one handoff; nothing is ever forced, and what was deleted at the remote does not return by itself. */
export function decidePush({ tip, shown, tracked, isAhead, restore }: PushFacts): PushAction {
  if (shown === tip) return 'current';
  if (shown === undefined) return tracked === undefined || restore ? 'push' : 'deleted-there';
  if (shown !== tracked) return 'behind';
  return isAhead ? 'push' : 'blocked';
}

/**
 * The command that deletes refs of a remote, if they still are what was seen. Our own pre-push hook refuses every deletion of a
 * handoff: whoever types this has decided.
 */
export function deletionOnRemote(
  remote: string,
  refs: readonly { readonly ref: string; readonly oid: string }[],
): string {
  const leases = refs.map(({ ref, oid }) => shellWord(`--force-with-lease=${ref}:${oid}`));
  const names = refs.map(({ ref }) => shellWord(`:${ref}`));
  return ['git push --no-verify', ...leases, shellWord(remote), ...names].join(' ');
}
