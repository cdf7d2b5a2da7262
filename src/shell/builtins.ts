import { SESSION_VARIABLES } from '../domain/names.ts';
import { decideWords } from './conditions.ts';
import { DIRECTORY_BUILTINS } from './directories.ts';
import type { ProgramCall, Program, Status } from './machine.ts';
import { TEXT_BUILTINS } from './output.ts';
import { hasOption, optionValue, parseOptions } from './options.ts';
import { POSITIONAL } from './scope.ts';
import { isKnown, UNKNOWN } from './unknown.ts';
import { checkIdentity, setVariable } from './variables.ts';

function declare({ name, args, frame, machine }: ProgramCall): Status {
  const { scope } = frame;
  const flags = args.filter((word) => /^[-+]/.test(word)).join('');
  const exports = name === 'export' ? !flags.includes('n') : /-\w*x/.test(flags);
  for (const word of args.filter((arg) => !/^[-+]/.test(arg))) {
    const [, variable = word, append, value] = /^([A-Za-z_]\w*)(?:\[\w*\])?(\+?)=(.*)$/s.exec(word) ?? [];
    if (flags.includes('f')) {
      const body = scope.function(variable);
      if (body !== undefined) scope.defineFunction(variable, body, exports);
    } else if (/-\w*n/.test(flags) && name !== 'export') {
      machine.usesReferences = true;
      scope.set(` ref ${variable}`, value ?? '');
    } else {
      const before = append === '+' ? machine.value(scope, variable) : '';
      if (value !== undefined) {
        setVariable(machine, scope, variable, (typeof before === 'string' ? before : '') + value, name);
      }
      if (exports) scope.export(variable, true);
      else if (name === 'export') {
        checkIdentity(machine, variable, undefined, 'export -n');
        scope.export(variable, false);
      }
    }
  }
  return true;
}

function unset({ args, frame, machine }: ProgramCall): Status {
  for (const name of args.filter((word) => !word.startsWith('-'))) {
    checkIdentity(machine, name, undefined, 'unset');
    frame.scope.unset(name);
  }
  return true;
}

function set({ args, frame }: ProgramCall): Status {
  const { scope } = frame;
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? '';
    if (word === '--' || !/^[-+]/.test(word)) {
      scope.set(
        POSITIONAL,
        new Map(args.slice(word === '--' ? i + 1 : i).map((arg, n) => [String(n + 1), arg])),
      );
      return true;
    }
    const on = word.startsWith('-') ? 'on' : 'off';
    const long = /^[-+]\w*o$/.test(word) ? args[++i] : undefined;
    if (long === 'noclobber' || /^[-+]\w*C/.test(word)) scope.set(' noclobber', on);
    if (long === 'noglob' || /^[-+]\w*f/.test(word)) scope.set(' noglob', on);
  }
  return true;
}

function shopt({ args, frame }: ProgramCall): Status {
  const on = args.includes('-s') ? 'on' : args.includes('-u') ? 'off' : undefined;
  for (const name of on === undefined ? [] : ['globstar', 'dotglob'].filter((each) => args.includes(each))) {
    frame.scope.set(` ${name}`, on ?? '');
  }
  return true;
}

function shift({ args, frame, machine }: ProgramCall): Status {
  const words = machine.value(frame.scope, POSITIONAL);
  if (words === undefined || typeof words === 'string') return false;
  machine.charge(words.size);
  const rest = [...words.values()].slice(Number(args[0] ?? 1));
  frame.scope.set(POSITIONAL, new Map(rest.map((word, n) => [String(n + 1), word])));
  return true;
}

/** `read`: the next line of what is known of the input, split by IFS. */
function read({ name, args, frame, machine }: ProgramCall): Status {
  const options = parseOptions(args, { short: 'a:d:i:n:N:p:t:u:', stops: true });
  const { scope, input } = frame;
  const line = hasOption(options, 'd') && input.rest.includes('\0') ? untilNul(input) : input.line();
  const names = options.operands.length > 0 ? options.operands : ['REPLY'];
  const separators = machine.value(scope, 'IFS');
  const array = optionValue(options, 'a');
  if (line === undefined) return false;
  const known = line !== UNKNOWN;
  const cut = separators === '' ? [] : (line.match(/\S+/g) ?? []);
  if (array !== undefined)
    setVariable(machine, scope, array, new Map(cut.map((word, n) => [String(n), word])), name);
  for (const [n, variable] of (array === undefined ? names : []).entries()) {
    const isLast = n === names.length - 1;
    const rest = separators === '' ? line : cut.length > n ? line.slice(nthWord(line, n)).trimEnd() : '';
    const value =
      typeof separators === 'string' && separators !== '' ? (line.split(separators)[n] ?? '') : undefined;
    setVariable(
      machine,
      scope,
      variable,
      known ? (value ?? (isLast ? rest : (cut[n] ?? ''))) : UNKNOWN,
      name,
    );
  }
  return known ? true : undefined;
}

