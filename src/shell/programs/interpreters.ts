import { readCode } from '../code/program.ts';
import type { Language } from '../code/tokens.ts';
import type { Surroundings } from '../code/values.ts';
import type { ProgramCall, Program, Status } from '../machine.ts';
import { hasOption, optionValues, parseOptions, type GetoptSpec } from '../options.ts';
import { isKnown, UNKNOWN } from '../unknown.ts';
import { runChildShell } from './shells.ts';

const MAX_CODE = 1 << 16;
const MAX_NESTED = 3;

interface Interpreter extends GetoptSpec {
  readonly language: Language;
  /** Options whose value is code. */
  readonly code: readonly string[];
}

/** Records what code does, and runs the commands that it starts. */
function runCode(
  call: ProgramCall,
  language: Language,
  code: string,
  argv: readonly string[],
  nesting = 0,
): void {
  const { machine, frame, name } = call;
  if (code.length > MAX_CODE) {
    machine.exhausted = true;
    return;
  }
  const found = readCode(code, surroundings(call, language, argv));
  if (!found.isComplete) machine.exhausted = true;
  const folders = ['', ...[...found.folders].map((folder) => `${folder}/`)];
  const places = (file: string) =>
    /^[~/]/.test(file) ? [expandHome(call, file)] : folders.map((folder) => expandHome(call, folder + file));
  for (const file of found.writes) for (const path of places(file)) machine.write(frame.scope, path, name);
  for (const file of found.removes) for (const path of places(file)) machine.remove(frame.scope, path, name);
  for (const text of found.commands) runChildShell(call, text);
  for (const words of found.calls) machine.run.argv(machine, words, frame);
  for (const text of nesting < MAX_NESTED ? found.code : []) runCode(call, language, text, argv, nesting + 1);
}

/** A tilde is no part of a path to a program, but `expanduser` of a text that is put together later is common. */
function expandHome({ machine }: ProgramCall, file: string): string {
  return file.replace(/^~(?=\/)/, () => machine.disk.world.home);
}

function surroundings(
  { machine, frame }: ProgramCall,
  language: Language,
  argv: readonly string[],
): Surroundings {
  const { scope } = frame;
  return {
    language,
    argv,
    home: machine.disk.world.home,
    cwd: machine.cwd(scope),
    variable(name) {
      const variable = scope.lookup(name);
      const value = variable?.exported === true ? variable.values[0] : undefined;
      return typeof value === 'string' ? value : name === 'HOME' ? machine.disk.world.home : UNKNOWN;
    },
    glob: (pattern) => machine.disk.glob(machine.cwd(scope), pattern),
    entries(folder) {
      const path = machine.path(scope, folder);
      return path === undefined ? [] : machine.disk.world.entries(path);
    },
  };
}

function interpret(call: ProgramCall, interpreter: Interpreter): Status {
  const { machine, frame } = call;
  const { language } = interpreter;
  const args = call.args.flatMap((word, n, all) => {
    if (word === '-pe' || word === '-ep') return ['-e'];
    return word === '-p' && all[n + 1]?.startsWith('-') === true && language === 'javascript' ? [] : [word];
  });
  const options = parseOptions(args, { ...interpreter, stops: true });
  const code = optionValues(options, ...interpreter.code);
  if (code.length > 0) runCode(call, language, code.join('\n'), options.operands);
  else if (hasOption(options, 'm')) runModule(call, optionValues(options, 'm')[0] ?? '', options.operands);
  else runScript(call, language, options.operands);
  frame.output.add(UNKNOWN);
  if (code.some((text) => !isKnown(text))) machine.unsure = true;
  return undefined;
}

/** `python -m json.tool in out` writes its second operand; of other modules nothing is assumed. */
function runModule({ machine, frame }: ProgramCall, module: string, operands: readonly string[]): void {
  const target = operands.filter((word) => !word.startsWith('-'))[1];
  if (module === 'json.tool' && target !== undefined)
    machine.write(frame.scope, target, 'python -m json.tool');
  else machine.unsure = true;
}

/** A script in a file that this command wrote, or from the input; others cannot be read. */
function runScript(call: ProgramCall, language: Language, operands: readonly string[]): void {
  const { machine, frame } = call;
  const [file, ...argv] = operands[0] === 'run' || operands[0] === 'eval' ? operands.slice(1) : operands;
  const isInput = file === undefined || file === '-' || file === '/dev/stdin';
  const path = isInput ? undefined : machine.path(frame.scope, file);
  const text = isInput ? frame.input.rest : path && machine.disk.text(path);
  if (operands[0] === 'eval' && file !== undefined) runCode(call, language, file, argv);
  else if (text === undefined || !isKnown(text)) machine.unsure = true;
  machine.changesBelow(machine.cwd(frame.scope));
  if (text !== undefined) runCode(call, language, text, argv);
}

/** Perl and Ruby: `-i` edits the operands in place, `-e` may be given several times and in a cluster. */
function filterLanguage(language: Language): Program {
  return (call) => {
    const { machine, frame, name } = call;
    const code: string[] = [];
    let inPlace = false;
    let i = 0;
    for (; i < call.args.length; i++) {
      const word = call.args[i] ?? '';
      if (!word.startsWith('-') || word === '-') break;
      if (word === '--') {
        i++;
        break;
      }
      const [, flags = '', letter = '', rest = ''] = /^-(\w*?)([eEiMmIrFxC]|$)(.*)$/s.exec(word) ?? [];
      if (/[eE]/.test(letter)) code.push(rest === '' ? (call.args[++i] ?? '') : rest);
      else if (letter === 'i') inPlace = true;
      else if (/[MmIr]/.test(letter) && rest === '') i++;
      if (flags.includes('c') && language === 'perl') return undefined;
    }
    const operands = call.args.slice(i);
    if (code.length > 0) runCode(call, language, code.join('\n'), operands);
    else runScript(call, language, operands);
    if (inPlace) {
      const files = code.length > 0 ? operands : operands.slice(1);
      for (const file of files) machine.write(frame.scope, file, `${name} -i`, false);
    }
    frame.output.add(UNKNOWN);
    return undefined;
  };
}

/** By the languages that `table.ts` names. */
export const INTERPRETERS = {
  python: interpreter({ language: 'python', code: ['c'], short: 'c:m:W:X:' }),
  node: interpreter({
    language: 'javascript',
    code: ['e', 'eval', 'p', 'print'],
    short: 'e:p:r:C:',
    long: 'eval= print= require= import= input-type= loader= conditions= env-file=',
  }),
  deno: interpreter({ language: 'javascript', code: [] }),
  php: interpreter({
    language: 'php',
    code: ['r', 'B', 'R', 'E', 'run'],
    short: 'r:d:f:B:R:E:F:c:z:',
    long: 'run=',
  }),
  perl: filterLanguage('perl'),
  ruby: filterLanguage('ruby'),
  lua: interpreter({ language: 'other', code: ['e'], short: 'e:l:' }),
  r: interpreter({ language: 'other', code: ['e'], short: 'e:' }),
  other: interpreter({ language: 'other', code: ['e', 'E', 'eval'], short: 'e:E:' }),
};

function interpreter(options: Interpreter): Program {
  return (call) => interpret(call, options);
}
