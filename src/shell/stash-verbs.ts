import type { Oid, SessionId } from '../domain/names.ts';
import { type GitVerbCall, UNKNOWN } from './effects.ts';
import { parseOptions } from './options.ts';
import { pushWords } from './tree-verbs.ts';

/** What a git-stash(1) command does with the list that all worktrees share. */
interface StashUse {
  readonly action: 'push' | 'pop' | 'apply' | 'drop' | 'clear' | 'branch';
  /** The place of the named entry; `undefined` when none is named, which means the newest. */
  readonly index: number | undefined;
  /** Whether the entry is named by its commit, which stays the same whatever happens to the list. */
  readonly byName: boolean;
}

/** Returns `undefined` for what leaves the list alone (`list`, `show`), and for what is unknown. */
export function stashUse({ verb, words }: GitVerbCall): StashUse | undefined {
  if (verb !== 'stash') return undefined;
  const known = words.map((word) => word ?? UNKNOWN);
  if (pushWords(known) !== undefined) return { action: 'push', index: undefined, byName: false };
  const [action, ...rest] = known;
  if (action === 'clear') return { action, index: undefined, byName: false };
  const { operands } = parseOptions(rest, {});
  const named = action === 'branch' ? operands[1] : operands[0];
  if (action !== 'pop' && action !== 'apply' && action !== 'drop' && action !== 'branch') return undefined;
  if (named === undefined) return { action, index: undefined, byName: false };
  const place = /^(?:(?:refs\/)?stash@\{(\d{1,6})\}|(\d{1,6}))$/.exec(named);
  const number = place?.[1] ?? place?.[2];
  return number === undefined
    ? { action, index: undefined, byName: !/^(?:refs\/)?stash$/.test(named) }
    : { action, index: Number(number), byName: false };
}

/** An entry of the list, with the session that made it; `undefined` when there is no record of that. */
interface OwnedEntry {
  readonly oid: Oid;
  readonly owner: SessionId | undefined;
}

/** The session that asks, and the other sessions at work. */
interface StashSessions {
  readonly own: ReadonlySet<SessionId>;
  readonly live: ReadonlySet<SessionId>;
}

/** A use that is refused, with the entries that it would hit. */
export interface RefusedUse {
  readonly use: StashUse;
  readonly entries: readonly OwnedEntry[];
}

/**
 * Returns the first use of an entry that is not the session's own. Without a name git takes the newest entry, whoever
 * made it. By number, only a live session's entry is protected, and only from removal.
 *
 * @param pushes whether a push in the command will make an entry (git makes none when there is nothing to stash)
 */
export function decideStash(
  uses: readonly StashUse[],
  list: readonly OwnedEntry[],
  { own, live }: StashSessions,
  pushes: boolean,
): RefusedUse | undefined {
  // What the command itself pushes is the session's own. It has no object name yet.
  let entries: (OwnedEntry | 'new')[] = [...list];
  for (const use of uses) {
    if (use.action === 'push') {
      if (pushes) entries = ['new', ...entries];
      continue;
    }
    if (use.byName) continue;
    const meant = use.action === 'clear' ? entries : entries.slice(use.index ?? 0, (use.index ?? 0) + 1);
    const removes = use.action !== 'apply';
    const foreign = meant
      .filter((entry) => entry !== 'new')
      .filter(({ owner }) => {
        if (owner !== undefined && own.has(owner)) return false;
        return use.index === undefined || (removes && owner !== undefined && live.has(owner));
      });
    if (foreign.length > 0) return { use, entries: foreign };
    if (removes) entries = entries.filter((entry) => !meant.includes(entry));
  }
  return undefined;
}