function untilNul(input: ProgramCall['frame']['input']): string {
  const [line = '', ...rest] = input.rest.split('\0');
  input.rest = rest.join('\0');
  return line;
}

/** Where the n-th word of a line begins. */
function nthWord(line: string, n: number): number {
  const words = /\S+/g;
  let at = 0;
  for (let i = 0; i <= n; i++) at = words.exec(line)?.index ?? line.length;
  return at;
}

function mapfile({ args, frame, machine }: ProgramCall): Status {
  const options = parseOptions(args, { short: 'd:n:O:s:u:C:c:' });
  const lines = frame.input.rest
    .split(frame.input.rest.includes('\0') ? '\0' : '\n')
    .filter((line) => line !== '');
  const name = options.operands[0] ?? 'MAPFILE';
  setVariable(machine, frame.scope, name, new Map(lines.map((line, n) => [String(n), line])));
  return true;
}

function evaluate({ args, frame, machine }: ProgramCall): Status {
  const text = args.slice(args[0] === '--' ? 1 : 0).join(' ');
  if (!isKnown(text)) machine.unsure = true;
  return machine.run.script(machine, text, frame);
}

/** `let i+=1 j=2` is `(( i+=1, j=2 ))`. */
function arithmetic({ args, frame, machine }: ProgramCall): Status {
  return machine.run.script(machine, `((${args.join(',')}))`, frame);
}

function source({ args, frame, machine }: ProgramCall): Status {
  const [file = '', ...words] = args.filter((word, n) => n > 0 || word !== '--');
  const path = machine.path(frame.scope, file);
  const text =
    path === undefined ? undefined : file === '/dev/stdin' ? frame.input.rest : machine.disk.text(path);
  if (text === undefined || !isKnown(text)) machine.unsure = true;
  if (text === undefined) return undefined;
  if (words.length > 0) frame.scope.set(POSITIONAL, new Map(words.map((word, n) => [String(n + 1), word])));
  const inside = { ...machine.inside, calls: machine.inside.calls + 1 };
  const status = machine.within(inside, () => machine.run.script(machine, text, frame));
  if (frame.scope.stopped === 'return') frame.scope.stopped = undefined;
  return status;
}

function trap({ args, frame, machine }: ProgramCall): Status {
  const [text = '', ...signals] = args.filter((word) => !/^-[lpP]$|^--$/.test(word));
  if (signals.length > 0 && text !== '-' && text !== '') machine.trap(text, frame);
  return true;
}

function exec(call: ProgramCall): Status {
  const { operands, values } = parseOptions(call.args, { short: 'a:', stops: true });
  if (values.has('c')) clearIdentity(call, 'exec -c');
  if (operands.length === 0) return true;
  const status = call.machine.run.argv(call.machine, operands, call.frame);
  call.frame.scope.stopped = 'exit';
  return status;
}

/** Records that a command is started with an empty environment. */
export function clearIdentity({ machine }: ProgramCall, by: string): void {
  for (const name of Object.keys(SESSION_VARIABLES)) machine.identity({ kind: 'variable', name, by });
}

/** `command` and `builtin`: the rest of the words without functions; `command -v` only looks up. */
function plain(call: ProgramCall): Status {
  const { operands, values } = parseOptions(call.args, { stops: true });
  if (values.has('v') || values.has('V')) {
    call.frame.output.add(`${operands.join('\n')}\n`);
    return undefined;
  }
  return call.machine.run.argv(call.machine, operands, call.frame, call.certain);
}

function stop(kind: 'exit' | 'return' | 'loop' | 'round'): Program {
  return ({ frame, machine }) => {
    const { loops, calls } = machine.inside;
    const isMeant = kind === 'exit' || (kind === 'return' ? calls : loops) > 0;
    if (isMeant) frame.scope.stopped = kind;
    return undefined;
  };
}

/** Commands that the shell carries out itself, because they change its own state. */
export const BUILTINS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...['export', 'declare', 'typeset', 'local', 'readonly'].map((name) => [name, declare] as const),
  ...[':', 'true', 'wait', 'alias', 'hash', 'umask', 'ulimit', 'type'].map((n) => [n, () => true] as const),
  ['false', () => false],
  ['shopt', shopt],
  ['unset', unset],
  ['set', set],
  ['shift', shift],
  ['read', read],
  ['mapfile', mapfile],
  ['readarray', mapfile],
  ['eval', evaluate],
  ['let', arithmetic],
  ['source', source],
  ['.', source],
  ['trap', trap],
  ['exec', exec],
  ['command', plain],
  ['builtin', plain],
  ['test', decideWords],
  ['[', decideWords],
  ['exit', stop('exit')],
  ['return', stop('return')],
  ['break', stop('loop')],
  ['continue', stop('round')],
  ...DIRECTORY_BUILTINS,
  ...TEXT_BUILTINS,
]);
