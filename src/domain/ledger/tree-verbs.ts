import type { GitVerbCall } from '../shell/effects.ts';
import { hasOption, parseOptions } from '../shell/options.ts';

/** What git verbs do to uncommitted work that is not theirs: how far they reach, and what becomes of it. */
export interface TreeReach {
  readonly call: GitVerbCall;
  /** `carry`: it leaves with the branch or into a stash; `destroy`: nothing brings it back. */
  readonly does: 'carry' | 'destroy';
  /** Paths as typed, `undefined` for the whole tree. */
  readonly paths: readonly string[] | undefined;
  readonly tracked: boolean;
  readonly untracked: boolean;
  /** What is done, for the sentence "<verb> would …". */
  readonly verb: 'switch' | 'stash' | 'reset' | 'restore' | 'clean' | 'rm';
}

/**
 * How far a git call reaches over uncommitted work; `undefined` when it leaves it alone. Unknown words count as the
 * harmless case.
 *
 * @param isPath whether a word names something on the disk, so that `git checkout <word>` restores it
 */
export function treeReach(call: GitVerbCall, isPath: (word: string) => boolean): TreeReach | undefined {
  const words = call.words.map((word) => word ?? '');
  switch (call.verb) {
    case 'switch':
      return switches(call, words);
    case 'checkout':
      return checksOut(call, words, isPath);
    case 'reset':
      return resets(call, words);
    case 'stash':
      return stashes(call, words);
    case 'restore':
      return restores(call, words);
    case 'clean':
      return cleans(call, words);
    default:
      return undefined;
  }
}

const WHOLE = { paths: undefined, tracked: true, untracked: false } as const;

function switches(call: GitVerbCall, words: readonly string[]): TreeReach | undefined {
  const options = parseOptions(words, {
    short: 'c:C:',
    long: 'create= force-create= orphan= conflict= force discard-changes detach merge',
  });
  const target =
    options.operands.length > 0 || hasOption(options, 'c', 'C', 'create', 'force-create', 'orphan');
  if (!target) return undefined;
  const forced = hasOption(options, 'f', 'force', 'discard-changes');
  return { call, verb: 'switch', does: forced ? 'destroy' : 'carry', ...WHOLE };
}

function checksOut(
  call: GitVerbCall,
  words: readonly string[],
  isPath: (word: string) => boolean,
): TreeReach | undefined {
  const at = words.indexOf('--');
  const spec = { short: 'b:B:', long: 'orphan= conflict= pathspec-from-file= force detach track merge' };
  const options = parseOptions(at < 0 ? words : words.slice(0, at), spec);
  const forced = hasOption(options, 'f', 'force');
  const makesBranch = hasOption(options, 'b', 'B', 'orphan');
  const [first, ...others] = options.operands;
  const restored = pathsOf(at < 0 ? [] : words.slice(at + 1));
  if (restored.length > 0) return restore(call, restored);
  if (makesBranch || hasOption(options, 'd', 'detach', 't', 'track')) {
    return { call, verb: 'switch', does: forced ? 'destroy' : 'carry', ...WHOLE };
  }
  if (first === undefined) return forced ? { call, verb: 'restore', does: 'destroy', ...WHOLE } : undefined;
  if (isPath(first)) return restore(call, options.operands);
  if (others.length > 0) return restore(call, others);
  return { call, verb: 'switch', does: forced ? 'destroy' : 'carry', ...WHOLE };
}

function restore(call: GitVerbCall, paths: readonly string[]): TreeReach {
  const whole = paths.some(isWholeTree);
  return {
    call,
    verb: 'restore',
    does: 'destroy',
    tracked: true,
    untracked: false,
    paths: whole ? undefined : paths,
  };
}

function restores(call: GitVerbCall, words: readonly string[]): TreeReach | undefined {
  const { options, operands } = withPaths(words, {
    short: 's:',
    long: 'source= conflict= pathspec-from-file= staged worktree',
  });
  const staged = hasOption(options, 'S', 'staged');
  const worktree = hasOption(options, 'W', 'worktree');
  return (staged && !worktree) || operands.length === 0 ? undefined : restore(call, operands);
}

function resets(call: GitVerbCall, words: readonly string[]): TreeReach | undefined {
  const options = parseOptions(words, { long: 'hard merge soft mixed keep quiet pathspec-from-file=' });
  if (!hasOption(options, 'hard', 'merge')) return undefined;
  return { call, verb: 'reset', does: 'destroy', ...WHOLE };
}

function stashes(call: GitVerbCall, words: readonly string[]): TreeReach | undefined {
  const [action = 'push', ...rest] = words;
  const isPush = action === 'push' || action === 'save' || action.startsWith('-');
  if (!isPush) return undefined;
  const given = action.startsWith('-') ? words : rest;
  const { options, operands } = withPaths(given, {
    short: 'm:',
    long: 'message= pathspec-from-file= include-untracked all keep-index',
  });
  const untracked = hasOption(options, 'u', 'a', 'include-untracked', 'all');
  const paths =
    action === 'save' || operands.length === 0 || operands.some(isWholeTree) ? undefined : operands;
  return { call, verb: 'stash', does: 'carry', paths, tracked: true, untracked };
}

function cleans(call: GitVerbCall, words: readonly string[]): TreeReach | undefined {
  const { options, operands } = withPaths(words, { short: 'e:', long: 'exclude= dry-run force' });
  if (hasOption(options, 'n', 'dry-run') || !hasOption(options, 'f', 'force')) return undefined;
  const paths = operands.length === 0 || operands.some(isWholeTree) ? undefined : operands;
  return { call, verb: 'clean', does: 'destroy', paths, tracked: false, untracked: true };
}

function withPaths(words: readonly string[], spec: { short: string; long: string }) {
  const at = words.indexOf('--');
  const options = parseOptions(at < 0 ? words : words.slice(0, at), spec);
  return { options, operands: pathsOf([...options.operands, ...(at < 0 ? [] : words.slice(at + 1))]) };
}

const pathsOf = (words: readonly string[]) => words.filter((word) => word !== '');

/** Pathspecs that mean everything (gitglossary(7)). */
function isWholeTree(word: string): boolean {
  return /^(?:\.\/?|:\/|:|\*|:\(.*|\.\/\*)$/.test(word);
}
