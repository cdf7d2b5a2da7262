import { parse, type Statement, type SyntaxNode } from 'unbash';
import { BUILTINS } from './builtins.ts';
import { basename } from './disk.ts';
import type { ShellEffects, ShellWorld } from './effects.ts';
import {
  CommandInput,
  ShellMachine,
  CommandOutput,
  type Frame,
  type Runner,
  type ProgramCall,
  type Program,
  type Status,
} from './machine.ts';
import { PROGRAMS } from './programs/table.ts';
import { READERS } from './read-only.ts';
import { CWD, Scope } from './scope.ts';
import { UNKNOWN, isKnown } from './unknown.ts';
import { runFunction, runStatements } from './walk.ts';

/** What begins an analysis: it runs the command in the outermost shell. */
type Begin = (machine: ShellMachine, frame: Frame) => void;

/**
 * Tells what a command line of `bash` would change, without running it: it is parsed, its words are expanded
 * and its programs looked up in a table. Never rejects; takes time linear in the length of the command.
 */
export function analyseShell(command: string, world: ShellWorld): Promise<ShellEffects> {
  const text = command.replaceAll('\u0000', '');
  return analyse(text, world, (machine, frame) => {
    if (isTooLarge(text)) machine.exhausted = true;
    else machine.run.script(machine, text, frame);
  });
}

/** As `analyseShell` for a command that is started without a shell: its words are taken literally. */
export function analyseArgv(argv: readonly string[], world: ShellWorld): Promise<ShellEffects> {
  return analyse(argv.join(' '), world, (machine, frame) => {
    machine.run.argv(machine, argv, frame, true);
  });
}

async function analyse(source: string, world: ShellWorld, begin: Begin): Promise<ShellEffects> {
  const machine = new ShellMachine(world, source, RUNNER);
  const scope = Scope.root((name) => world.variable(name));
  scope.set(CWD, world.cwd);
  scope.set('PWD', world.cwd, true);
  begin(machine, { scope, input: new CommandInput(UNKNOWN), output: new CommandOutput() });
  machine.runTraps();
  if (machine.exhausted) addCheapEffects(machine, scope);
  return machine.result();
}

const CALLABLES: Callables = { programs: PROGRAMS, runFunction };
const RUNNER: Runner = {
  script: (machine, text, frame) => runStatements(machine, parseScript(machine, text), frame),
  statements: runStatements,
  argv: (machine, argv, frame, certain = false) => callCommand(machine, argv, frame, certain, CALLABLES),
};

const MAX_HEREDOCS = 200;

/**
 * Parses script text, as far as the budget lets it. A text that is too deep or too odd for the parser (it
 * recurses on `coproc coproc …`, and takes quadratic time over thousands of `<<`) exhausts the analysis, so
 * that the cheap rule decides.
 */
function parseScript(machine: ShellMachine, text: string): readonly Statement[] {
  if (!machine.spend(text.length) || hasManyHeredocs(text)) {
    machine.exhausted = true;
    return [];
  }
  try {
    const script = parse(text);
    if (script.errors !== undefined) {
      machine.unsure = true;
      if (script.errors.some((error) => error.message.includes('nesting depth'))) machine.exhausted = true;
    }
    return script.commands;
  } catch {
    machine.exhausted = true;
    return [];
  }
}

function hasManyHeredocs(text: string): boolean {
  let count = 0;
  for (let at = text.indexOf('<<'); at >= 0; at = text.indexOf('<<', at + 2)) {
    if (++count > MAX_HEREDOCS) return true;
  }
  return false;
}

const MAX_DEPTH = 48;

/** What the call of a command needs beside its words; supplied by `analyse.ts`. */
interface Callables {
  readonly programs: ReadonlyMap<string, Program>;
  runFunction(machine: ShellMachine, body: SyntaxNode, args: readonly string[], frame: Frame): Status;
}

/** Calls a command by its words: a function, a builtin, a program of the table, or a script made by this command. */
function callCommand(
  machine: ShellMachine,
  argv: readonly string[],
  frame: Frame,
  certain: boolean,
  callables: Callables,
): Status {
  const [word, ...args] = argv;
  if (word === undefined || word === '') return undefined;
  if (!isKnown(word)) {
    machine.unsure = true;
    frame.output.add(UNKNOWN);
    return undefined;
  }
  machine.charge(machine.depth * args.length);
  if (machine.depth > MAX_DEPTH) machine.exhausted = true;
  if (machine.exhausted) return undefined;
  machine.depth++;
  const status = call(machine, word, { args, frame, machine, certain }, callables);
  machine.depth--;
  return status;
}

