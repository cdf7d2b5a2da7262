import { type GitVerbCall, UNKNOWN, isKnown } from '../effects.ts';
import { CommandInput, type Program, type Shell, type Status } from '../machine.ts';
import {
  byName,
  hasOption,
  parseOptions,
  type GetoptSpec,
  type Options,
  optionValue,
  optionValues,
} from '../options.ts';
import { READERS } from '../read-only.ts';
import { recordNames, recordSpelled } from '../spelled.ts';
import { clearIdentity } from '../builtins.ts';
import { checkIdentity, setVariable } from '../parameters.ts';
import { filterInput } from './filters.ts';

/** Programs whose language we do not parse. The `git status` after the command finds what they changed. */
const LANGUAGES =
  'python pypy ipython node nodejs bun deno tsx ts-node php perl ruby lua luajit Rscript R julia elixir groovy osascript scala ' +
  'jshell awk gawk mawk nawk ed red ex vi vim nvim view rvim gvim emacs nano sqlite3 sqlite';
/** Programs that run commands from other files. */
const BUILDERS =
  'make gmake ninja cmake npm yarn pnpm cargo go gradle mvn ant rake just task tox nox pytest jest vitest tsc ' +
  'docker podman kubectl ansible-playbook terraform vagrant ctest bazel sbt dotnet msbuild pre-commit lefthook';

/** Editors, which write the files that they are given. */
const EDITORS = /^(?:r?ed|ex|vi|[nrg]?vim|emacs|nano)$/;
/** Options by which a program changes the files that it is given. */
const IN_PLACE = /^(?:-[A-Za-z0-9]*i(?:[.~].*)?|--in-?place(?:=.*)?|inplace|-w|--write|--fix)$/;

/**
 * Handles a program that we cannot read. A guarded name in its words or input counts as written if that text also has a
 * word that writes. The `git status` after the command finds what else the program changes.
 */
export const opaque: Program = (shell, args, name) => {
  const isEditing = EDITORS.test(name) || args.some((word) => IN_PLACE.test(word));
  for (const word of args) {
    if (isEditing) recordNames(shell, word, name);
    else recordSpelled(shell, word, name);
  }
  // If this command line has written a script, its text is examined, too.
  for (const text of [shell.input.rest, ...args.map((word) => shell.fileText(word))])
    if (text !== undefined && text !== UNKNOWN) recordSpelled(shell, text, name);
  const prints = READERS.has(name) || (/awk$/.test(name) && !isEditing);
  if (!prints) shell.changesBelow(shell.cwd);
  if (!shell.output.text.endsWith(UNKNOWN)) shell.print(UNKNOWN);
  return undefined;
};

/** Handles the `-i` of Perl and Ruby, which edits the named files as `sed -i` does. */
const filterLanguage: Program = (shell, args, name) => {
  const options = parseOptions(args, { short: 'e:E:i::I:M::m::r:F:C:x::', stops: true });
  const files = hasOption(options, 'e', 'E') ? options.operands : options.operands.slice(1);
  if (hasOption(options, 'i')) for (const file of files) shell.write(file, `${name} -i`, false);
  return opaque(shell, args, name);
};

/** Programs that switch branches or commit everything by themselves, and the words that make them do so. */
const WRAPPERS: Readonly<Partial<Record<string, RegExp>>> = {
  gh: /^(?:co|pr checkout|pr merge .*(?:-d|--delete-branch)|issue develop .*(?:-c|--checkout))\b/,
  glab: /^(?:co|mr checkout)\b/,
  gt: /^(?:checkout|co|create|c|get|sync|restack|r|up?|down|d|top|t|bottom|b|delete|dl|fold|split|sp|move|pop|rename|unbranch|squash|sq|absorb|ab|undo|branch)(?= |$)/,
  // git-town(1) stashes uncommitted work while it switches, and applies it on the other branch.
  'git-town':
    /^(?:hack|append|prepend|switch|sync|ship|kill|delete|compress|continue|skip|undo|merge|detach|swap|walk|up|down|park|observe|contribute|set-parent|rename|rename-branch)(?= |$)/,
  hub: /^(?:checkout (?:.* )?https?:|pr checkout|sync|am)(?= |$|\/)/,
  // Every jj command first commits the working tree. These commands leave the work in that commit, or check out another one.
  jj: /^(?:abandon|absorb|backout|checkout|commit|ci|describe|desc|duplicate|edit|fix|merge|move|new|next|parallelize|prev|rebase|restore|revert|split|squash|undo|unsquash|simplify-parents|git (?:fetch|push|init)|op(?:eration)?(?! log| show))(?= |$)/,
};

