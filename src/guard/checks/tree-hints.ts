import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { shortId } from '../../domain/names.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import type { GitVerbCall } from '../../shell/effects.ts';
import { hasOption, optionValue, parseOptions } from '../../shell/options.ts';
import type { TreeReach } from '../../shell/tree-verbs.ts';
import { UNKNOWN } from '../../shell/unknown.ts';
import { type Typed, listed } from './typed.ts';

/**
 * The refusal of a command that would carry away or destroy others' work, with the safe one for the same wish.
 *
 * @param mine what the command would have reached of this session's own, and nobody else has a claim on
 * @param why why it is told as it is; empty where git was asked
 */
export function treeRefusal(
  reach: TreeReach,
  claims: readonly OpenClaim[],
  mine: readonly string[],
  typed: Typed,
  why: string,
): string {
  const sessions = [...new Set(claims.map(({ session }) => shortId(session)))];
  const names = [...new Set(claims.map(({ path }) => escapeLine(path)))];
  const owners = `session${sessions.length === 1 ? '' : 's'} ${sessions.join(', ')}`;
  return (
    `\`git ${escapeLine(reach.call.verb)}\` would ${deed(reach)} uncommitted work of ${owners}: ` +
    `${listed(names)}. Nothing was changed. ${why}${instead(reach, mine, typed)}`
  );
}

function deed({ verb, does }: TreeReach): string {
  if (verb === 'switch') return does === 'destroy' ? 'throw away' : 'take along to another branch';
  if (verb === 'stash') return 'stash away';
  if (verb === 'autostash') return 'put aside, and may not bring back,';
  return verb === 'clean' || verb === 'rm' ? 'delete' : 'overwrite';
}

/** The safe command for the same wish. */
function instead({ verb, call }: TreeReach, mine: readonly string[], typed: Typed): string {
  const { git } = typed;
  if (verb === 'switch')
    return `Work on the other branch in a tree of your own: ${git} worktree add ${worktreeWords(call, typed)}`;
  if (verb === 'autostash')
    return `Work in a tree of your own: ${git} worktree add --detach ${typed.beside('apart')}`;
  if (mine.length === 0 || verb === 'rm')
    return `Nothing else that it reaches is this session's to change; see: ${git} handoff status`;
  if (verb === 'stash')
    return `Stash your own only: ${git} stash push --include-untracked${typed.paths(mine)}`;
  if (verb === 'clean') return `Remove your own only: ${typed.remove(mine, 'rm')}`;
  return `Undo your own only: ${git} restore --source=HEAD --staged --worktree${typed.paths(mine)}`;
}

/** The words after `git worktree add` that give what the switch asked for; a branch that is made keeps its start. */
function worktreeWords({ verb, words }: GitVerbCall, { beside }: Typed): string {
  const known = words.map((word) => word ?? UNKNOWN);
  if (known.includes(UNKNOWN) || verb === 'bisect') return `--detach ${beside('apart')}`;
  const options = parseOptions(known, {
    short: 'b:B:c:C:',
    long: 'create= force-create= orphan= conflict= detach track force discard-changes',
  });
  const made = optionValue(options, 'b', 'c', 'create');
  const reset = optionValue(options, 'B', 'C', 'force-create', 'orphan');
  const [start] = options.operands;
  const from = start === undefined || start === '' ? '' : ` ${shellWord(start)}`;
  if (made !== undefined) return `-b ${shellWord(made)} ${beside(made)}${from}`;
  if (reset !== undefined) return `-B ${shellWord(reset)} ${beside(reset)}${from}`;
  if (hasOption(options, 'd', 'detach')) return `--detach ${beside('apart')}${from}`;
  if (start === undefined || start === '-') return `--detach ${beside('apart')}`;
  return `${beside(start)} ${shellWord(start)}`;
}
