import { dirname } from '../disk.ts';
import { type GitVerbCall, UNKNOWN, isKnown } from '../effects.ts';
import { gitOptions } from '../git-options.ts';
import type { Shell, Status } from '../machine.ts';
import { byName, hasOption, optionValue, optionValues } from '../options.ts';
import { runChildShell, wrapper } from './interpreters.ts';

/** A git call without its global options: the verb, its words, and the place where it runs. */
export interface GitCall {
  readonly verb: string;
  readonly words: readonly string[];
  /** The folder where git looks for the repository, or the git directory if one is given. */
  readonly repository: string;
  readonly shell: Shell;
  /** The options `-c` and `--config-env`, of this call and of the git calls that started it. */
  readonly options: readonly string[];
  /** Returns a setting given by `-c` or by this command's own `git config`. */
  config(key: string): string | undefined;
}

type GitVerb = (git: GitCall) => Status;

/** Verbs of git that write files by name, configure git, or run commands. tree-verbs.ts has their effect on the working tree. */

/** Records the output file that an option names: `git diff --output=x`, `git archive -o x`. */
function output(git: GitCall): Status {
  for (const file of optionValues(gitOptions(git), 'output', 'export-marks'))
    git.shell.write(file, `git ${git.verb}`);
  git.shell.print(UNKNOWN);
  return undefined;
}

function move({ shell, words }: GitCall): Status {
  if (words.some((word) => /^-[fkv]*n|^--dry-run$/.test(word))) return undefined;
  shell.run(['mv', ...words.filter((word) => !/^-[fkv]+$/.test(word))]);
  return undefined;
}

function worktree({ shell, words: [action, ...rest] }: GitCall): Status {
  const [path, target] = rest.filter((word) => !word.startsWith('-'));
  if ((action === 'remove' || action === 'move') && path !== undefined)
    shell.remove(path, `git worktree ${action}`);
  if (action === 'move' && target !== undefined) shell.write(target, 'git worktree move', false);
  return undefined;
}

/** Parses the words of a `git config`, with verbs or with the older options. `key` may name a whole section. */
export function parseConfig(call: Pick<GitVerbCall, 'verb' | 'words'>) {
  const options = gitOptions(call);
  const [first = '', ...rest] = options.operands;
  const isVerb = /^(?:set|unset|remove-section|rename-section)$/.test(first) && rest.length > 0;
  const [key = '', value] = isVerb ? rest : options.operands;
  const how = isVerb ? first : [...options.values.keys()].join(' ');
  const reads =
    /^(?:get|list|edit)$/.test(first) ||
    hasOption(options, 'get', 'get-all', 'get-regexp', 'get-urlmatch', 'l', 'list');
  const removes = /section|unset/.exec(how)?.[0];
  return {
    // With one operand git-config(1) only reads.
    action: reads ? 'read' : (removes ?? (value === undefined ? 'read' : 'set')),
    key,
    value: value ?? '',
    isGlobal: hasOption(options, 'global', 'system'),
    file: optionValue(options, 'f', 'file'),
  };
}

/** Handles `git config key value`: later parts of the command see the value. `-f file` writes that file. */
function configure(git: GitCall): Status {
  const { shell } = git;
  const { action, key, value, file } = parseConfig(git);
  if (action !== 'read' && file !== undefined) shell.write(file, 'git config');
  if (action === 'set') shell.machine.settings.set(key.toLowerCase(), value);
  return undefined;
}

function bisect({ shell, words: [action, ...command] }: GitCall): Status {
  return action === 'run' ? shell.run(command) : undefined;
}

function submodule({ shell, words }: GitCall): Status {
  if (!words.includes('foreach')) return undefined;
  const script = words.slice(words.indexOf('foreach') + 1).filter((word) => word !== '--recursive');
  return runChildShell(shell, script.join(' '));
}

function rebase(git: GitCall): Status {
  for (const text of optionValues(gitOptions(git), 'x', 'exec')) runChildShell(git.shell, text);
  return undefined;
}

/** Prints the current branch, because the command may build a ref name from it. */
function printBranch(shell: Shell, prefix: string): void {
  const cwd = shell.cwd;
  const branch = isKnown(cwd) ? shell.machine.disk.world.headBranch?.(cwd) : undefined;
  shell.print(`${branch === undefined ? UNKNOWN : prefix + branch}\n`);
}

/** Handles `git rev-parse`: prints the repository's folders, for a redirection to `"$(git rev-parse --git-dir)/…"`. */
function revParse({ shell, words }: GitCall): Status {
  const { disk } = shell.machine;
  let folder = shell.cwd;
  if (!isKnown(folder)) return undefined;
  while (folder !== '/' && !disk.exists(`${folder}/.git`)) folder = dirname(folder);
  const gitDir = disk.isDirectory(`${folder}/.git`) ? `${folder}/.git` : UNKNOWN;
  if (words.includes('--abbrev-ref') && words.includes('HEAD')) printBranch(shell, '');
  for (const word of words) {
    if (word === '--show-toplevel') shell.print(`${gitDir === UNKNOWN ? UNKNOWN : folder}\n`);
    else if (/^--(?:absolute-git-dir|git-dir|git-common-dir)$/.test(word)) shell.print(`${gitDir}\n`);
    else if (word === '--git-path') shell.print(`${gitDir}/${words[words.indexOf(word) + 1] ?? ''}\n`);
  }
  return undefined;
}

/** Verbs of git's own (`GIT_VERBS` has more): git ignores aliases with these names. */
export const OWN_VERBS = new Set(
  (
    'add am apply archive blame cat-file checkout checkout-index cherry-pick clean commit config describe diff gc grep init ' +
    'lfs log ls-files merge merge-file mv notes read-tree reflog remote rerere reset restore revert rev-list rm show ' +
    'sparse-checkout stage stash status switch tag update-index worktree'
  ).split(' '),
);

