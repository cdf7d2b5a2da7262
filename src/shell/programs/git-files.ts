import { hasOption, optionValue, optionValues, parseOptions } from '../options.ts';
import type { Status } from '../machine.ts';
import { filterInput } from '../output.ts';
import { isKnown } from '../unknown.ts';
import { diffPaths } from './patch.ts';
import type { GitCall, GitVerb } from './git-call.ts';

const OUTPUT_VERBS = new Set(
  'diff log show format-patch archive diff-tree diff-index diff-files stash range-diff whatchanged bugreport fast-export'.split(
    ' ',
  ),
);

/** Files that an option of a listing verb writes: `--output=x`, `archive -o x`, `fast-export --export-marks=x`. */
export function writesOutputOption({ verb, args, call }: GitCall): void {
  if (!OUTPUT_VERBS.has(verb)) return;
  const spec = verb === 'archive' ? 'o:' : verb === 'format-patch' ? 'o:v:' : 'S:G:L:n:U:O:';
  const options = parseOptions(args, {
    short: spec,
    long: 'output= output-directory= export-marks= grep= author= format=',
  });
  const names = verb === 'archive' ? ['o', 'output'] : ['output', 'export-marks'];
  for (const file of optionValues(options, ...names))
    call.machine.write(call.frame.scope, file, `git ${verb}`);
}

/** Paths that a verb restores or removes; a pathspec for the whole tree names nothing. */
function changePaths({ call, verb }: GitCall, words: readonly string[], removes = false): void {
  const { machine, frame } = call;
  for (const word of words) {
    if (/^(?:\.|\.\/|:\/|:|\*|:\(.*|-)$/.test(word)) continue;
    const path = machine.path(frame.scope, word);
    const isFolder = path !== undefined && machine.disk.isDirectory(path);
    if (removes || isFolder) machine.remove(frame.scope, word, `git ${verb}`);
    else machine.write(frame.scope, word, `git ${verb}`, false);
  }
}

/** Operands after `--`, or all of them when there is none. */
function pathspecs(
  args: readonly string[],
  short = '',
  long = '',
): { before: readonly string[]; after?: readonly string[] } {
  const at = args.indexOf('--');
  const { operands } = parseOptions(at < 0 ? args : args.slice(0, at), { short, long });
  return at < 0 ? { before: operands } : { before: operands, after: args.slice(at + 1) };
}

function checkout(git: GitCall): Status {
  const { before, after } = pathspecs(git.args, 'b:B:', 'orphan= conflict= pathspec-from-file=');
  const makesBranch = git.args.some((word) => /^-[bB]$|^--(?:orphan|detach|track)$/.test(word));
  if (after !== undefined) changePaths(git, after);
  else if (!makesBranch) changePaths(git, before);
  return undefined;
}

/** The files named (`-a`: all that are tracked) below a prefix that need not be in the working tree. */
function checkoutIndex(git: GitCall): Status {
  const { call, args } = git;
  const options = parseOptions(args, { long: 'prefix= stage= all force stdin temp index' });
  const prefix = optionValue(options, 'prefix') ?? '';
  if (hasOption(options, 'stdin', 'a', 'all')) call.machine.unsure = true;
  changePaths(
    git,
    options.operands.map((word) => prefix + word),
  );
  return undefined;
}

function restore(git: GitCall): Status {
  const isStaged = git.args.some((word) => /^(?:-S|--staged)$/.test(word));
  const isTree = git.args.some((word) => /^(?:-W|--worktree|-SW|-WS)$/.test(word));
  const { before, after } = pathspecs(git.args, 's:', 'source= conflict= pathspec-from-file=');
  if (!isStaged || isTree) changePaths(git, after ?? before);
  return undefined;
}

function removeTracked(git: GitCall): Status {
  const options = parseOptions(git.args, { long: 'cached dry-run force quiet pathspec-from-file=' });
  if (!hasOption(options, 'cached', 'n', 'dry-run')) changePaths(git, options.operands, true);
  return undefined;
}

function move(git: GitCall): Status {
  const { machine, frame } = git.call;
  machine.run.argv(machine, ['mv', ...git.args.filter((word) => !/^-[fkvn]$/.test(word))], frame);
  return undefined;
}

function clean(git: GitCall): Status {
  const options = parseOptions(git.args, { short: 'e:', long: 'exclude= dry-run' });
  if (!hasOption(options, 'n', 'dry-run')) changePaths(git, options.operands, true);
  return undefined;
}

function stash(git: GitCall): Status {
  const [action, ...rest] = git.args;
  if (action === 'push' || action === 'save') {
    const { before, after } = pathspecs(rest, 'm:', 'message= pathspec-from-file=');
    changePaths(git, after ?? (action === 'push' ? before : []), true);
  }
  return undefined;
}

function apply(git: GitCall): Status {
  const { call } = git;
  const options = parseOptions(git.args, { short: 'p:C:', long: 'directory= exclude= include= whitespace=' });
  if (hasOption(options, 'check', 'stat', 'numstat', 'summary', 'cached')) return undefined;
  const text = filterInput(call, options.operands);
  if (!isKnown(text)) call.machine.unsure = true;
  const folder = optionValue(options, 'directory');
  const names = diffPaths(text, Number(optionValue(options, 'p') ?? 1));
  changePaths(
    git,
    names.map((name) => (folder === undefined ? name : `${folder}/${name}`)),
  );
  return undefined;
}

function worktree(git: GitCall): Status {
  const [action, ...rest] = git.args;
  const [path, target] = rest.filter((word) => !word.startsWith('-'));
  if ((action === 'remove' || action === 'move') && path !== undefined) {
    git.call.machine.remove(git.call.frame.scope, path, `git worktree ${action}`);
  }
  if (action === 'move' && target !== undefined) changePaths(git, [target]);
  return undefined;
}

function writesOperand(index: number, unless: readonly string[] = []): GitVerb {
  return (git) => {
    const options = parseOptions(git.args, { short: 'L:', long: 'depth= branch=' });
    const file = options.operands[index];
    if (file !== undefined && file !== '-' && !hasOption(options, ...unless)) changePaths(git, [file]);
    return undefined;
  };
}

function bundle(git: GitCall): Status {
  if (git.args[0] === 'create') writesOperand(1)(git);
  return undefined;
}

/** Verbs that change files of the working tree or elsewhere. */
export const GIT_FILE_VERBS: ReadonlyMap<string, GitVerb> = new Map<string, GitVerb>([
  ['checkout', checkout],
  ['checkout-index', checkoutIndex],
  ['restore', restore],
  ['rm', removeTracked],
  ['mv', move],
  ['clean', clean],
  ['stash', stash],
  ['apply', apply],
  ['worktree', worktree],
  ['bundle', bundle],
  ['merge-file', writesOperand(0, ['p', 'stdout'])],
  ['am', unreadable],
]);

function unreadable({ call }: GitCall): Status {
  call.machine.unsure = true;
  return undefined;
}
