import { type GitVerbCall, UNKNOWN, isKnown } from './effects.ts';
import { hasOption, optionValue, parseOptions } from './options.ts';
import { updateRefOptions } from './programs/git-refs.ts';

/** A branch that a git call deletes, or moves to another commit, so that it may lose commits. */
export interface BranchMove {
  readonly call: GitVerbCall;
  /** The short name; `undefined` for the branch that is checked out. */
  readonly branch: string | undefined;
  /** The new target, as typed; `undefined` when the branch is deleted. */
  readonly to: string | undefined;
}

/** Returns the branches that a git call deletes or moves by force. Moves with unknown words are left out. */
export function branchMoves(call: GitVerbCall): BranchMove[] {
  const words = call.words.map((word) => word ?? UNKNOWN);
  return movesOf(call, words).filter(({ branch, to }) => isKnown(branch ?? '') && isKnown(to ?? ''));
}

function movesOf(call: GitVerbCall, words: readonly string[]): BranchMove[] {
  switch (call.verb) {
    case 'branch':
      return branches(call, words);
    case 'reset':
      return resets(call, words);
    case 'switch':
    case 'checkout':
      return recreated(call, words);
    case 'update-ref':
      return refUpdates(call, words);
    default:
      return [];
  }
}

function branches(call: GitVerbCall, words: readonly string[]): BranchMove[] {
  const options = parseOptions(words, {
    short: 'u:',
    long: 'delete force set-upstream-to= move copy remotes list contains= merged= no-merged= points-at=',
  });
  const { operands } = options;
  if (hasOption(options, 'r', 'remotes')) return [];
  if (hasOption(options, 'd', 'D', 'delete'))
    return operands.map((branch) => ({ call, branch, to: undefined }));
  const isForced = hasOption(options, 'f', 'force');
  if (hasOption(options, 'M', 'C') || (isForced && hasOption(options, 'm', 'move', 'c', 'copy'))) {
    const target = operands.at(-1);
    const source = operands.length > 1 ? (operands[0] ?? '') : 'HEAD';
    return target === undefined ? [] : [{ call, branch: target, to: source }];
  }
  const [branch, to = 'HEAD'] = operands;
  return isForced && branch !== undefined ? [{ call, branch, to }] : [];
}

/** Handles `git reset`, which moves no branch when it is given a path. */
function resets(call: GitVerbCall, words: readonly string[]): BranchMove[] {
  if (words.includes('--') && words.indexOf('--') < words.length - 1) return [];
  if (words.some((word) => word.startsWith('--pathspec-from-file'))) return [];
  const { operands } = parseOptions(words, { long: 'hard soft mixed merge keep pathspec-from-file=' });
  const [to, ...paths] = operands;
  return to === undefined || paths.length > 0 ? [] : [{ call, branch: undefined, to }];
}

function recreated(call: GitVerbCall, words: readonly string[]): BranchMove[] {
  const options = parseOptions(words, { short: 'b:B:c:C:', long: 'force-create= create= orphan= conflict=' });
  const branch =
    call.verb === 'checkout' ? optionValue(options, 'B') : optionValue(options, 'C', 'force-create');
  return branch === undefined ? [] : [{ call, branch, to: options.operands[0] ?? 'HEAD' }];
}

function refUpdates(call: GitVerbCall, words: readonly string[]): BranchMove[] {
  const options = updateRefOptions(words);
  const [ref = '', to] = options.operands;
  const branch = /^refs\/heads\/(.+)$/s.exec(ref)?.[1];
  if (ref === 'HEAD' && to !== undefined) return [{ call, branch: undefined, to }];
  if (branch === undefined) return [];
  const isDeletion = hasOption(options, 'd') || (to !== undefined && /^0+$/.test(to));
  return isDeletion || to !== undefined ? [{ call, branch, to: isDeletion ? undefined : to }] : [];
}
