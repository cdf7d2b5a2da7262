import { parseBoolean } from '../domain/settings.ts';
import { type GitVerbCall, UNKNOWN, isKnown } from './effects.ts';
import { gitOptions, wordsOf } from './git-options.ts';
import { type Options, byName, hasOption, optionValue, optionValues } from './options.ts';
import { diffPaths } from './programs/filters.ts';

/** Whether a git verb may destroy uncommitted work or carry it off, or remove a whole working tree. */
export const changesTree = (verb: string): boolean => VERBS.has(verb) || verb === 'worktree';

/** What a git call does to uncommitted work: how far it reaches, and what becomes of the work. */
export interface TreeReach {
  readonly call: GitVerbCall;
  /** `carry`: the work leaves with the branch or into a stash; `destroy`: git keeps no copy of it. */
  readonly does: 'carry' | 'destroy';
  /** The paths as typed; `undefined` for the whole tree. */
  readonly paths: readonly string[] | undefined;
  readonly tracked: boolean;
  readonly untracked: boolean;
  /** Whether ignored files are removed, too (`git clean -x`); `only`: only ignored files are removed (`-X`). */
  readonly ignored: boolean | 'only';
  /** Whether only staged changes are affected (`git stash push --staged`). */
  readonly stagedOnly: boolean;
  /** Whether some paths are unknown (`xargs git checkout --`), so that the call may reach any path. */
  readonly unsure: boolean;
  /** Whether no file changes, because a new branch begins at HEAD. */
  readonly keepsFiles: boolean;
  /** What the call does, for the sentence "<verb> would …". */
  readonly verb:
    'switch' | 'stash' | 'autostash' | 'reset' | 'restore' | 'clean' | 'rm' | 'apply' | 'snapshot';
}

/** What a reach depends on besides the words of the call. */
interface ReachFacts {
  /** Whether a word names something on the disk, so that `git checkout <word>` restores it. */
  isPath(word: string): boolean;
  /** Returns the names in a file for `--pathspec-from-file`; `undefined` when it cannot be read. */
  names(file: string, nul: boolean): readonly string[] | undefined;
  /** Returns the text of a patch file; `undefined` when it cannot be read. */
  text(file: string): string | undefined;
  /** Whether one of git's settings is on (git-config(1)); `undefined`: it is not set. */
  isOn(setting: string): boolean | undefined;
}

const whole = (call: GitVerbCall, verb: TreeReach['verb'], does: TreeReach['does']): TreeReach => ({
  call,
  verb,
  does,
  paths: undefined,
  tracked: true,
  untracked: false,
  ignored: false,
  stagedOnly: false,
  unsure: false,
  keepsFiles: false,
});

/** Returns the reach of a verb that takes pathspecs: what they cover, or everything if one is unknown. */
function covering(
  call: GitVerbCall,
  verb: TreeReach['verb'],
  does: TreeReach['does'],
  pathspecs: readonly string[],
): TreeReach {
  const paths = pathspecs.filter((word) => word !== '').map((word) => (isKnown(word) ? word : ':/'));
  return { ...whole(call, verb, does), paths, unsure: !pathspecs.every(isKnown) };
}

/** Returns the reach of a call that overwrites files with git's version of them. */
const restore = (call: GitVerbCall, pathspecs: readonly string[]) =>
  covering(call, 'restore', 'destroy', pathspecs);

/** Returns a call's reach over uncommitted work, if any. Assumes that an unknown word is no harmful option. */
export function treeReach(call: GitVerbCall, facts: ReachFacts): TreeReach | undefined {
  return VERBS.get(call.verb)?.({ call, words: wordsOf(call), options: gitOptions(call), facts });
}

interface Judged {
  readonly call: GitVerbCall;
  readonly words: readonly string[];
  readonly options: Options;
  readonly facts: ReachFacts;
}

type Judge = (judged: Judged) => TreeReach | undefined;

