import type { GitVerbCall, ShellEffects } from './effects.ts';
import { hasOption, parseOptions } from './options.ts';

/** Tells from a command's words whether it may keep git-handoff's hooks from judging a commit. */

/** The settings that change how the hooks judge, or whether they run. */
const JUDGING =
  /^(?:core\.hookspath|handoff\.(?:enabled|contention|headcheck|trailer|staleafter|pushforeign)|hook\.handoff-.*)$/i;

/** Whether a setting decides what the hooks do, or whether they run. */
export const isJudging = (key: string): boolean => JUDGING.test(key);

/** Returns the calls that make a commit through the hooks: `commit`, and those that continue a stopped operation. */
export function commitsBy(calls: readonly GitVerbCall[]): GitVerbCall[] {
  return calls.filter(({ verb, words }) => verb === 'commit' || words.includes('--continue'));
}

/** A setting that `git config` changes; `value` is `undefined` when it is removed or unknown. */
export interface ConfigChange {
  readonly key: string;
  readonly value: string | undefined;
  /** Whether the setting counts in every repository. */
  readonly isGlobal: boolean;
}

/** Returns the judging settings that a `git config` changes. */
export function configChanges({ verb, words }: GitVerbCall): ConfigChange[] {
  if (verb !== 'config') return [];
  const known = words.map((word) => word ?? '');
  const options = parseOptions(known, {
    short: 'f:',
    long: 'file= blob= type= default= comment= value= url= global system local worktree get get-all get-regexp list unset unset-all remove-section rename-section add replace-all',
  });
  if (hasOption(options, 'get', 'get-all', 'get-regexp', 'get-urlmatch', 'l', 'list')) return [];
  const isGlobal = hasOption(options, 'global', 'system');
  const [first = '', ...rest] = options.operands;
  if (first === 'get' || first === 'list' || first === 'edit') return [];
  const isVerb = /^(?:set|unset|remove-section|rename-section)$/.test(first) && rest.length > 0;
  const [key = '', value] = isVerb ? rest : options.operands;
  const drops = /section/.test(isVerb ? first : '') || hasOption(options, 'remove-section', 'rename-section');
  if (drops)
    return /^(?:core|handoff|hook\.handoff-.*)$/i.test(key) ? [{ key, value: undefined, isGlobal }] : [];
  if (!isJudging(key)) return [];
  if (first === 'unset' || hasOption(options, 'unset', 'unset-all'))
    return [{ key, value: undefined, isGlobal }];
  // With one operand git-config(1) only reads.
  return value === undefined ? [] : [{ key, value: words.includes(undefined) ? undefined : value, isGlobal }];
}

/** Whether a command contains anything of the kind, so that it must be judged. Cheap. */
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

/** Plumbing that makes a commit, or moves to one, without running hooks. git-history(1) runs none either. */
const MOVING = new Set(['update-ref', 'commit-tree', 'history']);

/** Whether a command may hit files that it does not name, or move the branch that is checked out. Cheap. */
export function mayHitUnnamed({ unnamedWrites, gitCalls }: ShellEffects): boolean {
  return unnamedWrites.length > 0 || gitCalls.some(({ verb }) => MOVING.has(verb));
}
