import { escapeLine, Failure, shellWord } from './messages.ts';
import { parseBranchName, type Oid } from './names.ts';
import type { IllegalReason } from './transition.ts';

/**
 * Returns a remote's address without its secrets. It drops the password and what follows a `?`. Except with ssh, it also drops
 * the user's name, which may be a secret itself (`https://<token>@host/`).
 */
export function shownAddress(url: string): string {
  const [, scheme = '', before = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is.exec(url) ?? [];
  if (scheme === '') return url;
  const at = before.lastIndexOf('@');
  const colon = before.indexOf(':');
  const name = scheme.toLowerCase().endsWith('ssh') ? before.slice(0, at) : '***';
  const user = at < 0 ? '' : colon >= 0 && colon < at ? `${name.split(':')[0] ?? ''}:***@` : `${name}@`;
  const query = rest.indexOf('?');
  return `${scheme}://${user}${before.slice(at + 1)}${query < 0 ? rest : `${rest.slice(0, query)}?***`}`;
}

/** Returns the setting `handoff.remotePrefix`; throws a `usage` failure if no handoff may have this prefix. */
export function checkRemotePrefix(text: string): string {
  const isPrefix = /^refs\/.*\/$/.test(text) && parseBranchName(text.slice(0, -1)) !== undefined;
  // Handoffs may not be mixed with branches, tags, git's notes or our own bookkeeping.
  const isTaken = /^refs\/(?:(?:heads|tags|remotes|notes)\/$|handoffs-)/.test(text);
  if (isPrefix && !isTaken) return text;
  throw new Failure(
    'usage',
    `handoff.remotePrefix is not a valid ref prefix: ${escapeLine(JSON.stringify(text))}`,
    {
      hint: 'git config handoff.remotePrefix refs/heads/handoffs/',
    },
  );
}

/** How a remote's handoff relates to ours. */
export type Relation = 'same' | 'ahead' | 'behind' | 'diverged' | 'only-there';

/** What is known of one handoff that a remote shows. */
export interface FoldFacts {
  readonly relation: Relation;
  /** Why the remote's move breaks our rules; `undefined`: it is legal. */
  readonly illegal: IllegalReason | undefined;
  /** Whether it was deleted here on purpose, at the very commit that the remote still has. */
  readonly deletedHere: boolean;
  /** Whether our history has a text that the remote's lacks. */
  readonly hasOwnText: boolean;
}

/**
 * `create`, `forward`: our ref moves to the remote's tip · `follow`: the same, although we have commits of our own, because
 * none of them wrote a text · `set-aside`: the remote's history keeps the name, and ours continues under another name.
 */
export type FoldAction =
  'nothing' | 'create' | 'forward' | 'follow' | 'set-aside' | 'leave-deleted' | 'refuse';

/** Decides what a remote's handoff does to ours. An illegal move at the remote changes nothing here. */
export function decideFold({ relation, illegal, deletedHere, hasOwnText }: FoldFacts): FoldAction {
  if (relation === 'same' || relation === 'ahead') return 'nothing';
  if (illegal !== undefined) return 'refuse';
  if (relation === 'behind') return 'forward';
  if (relation === 'only-there') return deletedHere ? 'leave-deleted' : 'create';
  return hasOwnText ? 'set-aside' : 'follow';
}

interface PushFacts {
  readonly tip: Oid;
  /** What the remote shows now, and what it showed when it was last asked. */
  readonly shown: Oid | undefined;
  readonly tracked: Oid | undefined;
  /** Whether our tip descends from `tracked`; needed only if they differ. */
  readonly isAhead: boolean;
  /** Whether a handoff that was deleted at the remote may be pushed again. */
  readonly restore: boolean;
}

/**
 * `push` · `current`: the remote has our tip · `deleted-there`: somebody deleted it at the remote · `behind`: the remote has
 * moved on since it was last fetched · `blocked`: ours does not descend from the remote's.
 */
type PushAction = 'push' | 'current' | 'deleted-there' | 'behind' | 'blocked';

/** Decides whether to push; nothing is ever forced, and what was deleted at the remote does not return by itself. */
export function decidePush({ tip, shown, tracked, isAhead, restore }: PushFacts): PushAction {
  if (shown === tip) return 'current';
  if (shown === undefined) return tracked === undefined || restore ? 'push' : 'deleted-there';
  if (shown !== tracked) return 'behind';
  return isAhead ? 'push' : 'blocked';
}

/**
 * Returns the command that deletes refs of a remote if they have not moved since we saw them. It skips our own pre-push
 * hook, which refuses every deletion of a handoff: whoever types this command has decided.
 */
export function deletionOnRemote(
  remote: string,
  refs: readonly { readonly ref: string; readonly oid: string }[],
): string {
  const leases = refs.map(({ ref, oid }) => shellWord(`--force-with-lease=${ref}:${oid}`));
  const names = refs.map(({ ref }) => shellWord(`:${ref}`));
  return ['git push --no-verify', ...leases, shellWord(remote), ...names].join(' ');
}
