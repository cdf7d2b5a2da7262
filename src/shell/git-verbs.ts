import { type GitVerbCall, type ShellEffects, isKnown } from './effects.ts';
import { gitOptions, wordsOf } from './git-options.ts';
import { type Options, byName, hasOption, optionValue, parseOptions } from './options.ts';
import { parseConfig } from './programs/git-files.ts';
import type { Oid, SessionId } from '../domain/names.ts';
import { pushWords } from './tree-verbs.ts';

/** What some git calls would do, judging by their words: bypass our hooks, move branches, use stash entries. */

const JUDGING =
  /^(?:core\.hookspath|handoff\.(?:enabled|contention|headcheck|trailer|staleafter|pushforeign|pushlease)|hook\.handoff-.*)$/i;

/** Whether a setting affects our hooks: whether they run, or how they judge. */
export const isJudging = (key: string): boolean => JUDGING.test(key);

/** Returns the calls that make a commit through the hooks: `commit`, and `--continue` of a stopped operation. */
export function commitsBy(calls: readonly GitVerbCall[]): GitVerbCall[] {
  return calls.filter(({ verb, words }) => verb === 'commit' || words.includes('--continue'));
}

/** A setting that `git config` changes; `value` is `undefined` when the setting is removed, or its value is unknown. */
export interface ConfigChange {
  readonly key: string;
  readonly value: string | undefined;
  readonly isGlobal: boolean;
}

/** Returns the changes that a `git config` makes to settings that `isJudging` accepts. */
export function configChanges(call: GitVerbCall): ConfigChange[] {
  if (call.verb !== 'config') return [];
  const { action, key, value, isGlobal } = parseConfig(call);
  const isMeant = action === 'section' ? /^(?:core|handoff|hook\.handoff-.*)$/i.test(key) : isJudging(key);
  if (action === 'read' || !isMeant) return [];
  const isKnown = action === 'set' && !call.words.includes(undefined);
  return [{ key, value: isKnown ? value : undefined, isGlobal }];
}

/** Whether a command may bypass our hooks: it commits, or changes hooks or the settings that decide about them. Cheap. */
export function mayGoAround({ gitCalls, handoffCalls, paths, modes }: ShellEffects): boolean {
  return (
    commitsBy(gitCalls).length > 0 ||
    gitCalls.some((call) => configChanges(call).length > 0) ||
    handoffCalls.some(({ verb }) => verb === 'uninstall') ||
    [...modes.filter(({ grants }) => !grants), ...paths].some(({ path }) =>
      /\/\.git(?:\/|$)|hook|husky/i.test(path),
    )
  );
}

/** The verbs that make a commit, or move a branch, without running hooks. */
const MOVING = new Set(['update-ref', 'commit-tree', 'history']);

/** Whether a command may hit files that it does not name, or move the branch that is checked out. Cheap. */
export function mayHitUnnamed({ unnamedWrites, gitCalls }: ShellEffects): boolean {
  return unnamedWrites.length > 0 || gitCalls.some(({ verb }) => MOVING.has(verb));
}

/** A branch that a git call deletes, or moves to another commit, so that it may lose commits. */
export interface BranchMove {
  readonly call: GitVerbCall;
  /** The short name; `undefined` for the branch that is checked out. */
  readonly branch: string | undefined;
  /** The new target, as typed; `undefined` when the branch is deleted. */
  readonly to: string | undefined;
}

type Move = Omit<BranchMove, 'call'>;

/** Returns the branches that a git call deletes or moves by force. Moves with unknown words are left out. */
export function branchMoves(call: GitVerbCall): BranchMove[] {
  const moves = MOVES.get(call.verb)?.(gitOptions(call), call) ?? [];
  const known = moves.filter(({ branch, to }) => isKnown(branch ?? '') && isKnown(to ?? ''));
  return known.map((move) => ({ call, ...move }));
}