/** The git call that stands for what a program does. Programs without an entry switch branches. */
const OTHER_DEEDS: Readonly<Partial<Record<string, Pick<GitVerbCall, 'verb' | 'words'>>>> = {
  jj: { verb: 'snapshot', words: [] },
  'git-town': { verb: 'stash', words: ['--include-untracked'] },
};

/** Records the git call that a program makes by itself. hub passes its other words on to git. */
export const wrapper: Program = (shell, args, name) => {
  const words = args.map((word) => (isKnown(word) ? word : '…'));
  // Options may precede the verb. Their values then count as words of the verb, which does little harm.
  const options = words.filter((word) => word.startsWith('-'));
  const verb = words.filter((word) => !word.startsWith('-'));
  const asksForHelp = options.some((word) => /^(?:-h|--help)$/.test(word));
  shell.print(UNKNOWN);
  if (asksForHelp || WRAPPERS[name]?.test([...verb, ...options].join(' ')) !== true)
    return name === 'hub' ? shell.run(['git', ...args]) : undefined;
  const { cwd } = shell;
  const deed = OTHER_DEEDS[name] ?? { verb: 'switch', words: ['--detach', 'HEAD'] };
  shell.machine.git({
    cwd: isKnown(cwd) ? cwd : undefined,
    ...deed,
    by: [name.replace('-', ' '), ...words].join(' '),
  });
  return undefined;
};

export const INTERPRETERS = byName<Program>({
  [LANGUAGES]: opaque,
  [BUILDERS]: opaque,
  'perl ruby': filterLanguage,
  [Object.keys(WRAPPERS).join(' ')]: wrapper,
});

/** Runs script text as a child shell would: with only the exported variables, and with its own folder and parameters. */
export function runChildShell(caller: Shell, text: string, words: readonly string[] = []): Status {
  const shell = caller.with({ scope: caller.scope.process() });
  const [zero = 'sh', ...rest] = words;
  shell.scope.set(' zero', zero);
  shell.scope.setPositional(rest);
  return shell.machine.within({ loops: 0, calls: 0 }, () => shell.script(text));
}

/** Handles `sh -c text [$0 [$1 …]]`, `sh file`, `sh -s` and `… | sh`. */
function sh(shell: Shell, args: readonly string[]): Status {
  const words = args.map((word) => (/^\+[A-Za-z]/.test(word) ? `-${word.slice(1)}` : word));
  const options = parseOptions(words, { short: 'o:O:', long: 'rcfile= init-file=', stops: true });
  const [first, ...rest] = options.operands;
  if (hasOption(options, 'n')) return undefined;
  if (hasOption(options, 'c', 'command')) return runChildShell(shell, first ?? '', rest);
  if (first === undefined || hasOption(options, 's')) {
    const text = shell.input.rest;
    shell.input.rest = '';
    return runChildShell(shell.with({ input: new CommandInput('') }), text, ['sh', ...options.operands]);
  }
  const text = first === '/dev/stdin' || first === '-' ? shell.input.rest : shell.fileText(first);
  if (text !== undefined) return runChildShell(shell, text, [first, ...rest]);
  shell.changesBelow(shell.cwd);
  return undefined;
}

/** A program that starts another one from its own command line. */
interface Launcher extends GetoptSpec {
  /** How many operands precede the command: `timeout 5 cmd` has one. */
  readonly skip?: number;
  /** Whether `NAME=value` words before the command go into its environment. */
  readonly assigns?: boolean;
  /** Whether the words are joined into a script (`watch`). */
  readonly joins?: boolean;
}

const LAUNCHERS = byName<Launcher>({
  'nohup setsid unbuffer caffeinate': {},
  'busybox toybox npx bunx linux32 linux64 doas stdbuf': { short: 'o:e:i:u:C:p:' },
  nice: { short: 'n:', long: 'adjustment=' },
  ionice: { short: 'c:n:p:P:u:' },
  'chrt taskset chroot': { skip: 1, short: 'p:c:T:P:D:' },
  timeout: { short: 's:k:', long: 'signal= kill-after=', skip: 1 },
  time: { short: 'f:o:', long: 'format= output=' },
  strace: { short: 'e:o:p:s:u:E:a:I:O:S:P:X:', long: 'output=' },
  sudo: { short: 'u:g:h:p:C:r:t:U:D:R:T:', long: 'user= group= host= prompt= chdir=', assigns: true },
  'cross-env dotenv': { assigns: true, short: 'e:f:' },
  watch: { short: 'n:d::', long: 'interval= differences=?', joins: true },
  flock: { short: 's:w:E:', long: 'timeout= conflict-exit-code=', skip: 1 },
  'tmux screen': { short: 'S:L:f:s:n:c:t:F:x:y:d', joins: true, skip: 1 },
  'uv poetry pipenv bundle conda rye hatch pdm mise asdf corepack': { skip: 1 },
});

