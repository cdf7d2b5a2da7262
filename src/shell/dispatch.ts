import type { SyntaxNode } from 'unbash';
import { BUILTINS } from './builtins.ts';
import { basename } from './disk.ts';
import type { ProgramCall, Frame, ShellMachine, Program, Status } from './machine.ts';
import { READERS } from './read-only.ts';
import { isKnown, UNKNOWN } from './unknown.ts';

const MAX_DEPTH = 48;

/** What the call of a command needs beside its words; supplied by `analyse.ts`. */
export interface Callables {
  readonly programs: ReadonlyMap<string, Program>;
  runFunction(machine: ShellMachine, body: SyntaxNode, args: readonly string[], frame: Frame): Status;
}

/** Calls a command by its words: a function, a builtin, a program of the table, or a script made by this command. */
export function callCommand(
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