/** The verbs that may move a branch by force. */
const MOVES = byName<(options: Options, call: GitVerbCall) => Move[]>({
  branch: branches,
  reset: resets,
  'switch checkout worktree': recreated,
  'update-ref': refUpdates,
});

function branches(options: Options): Move[] {
  const { operands } = options;
  if (hasOption(options, 'r', 'remotes')) return [];
  if (hasOption(options, 'd', 'D', 'delete')) return operands.map((branch) => ({ branch, to: undefined }));
  const isForced = hasOption(options, 'f', 'force');
  if (hasOption(options, 'M', 'C') || (isForced && hasOption(options, 'm', 'move', 'c', 'copy'))) {
    const target = operands.at(-1);
    const source = operands.length > 1 ? (operands[0] ?? '') : 'HEAD';
    return target === undefined ? [] : [{ branch: target, to: source }];
  }
  const [branch, to = 'HEAD'] = operands;
  return isForced && branch !== undefined ? [{ branch, to }] : [];
}

/** Handles `git reset`, which moves no branch when it is given a path. */
function resets(options: Options, { words }: GitVerbCall): Move[] {
  if (words.includes('--') && words.indexOf('--') < words.length - 1) return [];
  const [to, ...paths] = options.operands;
  const isMove = to !== undefined && paths.length === 0 && !hasOption(options, 'pathspec-from-file');
  return isMove ? [{ branch: undefined, to }] : [];
}

function recreated(options: Options, { verb }: GitVerbCall): Move[] {
  const branch = optionValue(options, verb === 'switch' ? 'C' : 'B', 'force-create');
  const to = options.operands[verb === 'worktree' ? 2 : 0] ?? 'HEAD';
  return branch === undefined ? [] : [{ branch, to }];
}

function refUpdates(options: Options): Move[] {
  const [ref = '', to] = options.operands;
  const branch = /^refs\/heads\/(.+)$/s.exec(ref)?.[1];
  if (ref === 'HEAD' && to !== undefined) return [{ branch: undefined, to }];
  if (branch === undefined) return [];
  const isDeletion = hasOption(options, 'd') || (to !== undefined && /^0+$/.test(to));
  return isDeletion || to !== undefined ? [{ branch, to: isDeletion ? undefined : to }] : [];
}

/** What a `git stash` does with the stash list, which all worktrees share. */
interface StashUse {
  readonly action: 'push' | 'pop' | 'apply' | 'drop' | 'clear' | 'branch';
  /** The entry's number; if missing, the command means the newest entry, unless `byName` is true or the action is `clear`. */
  readonly index: number | undefined;
  /** Whether the command names the entry by its commit, which stays the same however the list changes. */
  readonly byName: boolean;
}

/** Returns what a git call does with the stash list; `undefined` if nothing (`list`, `show`), or if that is unknown. */
export function stashUse(call: GitVerbCall): StashUse | undefined {
  if (call.verb !== 'stash') return undefined;
  const known = wordsOf(call);
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

/** A stash entry with the session that made it; `undefined` when that is not on record. */
interface OwnedEntry {
  readonly oid: Oid;
  readonly owner: SessionId | undefined;
}

/** The session that asks, and the other sessions at work. */
interface StashSessions {
  readonly own: ReadonlySet<SessionId>;
  readonly live: ReadonlySet<SessionId>;
}

/** A refused use of the stash, and the entries for which it is refused. */
export interface RefusedUse {
  readonly use: StashUse;
  readonly entries: readonly OwnedEntry[];
}

/**
 * Returns the first use that must be refused. Without a number git takes the newest entry, whoever made it, so the newest must be
 * the session's own (for `clear`, all must be). An entry given by number is only protected from removal, and only if another
 * live session made it.
 *
 * @param pushes whether a `stash push` in the command will make an entry (git makes none when there is nothing to stash)
 */
export function decideStash(
  uses: readonly StashUse[],
  list: readonly OwnedEntry[],
  { own, live }: StashSessions,
  pushes: boolean,
): RefusedUse | undefined {
  // An entry that the command itself pushes is the session's own. It has no object name yet.
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
