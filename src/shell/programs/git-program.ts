import { dirname, isBelow } from '../disk.ts';
import { type GitOverrides, type GitVerbCall, UNKNOWN, isKnown } from '../effects.ts';
import type { CommandInput, Program, Shell, Status } from '../machine.ts';
import { GLOBAL_VALUES } from '../commit-words.ts';
import { gitOptions } from '../git-options.ts';
import { commandOfTry } from '../try-words.ts';
import { CWD } from '../scope.ts';
import { GIT_VERBS, type GitCall, OWN_VERBS } from './git-files.ts';
import { runChildShell } from './interpreters.ts';

const MAX_ALIASES = 4;
/** The variable that passes a git call's options on to the git calls of its alias. No script can use this name. */
const INHERITED = ' git options';

function git(caller: Shell, args: readonly string[]): Status {
  const settings = new Map<string, string>();
  const own: string[] = [];
  const shell = caller.subshell();
  const { machine, scope } = shell;
  let gitDir = shell.text('GIT_DIR') || undefined;
  let workTree = shell.text('GIT_WORK_TREE') || undefined;
  let i = 0;
  for (; i < args.length; i++) {
    const word = args[i] ?? '';
    if (!word.startsWith('-')) break;
    const [name = '', attached] = word.startsWith('--') ? splitOnce(word) : [word];
    const value = attached ?? (GLOBAL_VALUES.has(name) ? args[++i] : undefined) ?? '';
    if (name === '-C') {
      const path = shell.path(value) ?? UNKNOWN;
      // Even if the folder is missing, git does not run here: it fails, or an earlier part of the command made the folder.
      if (shell.run(['cd', value]) !== true) scope.set(CWD, path);
    } else if (name === '-c') {
      settings.set(...settingOf(value));
      own.push('-c', value);
    } else if (name === '--config-env') own.push(`--config-env=${value}`);
    else if (name === '--git-dir') gitDir = value;
    else if (name === '--work-tree') workTree = value;
  }
  const [verb, ...words] = args.slice(i);
  if (verb === undefined) return undefined;
  const config = (key: string) => settings.get(key.toLowerCase()) ?? machine.settings.get(key.toLowerCase());
  const repository = gitDir === undefined ? undefined : shell.path(gitDir);
  const folder = repository ?? shell.cwd;
  // If git starts outside of the working tree, it changes to the top: `--work-tree`, or the folder around `--git-dir`.
  const named = workTree === undefined ? undefined : shell.path(workTree);
  const top = named ?? (repository?.endsWith('/.git') === true ? dirname(repository) : undefined);
  if (top !== undefined && !isBelow(shell.cwd, top)) shell.run(['cd', top]);
  // git passes its options on to the git calls of its aliases.
  const above = shell.text(INHERITED);
  const options = above === undefined ? own : [...above.split('\n'), ...own];
  if (options.length > 0) scope.set(INHERITED, options.join('\n'), true);
  runVerb({ verb, words, repository: folder, shell, config, options }, 0);
  return undefined;
}

function splitOnce(word: string): [string, string | undefined] {
  const equals = word.indexOf('=');
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

/** Parses a setting: section and variable are case-insensitive, and `-c name` alone means true. */
function settingOf(word: string): [string, string] {
  const [name, value = 'true'] = splitOnce(word);
  return [name.toLowerCase(), value];
}

function runVerb(git: GitCall, aliases: number): void {
  const { shell, verb, words } = git;
  const older = verb === 'refs' ? olderCalls(words) : [];
  for (const each of older) runVerb({ ...git, verb: 'update-ref', words: each }, aliases);
  if (older.length > 0) return;
  if (verb === 'handoff') {
    recordHandoff(shell, words);
    return;
  }
  const known = GIT_VERBS.get(verb);
  const isAlias = known === undefined && !OWN_VERBS.has(verb) && aliases < MAX_ALIASES;
  const alias = isAlias
    ? (git.config(`alias.${verb}`) ?? shell.machine.disk.world.alias?.(verb.toLowerCase(), git.repository))
    : undefined;
  if (alias?.startsWith('!') === true) {
    runChildShell(shell, `${alias.slice(1)} "$@"`, ['git', ...words]);
  } else if (alias !== undefined) {
    const [next = '', ...given] = alias.split(/\s+/);
    runVerb({ ...git, verb: next, words: [...given, ...words] }, aliases + 1);
  } else {
    recordCall(git);
    known?.(git);
    if (known === undefined || !shell.output.text) shell.print(UNKNOWN);
  }
}

/** Translates `git refs create`, `update`, `delete` and `rename` (git 2.56) into words of `git update-ref`. */
function olderCalls([action, ...words]: readonly string[]): (readonly string[])[] {
  const { operands } = gitOptions({ verb: 'refs', words });
  if (action === 'delete') return [['-d', ...operands]];
  if (action === 'create' || action === 'update') return [operands];
  const [from = '', to = ''] = operands;
  return action === 'rename' ? [...olderCalls(['delete', from]), ...olderCalls(['create', to, from])] : [];
}

/** The settings that change what a verb does to uncommitted work. */
const RECORDED = ['rebase.autostash', 'merge.autostash', 'clean.requireforce'];

function recordCall(git: GitCall): void {
  const { shell, verb, words } = git;
  const { cwd } = shell;
  const overrides = overridesOf(shell, git.options);
  if (verb === 'clone' || (verb === 'worktree' && words[0] === 'add')) shell.changesBelow(cwd);
  shell.machine.git({
    cwd: isKnown(cwd) ? cwd : undefined,
    verb,
    words: words.map((word) => (isKnown(word) ? word : undefined)),
    settings: new Map(
      RECORDED.flatMap((key) => {
        const value = git.config(key);
        return value === undefined ? [] : [[key, value] as const];
      }),
    ),
    ...(overrides === undefined ? {} : { overrides }),
    ...(verb === 'apply' || verb === 'commit' ? inputRead(shell.input) : {}),
  });
}

/** Returns what is known of the patch or message that the call reads as input: its text, or else its file. */
function inputRead({ rest, file }: CommandInput): Pick<GitVerbCall, 'input' | 'inputFile'> {
  if (isKnown(rest)) return { input: rest };
  return file === undefined ? {} : { inputFile: file };
}

/** Records a call of git-handoff, and the session that it names by `--session`. */
function recordHandoff(shell: Shell, all: readonly string[]): void {
  const { args, command } = splitTry(all);
  const words: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? '';
    const claimed = word === '--session' ? args[++i] : /^--session=(.*)$/s.exec(word)?.[1];
    if (claimed !== undefined) shell.machine.found.identity.push({ kind: 'session-option', value: claimed });
    else words.push(word);
  }
  const at = words.findIndex((word) => !word.startsWith('-'));
  shell.machine.found.handoffCalls.push({
    cwd: shell.cwd,
    verb: words[at] ?? '',
    words: words.slice(at < 0 ? words.length : at + 1).map((word) => (isKnown(word) ? word : undefined)),
  });
  if (command.length > 0) runTried(shell, command);
}