function programOf(launcher: Launcher): Program {
  return (shell, args, name) => {
    const { operands } = parseOptions(args, { ...launcher, stops: true });
    const words = operands.slice(launcher.skip ?? 0);
    if (launcher.joins === true) return runChildShell(shell, words.join(' '));
    const inner = shell.subshell();
    return launcher.assigns === true ? withEnvironment(inner, words, name) : inner.run(words, true);
  };
}

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** Sets the variables of the `NAME=value` words in the shell, and runs the command after them. */
function withEnvironment(shell: Shell, words: readonly string[], by: string): Status {
  let start = 0;
  for (; ASSIGNMENT.test(words[start] ?? ''); start++) {
    const word = words[start] ?? '';
    const name = word.slice(0, word.indexOf('='));
    setVariable(shell, name, word.slice(name.length + 1), by);
    shell.scope.export(name, true);
  }
  return shell.run(words.slice(start), true);
}

function env(caller: Shell, args: readonly string[], name: string): Status {
  const shell = caller.subshell();
  const options = parseOptions(args, {
    short: 'u:C:P:',
    long: 'unset= chdir= ignore-environment null',
    stops: true,
  });
  if (hasOption(options, 'i', 'ignore-environment') || args[0] === '-') clearIdentity(shell, 'env -i');
  const operands = options.operands.filter((word, n) => n > 0 || word !== '-');
  for (const variable of optionValues(options, 'u', 'unset')) {
    checkIdentity(shell, variable, undefined, 'env -u');
    shell.scope.unset(variable);
  }
  const folder = optionValue(options, 'C', 'chdir');
  if (folder !== undefined) shell.run(['cd', folder]);
  return withEnvironment(shell, operands, name);
}

const MAX_RUNS = 1000;

/** Splits the input of xargs at blanks outside quotes, or at the given delimiter. */
function itemsOf(text: string, delimiter: string | undefined): string[] {
  if (delimiter !== undefined) return text.split(delimiter).filter((item) => item !== '');
  const found = text.match(/(?:"[^"\n]*"|'[^'\n]*'|\\.|[^\s"'\\])+/gs) ?? [];
  return found.map((item) => item.replace(/"([^"\n]*)"|'([^'\n]*)'|\\(.)/gs, '$1$2$3'));
}

function delimiterOf(options: Options): string | undefined {
  if (hasOption(options, '0', 'null')) return '\0';
  const given = optionValue(options, 'd', 'delimiter');
  if (given !== undefined) return given.replace(/^\\n$/, '\n').replace(/^\\0$/, '\0');
  return hasOption(options, 'I', 'i', 'replace', 'L') ? '\n' : undefined;
}

function xargs(shell: Shell, args: readonly string[]): Status {
  const options = parseOptions(args, {
    short: 'I:i::n:L:l::P:d:a:s:E:e::J:R:S:',
    long: 'replace=? max-args= max-lines=? max-procs= delimiter= arg-file= max-chars= eof=? null no-run-if-empty verbose',
    stops: true,
  });
  const command = options.operands.length > 0 ? options.operands : ['echo'];
  const file = optionValue(options, 'a', 'arg-file');
  const text = filterInput(shell, file === undefined ? [] : [file]);
  const items = itemsOf(text, delimiterOf(options));
  const replaced = optionValue(options, 'I', 'i', 'replace', 'J');
  if (replaced !== undefined) {
    for (const item of items.slice(0, MAX_RUNS))
      shell.run(
        command.map((word) => word.replaceAll(replaced || '{}', () => item.trimStart())),
        true,
      );
    return undefined;
  }
  const count = Number(optionValue(options, 'n', 'max-args', 'L', 'max-lines') ?? items.length);
  const size = Number.isInteger(count) && count > 0 ? count : Math.max(items.length, 1);
  for (let at = 0; at < Math.max(items.length, 1) && !shell.machine.exhausted; at += size) {
    if (at >= MAX_RUNS * size) shell.machine.exhausted = true;
    else shell.run([...command, ...items.slice(at, at + size)], true);
  }
  return undefined;
}

export const LAUNCHER_PROGRAMS: ReadonlyMap<string, Program> = new Map([
  ...[...LAUNCHERS].map(([name, launcher]) => [name, programOf(launcher)] as const),
  ...byName<Program>({ 'sh bash zsh dash ksh mksh ash rbash fish': sh, env, xargs }),
]);