const VERBS = byName<Judge>({
  switch: switches,
  checkout: checksOut,
  restore: restores,
  reset: resets,
  stash: stashes,
  clean: cleans,
  rm: removes,
  mv: movesOver,
  rebase: rebases,
  pull: pulls,
  merge: merges,
  'cherry-pick revert am': aborts,
  apply: applies,
  bisect: bisects,
  'read-tree': readsTree,
  'checkout-index': checksOutIndex,
  'symbolic-ref': pointsElsewhere,
  // fast-import moves branches, even the one that is checked out, and leaves the files as they are.
  'fast-import': ({ call }) => whole(call, 'switch', 'carry'),
  // Not a git verb: stands for a program that commits everything (`jj new`).
  snapshot: ({ call }) => ({ ...whole(call, 'snapshot', 'carry'), untracked: true }),
});

function switches({ call, options }: Judged): TreeReach | undefined {
  const moves = hasOption(options, 'c', 'C', 'create', 'force-create', 'orphan', 'd', 'detach');
  if (!moves && options.operands.length === 0) return undefined;
  const does = hasOption(options, 'f', 'force', 'discard-changes') ? 'destroy' : 'carry';
  return switchReach(call, does, options);
}

/** Returns the reach of a switch. A new branch without a start point keeps the files; `--orphan` removes tracked ones. */
function switchReach(call: GitVerbCall, does: TreeReach['does'], options: Options): TreeReach {
  const isNew = hasOption(options, 'b', 'B', 'c', 'C', 'create', 'force-create');
  const startsElsewhere = options.operands.length > 0 || hasOption(options, 'orphan', 't', 'track');
  return { ...whole(call, 'switch', does), keepsFiles: does === 'carry' && isNew && !startsElsewhere };
}

function checksOut({ call, words, facts }: Judged): TreeReach | undefined {
  const at = words.indexOf('--');
  const options = gitOptions({ verb: 'checkout', words: at < 0 ? words : words.slice(0, at) });
  const does = hasOption(options, 'f', 'force') ? 'destroy' : 'carry';
  const [first, ...others] = options.operands;
  const listed = fileNames(options, facts);
  if (listed !== undefined) return restore(call, listed);
  if (at >= 0 && at < words.length - 1) return restore(call, words.slice(at + 1));
  if (hasOption(options, 'b', 'B', 'orphan', 'd', 'detach', 't', 'track'))
    return switchReach(call, does, options);
  const isWhole = does === 'destroy' || hasOption(options, 'p', 'patch');
  if (first === undefined) return isWhole ? whole(call, 'restore', 'destroy') : undefined;
  if (facts.isPath(first)) return restore(call, options.operands);
  return others.length > 0 ? restore(call, others) : whole(call, 'switch', does);
}

function restores({ call, options, facts }: Judged): TreeReach | undefined {
  const operands = pathspecs(options, facts);
  const staged = hasOption(options, 'S', 'staged');
  const worktree = hasOption(options, 'W', 'worktree');
  const paths = operands.length === 0 && hasOption(options, 'p', 'patch') ? [':/'] : operands;
  return (staged && !worktree) || paths.length === 0 ? undefined : restore(call, paths);
}

function resets({ call, options }: Judged): TreeReach | undefined {
  if (hasOption(options, 'merge')) return unstages(call);
  return hasOption(options, 'hard') ? whole(call, 'reset', 'destroy') : undefined;
}

function stashes({ call, words, facts }: Judged): TreeReach | undefined {
  // `git stash branch` checks the new branch out at the commit where the entry was made.
  if (words[0] === 'branch') return whole(call, 'switch', 'carry');
  const given = pushWords(words);
  if (given === undefined) return undefined;
  const options = gitOptions({ verb: 'stash', words: given });
  const operands = pathspecs(options, facts);
  const ignored = hasOption(options, 'a', 'all');
  const untracked = ignored || hasOption(options, 'u', 'include-untracked');
  const isWhole = words[0] === 'save' || operands.length === 0;
  const reach = isWhole ? whole(call, 'stash', 'carry') : covering(call, 'stash', 'carry', operands);
  return { ...reach, untracked, stagedOnly: hasOption(options, 'S', 'staged') };
}