/** Records a changed ref. An unknown ref counts as a handoff ref if the command mentions `refs/handoffs`. */
function change({ shell, repository, verb }: GitCall, ref: string, cwd = repository): void {
  const by = `git ${verb}`;
  if (isKnown(ref)) shell.machine.ref(ref, cwd, by);
  else if (/refs\/handoffs/.test(ref.replaceAll(UNKNOWN, '')) || shell.machine.mentionsHandoffs) {
    shell.machine.ref('refs/handoffs/*', cwd, by);
  }
}

function updateRef(git: GitCall): Status {
  const options = gitOptions(git);
  if (hasOption(options, 'stdin')) {
    const text = git.shell.input.rest;
    const names = refsIn(
      text,
      /(?:^|[\n\0])[^\S\n]*(?:update|create|delete|symref-update|symref-create|symref-delete) ([^ \n\0]+)/g,
    );
    for (const name of names) change(git, name.replace(/^"|"$/g, ''));
    if (!isKnown(text) && names.length === 0) change(git, UNKNOWN);
    return undefined;
  }
  const [ref, value] = options.operands;
  // `-d` takes one name. If xargs appends several names, git reads the second as the old value.
  if (ref !== undefined && (value !== undefined || hasOption(options, 'd') || !isKnown(ref)))
    change(git, ref);
  return undefined;
}

function refsIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((found) => found[1] ?? '');
}

function symbolicRef(git: GitCall): Status {
  const options = gitOptions(git);
  const [name, target] = options.operands;
  if (name === 'HEAD' && target === undefined)
    printBranch(git.shell, hasOption(options, 'short') ? '' : 'refs/heads/');
  if (name !== undefined && (target !== undefined || hasOption(options, 'd', 'delete'))) change(git, name);
  return undefined;
}

/** Returns the local refs that the destination of a refspec may mean, by the rules of gitrevisions(7). */
function destinations(spec: string): string[] {
  const colon = spec.lastIndexOf(':');
  const name = spec.slice(colon + 1).replace(/^\+/, '');
  if (colon < 0 || name === '') return [];
  return name.startsWith('refs/') || !isKnown(name) ? [name] : [`refs/${name}`, `refs/heads/${name}`];
}

/** Handles a `git push` into a repository on this disk, whose refs it changes. */
function push(git: GitCall): Status {
  const { shell } = git;
  const options = gitOptions(git);
  if (hasOption(options, 'n', 'dry-run')) return undefined;
  const [given, ...specs] = options.operands;
  const target = optionValue(options, 'repo') ?? given ?? '';
  const url = git.config(`remote.${target}.url`) ?? target;
  const place = url.replace(/^file:\/\//, '');
  if (!/^\.{0,2}\/|^\.{1,2}$|^~/.test(place)) return undefined;
  const path = shell.path(place);
  const cwd = path === undefined || place === '.' ? git.repository : path;
  const isOther = cwd !== git.repository;
  if (isOther && hasOption(options, 'mirror')) change(git, '*', cwd);
  for (const spec of specs) {
    if (hasOption(options, 'd', 'delete')) for (const ref of destinations(`:${spec}`)) change(git, ref, cwd);
    else if (spec.includes(':') || !isOther) for (const ref of destinations(spec)) change(git, ref, cwd);
    else for (const ref of destinations(`:${spec.replace(/^\+/, '')}`)) change(git, ref, cwd);
  }
  return undefined;
}

/** Handles `git fetch` and `git pull`: a refspec that the command gives or configures may write a local ref. */
function fetch(git: GitCall): Status {
  const options = gitOptions(git);
  const [remote = 'origin', ...specs] = options.operands;
  const configured = git.config(`remote.${remote}.fetch`) ?? '';
  const all = [...specs, ...optionValues(options, 'refmap'), configured];
  for (const spec of all) for (const ref of destinations(spec)) change(git, ref);
  if (hasOption(options, 'stdin')) {
    for (const spec of git.shell.input.rest.split('\n'))
      for (const ref of destinations(spec)) change(git, ref);
  }
  return undefined;
}

/** Handles `git branch`, which moves no ref of ours: only the current branch's name matters. */
function branch({ shell, words }: GitCall): Status {
  if (words.includes('--show-current')) printBranch(shell, '');
  return undefined;
}

/** Handles the verbs that rewrite history: they move every ref that they are given. */
function rewrite(git: GitCall): Status {
  const names = git.words.filter((word) => word.startsWith('refs/'));
  const isAll = git.words.includes('--all') || git.verb === 'filter-repo';
  for (const name of isAll ? ['*'] : names) change(git, name);
  return undefined;
}

function fastImport(git: GitCall): Status {
  const text = git.shell.input.rest;
  const names = refsIn(text, /^(?:commit|reset) (refs\/\S+)/gm);
  for (const name of names) change(git, name);
  if (!isKnown(text)) change(git, UNKNOWN);
  return undefined;
}

/** The verbs for which there is something to record, by name. */
export const GIT_VERBS = byName<GitVerb>({
  'archive diff diff-files diff-index diff-tree fast-export format-patch log range-diff show stash whatchanged':
    output,
  mv: move,
  worktree,
  config: configure,
  'rev-parse': revParse,
  town: ({ shell, words }) => wrapper(shell, words, 'git-town'),
  bisect,
  submodule,
  rebase,
  'update-ref': updateRef,
  'symbolic-ref': symbolicRef,
  'push send-pack': push,
  'fetch pull': fetch,
  branch,
  'filter-branch filter-repo': rewrite,
  'fast-import': fastImport,
});
