import { parse, type Statement } from 'unbash';
import { BUILTINS } from './builtins.ts';
import { basename } from './disk.ts';
import { type ShellEffects, type ShellWorld, UNKNOWN, isKnown } from './effects.ts';
import {
  CommandInput,
  CommandOutput,
  type Program,
  type Runner,
  Shell,
  ShellMachine,
  type Status,
} from './machine.ts';
import { FILE_PROGRAMS } from './programs/files.ts';
import { FILTER_PROGRAMS } from './programs/filters.ts';
import { find } from './programs/find.ts';
import { GIT_PROGRAMS } from './programs/git-program.ts';
import { INTERPRETERS, opaque, LAUNCHER_PROGRAMS } from './programs/interpreters.ts';
import { CWD, Scope } from './scope.ts';
import { recordLargeCommand } from './spelled.ts';
import { runFunction, runStatements } from './walk.ts';

/** Finds what a `bash` command line would change, without running it, in time linear in its length. The promise never rejects. */
export function analyseShell(command: string, world: ShellWorld): Promise<ShellEffects> {
  const text = command.replaceAll('\u0000', '');
  return analyse(text, world, (shell) => {
    if (isTooLarge(text)) shell.machine.exhausted = true;
    else shell.script(text);
  });
}

/** Like `analyseShell`, for a command that starts without a shell: its words are literal. */
export function analyseArgv(argv: readonly string[], world: ShellWorld): Promise<ShellEffects> {
  return analyse(argv.join(' '), world, (shell) => shell.run(argv));
}

async function analyse(
  source: string,
  world: ShellWorld,
  begin: (outermost: Shell) => void,
): Promise<ShellEffects> {
  const machine = new ShellMachine(world, source, RUNNER);
  const scope = Scope.root((name) => world.variable(name));
  scope.set(CWD, world.cwd);
  scope.set('PWD', world.cwd, true);
  const shell = new Shell(machine, scope, new CommandInput(UNKNOWN), new CommandOutput());
  begin(shell);
  if (machine.exhausted) recordLargeCommand(shell);
  return machine.result();
}

const RUNNER: Runner = {
  script: (shell, text) => runStatements(shell, parseScript(shell.machine, text)),
  statements: runStatements,
  argv: callCommand,
};

const MAX_HEREDOCS = 200;

/**
 * Parses script text as far as the budget allows. The analysis ends at a text that is too much for the parser: nested too deeply,
 * like `coproc coproc …` (the parser recurses), or with too many `<<` (they take quadratic time).
 */
function parseScript(machine: ShellMachine, text: string): readonly Statement[] {
  if (!machine.spend(text.length) || text.split('<<', MAX_HEREDOCS + 2).length > MAX_HEREDOCS + 1) {
    machine.exhausted = true;
    return [];
  }
  try {
    const script = parse(text);
    const isDeep = script.errors?.some((error) => error.message.includes('nesting depth'));
    if (isDeep === true) machine.exhausted = true;
    return script.commands;
  } catch {
    machine.exhausted = true;
    return [];
  }
}

const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...LAUNCHER_PROGRAMS,
  ...FILE_PROGRAMS,
  ...FILTER_PROGRAMS,
  ['find', find],
  ...INTERPRETERS,
  ...GIT_PROGRAMS,
]);

const MAX_DEPTH = 48;

/** Runs what the first word names: a function (not if `plain`), a builtin, a known program, or a script written earlier. */
function callCommand(shell: Shell, [word, ...args]: readonly string[], plain: boolean): Status {
  const { machine } = shell;
  if (word === undefined || word === '') return undefined;
  if (!isKnown(word)) {
    shell.print(UNKNOWN);
    return undefined;
  }
  machine.charge(machine.depth * args.length);
  if (machine.depth > MAX_DEPTH) machine.exhausted = true;
  if (machine.exhausted) return undefined;
  machine.depth++;
  const status = call(shell, word, args, plain);
  machine.depth--;
  return status;
}

function call(shell: Shell, word: string, args: readonly string[], plain: boolean): Status {
  const body = plain ? undefined : shell.scope.function(word);
  if (body !== undefined) return runFunction(shell, body, args);
  const name = programName(word);
  const program = (word === name ? BUILTINS.get(name) : undefined) ?? PROGRAMS.get(name);
  if (program !== undefined) return program(shell, args, name);
  const text = word.includes('/') ? shell.fileText(word) : undefined;
  if (text !== undefined) return shell.run([scriptInterpreter(text), word, ...args]);
  return opaque(shell, args, name);
}

/** Returns the interpreter that the first line of a script names; `sh` when it names none. */
function scriptInterpreter(text: string): string {
  const [, program = 'sh', first] = /^#!\s*(\S+)(?:[ \t]+(\S+))?/.exec(text) ?? [];
  return basename(program) === 'env' && first !== undefined ? first : program;
}

/** Returns a program's base name without `.exe`, a version (`python3.11`), or the `g` of a GNU tool (`gsed`). */
function programName(word: string): string {
  const name = basename(word).replace(/\.exe$/i, '');
  if (BUILTINS.has(name) || PROGRAMS.has(name)) return name;
  const plain = name.replace(/(?<![\d.])[\d.]+$/, '');
  if (PROGRAMS.has(plain)) return plain;
  return name.startsWith('g') && PROGRAMS.has(name.slice(1)) ? name.slice(1) : name;
}

/** The most characters of a command that is parsed. Only the rule of spelled.ts applies to a longer one. */
const MAX_PARSED = 1 << 18;
/** The most quotes, operators and line feeds in a command that is parsed: each costs the parser a microsecond or more. */
const MAX_MARKS = 30_000;

const MARKS = new Set(Array.from(';&|<>\n\'"`(){}', (mark) => mark.charCodeAt(0)));

/** Whether a command is too large to analyse within the guard's time. */
function isTooLarge(text: string): boolean {
  if (text.length > MAX_PARSED) return true;
  if (text.length <= MAX_MARKS) return false;
  let marks = 0;
  for (let at = 0; at < text.length; at++) if (MARKS.has(text.charCodeAt(at))) marks++;
  return marks > MAX_MARKS;
}