/** Analyses the command of `git handoff try` where it runs: in the tree of `try`. */
function runTried(caller: Shell, command: readonly string[]): void {
  const shell = caller.subshell();
  const { tryTree } = shell.machine.disk.world;
  if (tryTree !== undefined) shell.scope.set(CWD, tryTree);
  shell.run(command);
}

function splitTry(all: readonly string[]): { args: readonly string[]; command: readonly string[] } {
  const at = all.findIndex((word) => !word.startsWith('-')) + 1;
  if (all[at - 1] !== 'try') return { args: all, command: [] };
  const { own, command } = commandOfTry(all.slice(at));
  return { args: [...all.slice(0, at), ...own], command };
}

export const GIT_PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['git', git],
  [
    'git-handoff',
    (shell, args) => {
      recordHandoff(shell, args);
      shell.print(UNKNOWN);
      return undefined;
    },
  ],
  // The programs in git's exec path.
  ...[...GIT_VERBS.keys(), ...OWN_VERBS]
    .filter((verb) => verb !== 'town')
    .map((verb): [string, Program] => [`git-${verb}`, (shell, args) => git(shell, [verb, ...args])]),
]);

/** The variables that tell git which configuration to use (git(1), git-config(1)). */
const VARIABLES = [
  'GIT_CONFIG_COUNT',
  'GIT_CONFIG_PARAMETERS',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'HOME',
  'XDG_CONFIG_HOME',
];
/** How many pairs of GIT_CONFIG_KEY_<n> and GIT_CONFIG_VALUE_<n> to read at most. */
const MAX_PAIRS = 64;

/** Returns how a call's configuration differs from that of a plain git in its folder; `undefined` if it does not differ. */
function overridesOf(shell: Shell, options: readonly string[]): GitOverrides | undefined {
  const variables = new Map<string, string | undefined>();
  const look = (name: string) => {
    const text = shell.scope.lookup(name)?.exported === true ? (shell.text(name) ?? '') : '';
    const before = shell.machine.disk.world.variable(name) ?? '';
    if (text !== before) variables.set(name, isKnown(text) ? text : undefined);
    return text;
  };
  for (const name of VARIABLES) look(name);
  const pairs = Math.min(Number(variables.get('GIT_CONFIG_COUNT') ?? 0) || 0, MAX_PAIRS);
  for (let n = 0; n < pairs; n++) {
    look(`GIT_CONFIG_KEY_${n}`);
    look(`GIT_CONFIG_VALUE_${n}`);
  }
  for (const option of options) {
    const name = /^--config-env=[^=]*=(\w+)$/.exec(option)?.[1];
    if (name !== undefined) look(name);
  }
  if (options.length === 0 && variables.size === 0) return undefined;
  return { options: options.map(knownOption), variables };
}

/** Returns a known word. Of any other it returns only the key, or `undefined` if the key may decide whether hooks run. */
function knownOption(word: string): string | undefined {
  if (isKnown(word)) return word;
  const key = word.slice(0, word.indexOf('='));
  const isPlain =
    isKnown(key) && /\./.test(key) && !/^(?:core\.hookspath|handoff\.|hook\.|include)/i.test(key);
  return isPlain ? `${key}=` : undefined;
}