function call(
  machine: ShellMachine,
  word: string,
  rest: Omit<ProgramCall, 'name'>,
  callables: Callables,
): Status {
  const { args, frame } = rest;
  const { programs } = callables;
  const body = frame.scope.function(word);
  if (body !== undefined) return callables.runFunction(machine, body, args, frame);
  const name = programName(word, programs);
  const program = (word === name ? BUILTINS.get(name) : undefined) ?? programs.get(name);
  if (program !== undefined) return program({ ...rest, name });
  const path = word.includes('/') ? machine.path(frame.scope, word) : undefined;
  const text = path === undefined ? undefined : machine.disk.text(path);
  if (text !== undefined) return machine.run.argv(machine, [scriptInterpreter(text), word, ...args], frame);
  if (!READERS.has(name)) machine.changesBelow(machine.cwd(frame.scope));
  if (!frame.output.text.endsWith(UNKNOWN)) frame.output.add(UNKNOWN);
  return undefined;
}

/** The interpreter that the first line of a script names; `sh` when none. */
function scriptInterpreter(text: string): string {
  const [, program = 'sh', first] = /^#!\s*(\S+)(?:[ \t]+(\S+))?/.exec(text) ?? [];
  return basename(program) === 'env' && first !== undefined ? first : program;
}

/** Base name of a program, without `.exe`, a version (`python3.11`) or the `g` of GNU tools on other systems. */
function programName(word: string, programs: ReadonlyMap<string, Program>): string {
  const name = basename(word).replace(/\.exe$/i, '');
  if (BUILTINS.has(name) || programs.has(name)) return name;
  const plain = name.replace(/(?<![\d.])[\d.]+$/, '');
  if (programs.has(plain)) return plain;
  return name.startsWith('g') && programs.has(name.slice(1)) ? name.slice(1) : name;
}

/** Longest command that is parsed; beyond it the cheap rule decides alone. */
const MAX_PARSED = 1 << 18;
/** Most quotes, operators and line feeds in one: each costs a microsecond or more, whatever the length. */
const MAX_MARKS = 30_000;

const MARKS = new Set(Array.from(';&|<>\n\'"`(){}', (mark) => mark.charCodeAt(0)));

/** Whether a command is too much to be read within the guard's time. */
function isTooLarge(text: string): boolean {
  if (text.length > MAX_PARSED) return true;
  if (text.length <= MAX_MARKS) return false;
  let marks = 0;
  for (let at = 0; at < text.length; at++) if (MARKS.has(text.charCodeAt(at))) marks++;
  return marks > MAX_MARKS;
}

const BY = 'a command too large to read';
const MAX_WORD = 4096;
const MAX_FOUND = 64;
const DELIMITER = /[\s'"`<>|;&(){},=]/;
const OPERATOR =
  />|\b(?:tee|cp|mv|rm|dd|ln|sed|perl|python|node|ruby|awk|install|rsync|truncate|shred|unlink|patch|ed|ex|vim?|find|xargs|git|open|write|sort|curl|wget|tar)/;

/**
 * The rule for commands that are too large or too nested to read: a handoff's file or ref that is named in a
 * text with any write operator counts as changed. One pass over the text per kind of name.
 */
function addCheapEffects(machine: ShellMachine, scope: Scope): void {
  const { source, disk } = machine;
  if (!OPERATOR.test(source)) return;
  for (const word of wordsAround(source, 'handoff-')) {
    machine.write(scope, homeExpanded(word, disk.world.home), BY);
  }
  for (const path of disk.world.watched('/')) {
    // Refs are told by their whole name, below; a topic's words alone may stand in any text.
    if (!/\/(?:refs\/handoffs|packed-refs|reftable)/.test(path) && source.includes(basename(path))) {
      machine.write(scope, path, BY);
    }
  }
  for (const word of wordsAround(source, '/memory')) {
    machine.remove(scope, homeExpanded(word, disk.world.home), BY);
  }
  for (const word of wordsAround(source, 'refs/handoffs')) {
    const ref = word.slice(word.indexOf('refs/handoffs'));
    machine.ref(
      ref
        .split(':')
        .at(-1)
        ?.replace(/\*?$/, ref.includes('/', 14) ? '' : '/*') ?? ref,
      disk.world.cwd,
      BY,
    );
  }
}

/** The words in which a text occurs; each character is looked at a bounded number of times. */
function wordsAround(source: string, text: string): Set<string> {
  const found = new Set<string>();
  let after = 0;
  for (let at = source.indexOf(text); at >= 0 && found.size < MAX_FOUND; at = source.indexOf(text, after)) {
    let start = at;
    while (start > after && at - start < MAX_WORD && !DELIMITER.test(source.charAt(start - 1))) start--;
    let end = at + text.length;
    while (end < source.length && end - at < MAX_WORD && !DELIMITER.test(source.charAt(end))) end++;
    found.add(source.slice(start, end));
    after = end;
  }
  return found;
}

function homeExpanded(word: string, home: string): string {
  return word.replace(/^(?:~|\$HOME|\$)(?=\/)/, home);
}