/** Returns the words of a `git stash push` in any spelling; `undefined` for other commands of git-stash(1). */
export function pushWords(words: readonly string[]): readonly string[] | undefined {
  const [action = 'push', ...rest] = words;
  if (action.startsWith('-')) return /^--?h/.test(action) ? undefined : words;
  return action === 'push' || action === 'save' ? rest : undefined;
}

function cleans({ call, options, facts }: Judged): TreeReach | undefined {
  const operands = pathspecs(options, facts);
  const isForced = hasOption(options, 'f', 'force') || isOn('clean.requireforce', call, facts) === false;
  if (hasOption(options, 'n', 'dry-run', 'i', 'interactive') || !isForced) return undefined;
  // Without a pathspec, git-clean(1) cleans the folder in which it runs.
  const reach = covering(call, 'clean', 'destroy', operands.length === 0 ? ['.'] : operands);
  const only = hasOption(options, 'X');
  const ignored = only ? 'only' : hasOption(options, 'x');
  return { ...reach, tracked: false, untracked: !only, ignored };
}

/** Handles `git rm`, which removes no uncommitted changes without `-f`. */
function removes({ call, options, facts }: Judged): TreeReach | undefined {
  const operands = pathspecs(options, facts);
  const isSafe = hasOption(options, 'cached', 'n', 'dry-run') || !hasOption(options, 'f', 'force');
  return isSafe || operands.length === 0 ? undefined : covering(call, 'rm', 'destroy', operands);
}

/** Handles `git mv`, which with `-f` replaces the file at the target. */
function movesOver({ call, options }: Judged): TreeReach | undefined {
  const target = options.operands.at(-1);
  const isSafe = hasOption(options, 'n', 'dry-run') || !hasOption(options, 'f', 'force');
  return isSafe || target === undefined ? undefined : covering(call, 'restore', 'destroy', [target]);
}

function rebases({ call, options, facts }: Judged): TreeReach | undefined {
  if (hasOption(options, 'abort', 'skip')) return whole(call, 'reset', 'destroy');
  if (hasOption(options, 'continue', 'quit', 'edit-todo', 'show-current-patch')) return undefined;
  return autostashes(call, options, isOn('rebase.autostash', call, facts));
}

function pulls({ call, options, facts }: Judged): TreeReach | undefined {
  // Other settings decide whether a pull merges or rebases, so we look at the autostash setting of both.
  const isEither = isOn('rebase.autostash', call, facts) || isOn('merge.autostash', call, facts);
  return autostashes(call, options, isEither);
}

function merges({ call, options, facts }: Judged): TreeReach | undefined {
  if (hasOption(options, 'abort')) return unstages(call);
  if (hasOption(options, 'continue', 'quit')) return undefined;
  return autostashes(call, options, isOn('merge.autostash', call, facts));
}

/** Whether a setting is on, by the call's own `-c` or else by the configuration. */
function isOn(setting: string, { settings }: GitVerbCall, facts: ReachFacts): boolean | undefined {
  const given = settings?.get(setting);
  return given === undefined ? facts.isOn(setting) : parseBoolean(given);
}

/** Returns the reach of an autostash, which holds all work while the branch moves, and keeps it if there is a conflict. */
function autostashes(call: GitVerbCall, options: Options, byDefault = false): TreeReach | undefined {
  const given = hasOption(options, 'autostash') || (byDefault && !hasOption(options, 'no-autostash'));
  return given ? whole(call, 'autostash', 'carry') : undefined;
}

/** Handles `--abort` and `--skip` of a cherry-pick, revert or am, which discard staged changes. */
function aborts({ call, words }: Judged): TreeReach | undefined {
  // `git am --continue` commits whatever is staged, and runs no hook of ours.
  if (call.verb === 'am' && words.some((word) => /^(?:--continue|--resolved|-r)$/.test(word)))
    return { ...whole(call, 'snapshot', 'carry'), stagedOnly: true };
  const isAborted = words.some((word) => word === '--abort' || word === '--skip');
  return isAborted ? unstages(call) : undefined;
}

/** Returns the reach of `git reset --merge`: staged changes are lost in the index and on the disk; unstaged ones stay. */
const unstages = (call: GitVerbCall): TreeReach => ({ ...whole(call, 'reset', 'destroy'), stagedOnly: true });

function inputOf({ input, inputFile }: GitVerbCall, facts: ReachFacts): string | undefined {
  return input ?? (inputFile === undefined ? undefined : facts.text(inputFile));
}

/** Handles `git apply`. A patch that we can read names its files; any other may change all files. */
function applies({ call, options, facts }: Judged): TreeReach | undefined {
  if (hasOption(options, 'check', 'stat', 'numstat', 'summary', 'cached')) return undefined;
  const included = optionValues(options, 'include').map((glob) => `:/${glob}`);
  if (included.length > 0) return { ...restore(call, included), untracked: true };
  const files = options.operands.length === 0 ? ['-'] : options.operands;
  const texts = files.map((file) =>
    file === '-' ? inputOf(call, facts) : isKnown(file) ? facts.text(file) : undefined,
  );
  const folder = optionValue(options, 'directory');
  const strip = Number(optionValue(options, 'p') ?? 1);
  const names = texts.flatMap((text) => (text === undefined ? [] : diffPaths(text, strip)));
  const paths = [...new Set(names)].map((name) => (folder === undefined ? name : `${folder}/${name}`));
  // A name that git quotes like a C string makes the patch count as unreadable.
  if (texts.includes(undefined) || names.some((name) => name.endsWith('"')))
    return { ...whole(call, 'apply', 'destroy'), untracked: true };
  // The names in a patch made by git are relative to the top; in other patches they may be relative to the folder.
  return { ...restore(call, [...paths, ...paths.map((path) => `:/${path}`)]), untracked: true };
}

function bisects({ call, words }: Judged): TreeReach | undefined {
  const [action = '', ...rest] = words;
  const starts = action === 'start' && rest.filter((word) => !word.startsWith('-')).length >= 2;
  const moves = /^(?:good|bad|old|new|skip|reset|replay|run)$/.test(action);
  return starts || moves ? whole(call, 'switch', 'carry') : undefined;
}

function readsTree({ call, options }: Judged): TreeReach | undefined {
  if (!hasOption(options, 'u') || hasOption(options, 'n', 'dry-run')) return undefined;
  return hasOption(options, 'reset') ? whole(call, 'reset', 'destroy') : whole(call, 'switch', 'carry');
}

/** Handles `git checkout-index`, which overwrites nothing without `-f`. */
function checksOutIndex({ call, options, facts }: Judged): TreeReach | undefined {
  const operands = pathspecs(options, facts);
  if (!hasOption(options, 'f', 'force') || hasOption(options, 'prefix')) return undefined;
  // `--all` means everything below the folder in which it is typed.
  if (hasOption(options, 'a', 'all')) return restore(call, ['.']);
  return restore(call, hasOption(options, 'stdin') ? [...operands, UNKNOWN] : operands);
}

function pathspecs(options: Options, facts: ReachFacts): string[] {
  return [...options.operands.filter((word) => word !== ''), ...(fileNames(options, facts) ?? [])];
}

/** Returns the pathspecs of `--pathspec-from-file`, or one unknown path when they cannot be read. */
function fileNames(options: Options, facts: ReachFacts): readonly string[] | undefined {
  const file = optionValue(options, 'pathspec-from-file');
  if (file === undefined) return undefined;
  const names =
    isKnown(file) && file !== '-' ? facts.names(file, hasOption(options, 'pathspec-file-nul')) : undefined;
  return names ?? [UNKNOWN];
}

/** Handles a `git symbolic-ref` that points HEAD elsewhere: all uncommitted changes then appear on that branch. */
function pointsElsewhere({ call, options }: Judged): TreeReach | undefined {
  const [name, target] = options.operands;
  const moves = name === 'HEAD' && (target !== undefined || hasOption(options, 'd', 'delete'));
  return moves ? whole(call, 'switch', 'carry') : undefined;
}
