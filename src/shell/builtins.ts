import { SESSION_VARIABLES } from '../domain/names.ts';
import { UNKNOWN, isKnown } from './effects.ts';
import type { Program, ProgramCall, Status } from './machine.ts';
import { hasOption, normalised, optionValue, parseOptions } from './options.ts';
import { checkIdentity, setVariable } from './parameters.ts';
import { CWD, POSITIONAL } from './scope.ts';
import { recordSpelled } from './spelled.ts';

function declare({ name, args, frame, machine }: ProgramCall): Status {
  const { scope } = frame;
  const flags = args.filter((word) => /^[-+]/.test(word)).join('');
  const exports = name === 'export' ? !flags.includes('n') : /-\w*x/.test(flags);
  for (const word of args.filter((arg) => !/^[-+]/.test(arg))) {
    const [, variable = word, append, value] = /^([A-Za-z_]\w*)(?:\[\w*\])?(\+?)=(.*)$/s.exec(word) ?? [];
    const body = flags.includes('f') ? scope.function(variable) : undefined;
    if (body !== undefined) scope.defineFunction(variable, body, exports);
    if (flags.includes('f')) continue;
    const before = append === '+' ? (machine.text(scope, variable) ?? '') : '';
    if (value !== undefined) setVariable(machine, scope, variable, before + value, name);
    if (exports) scope.export(variable, true);
    else if (name === 'export') {
      checkIdentity(machine, variable, undefined, 'export -n');
      scope.export(variable, false);
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

const numbered = (words: readonly string[]) => new Map(words.map((word, n) => [String(n + 1), word]));

/** Handles `set -- a b`. Shell options (`set -e`) do not affect the analysis. */
function set({ args, frame }: ProgramCall): Status {
  const first = args.findIndex((word) => word === '--' || !/^[-+]/.test(word));
  if (first < 0 || /^[-+]\w*o$/.test(args[first - 1] ?? '')) return true;
  frame.scope.set(POSITIONAL, numbered(args.slice(args[first] === '--' ? first + 1 : first)));
  return true;
}

function shift({ args, frame, machine }: ProgramCall): Status {
  const words = frame.scope.lookup(POSITIONAL)?.value;
  if (words === undefined || typeof words === 'string') return undefined;
  machine.charge(words.size);
  frame.scope.set(POSITIONAL, numbered([...words.values()].slice(Number(args[0] ?? 1))));
  return true;
}

/** Handles `read`: assigns the words of the input's next line. With an array or other separators the words are unknown. */
function read({ name, args, frame, machine }: ProgramCall): Status {
  const options = parseOptions(args, { short: 'a:d:i:n:N:p:t:u:', stops: true });
  const { scope, input } = frame;
  const array = optionValue(options, 'a');
  const names = array !== undefined ? [array] : options.operands.length > 0 ? options.operands : ['REPLY'];
  const isPlain = array === undefined && !hasOption(options, 'd', 'n', 'N', 'u');
  const line = isPlain ? input.line() : UNKNOWN;
  if (line === undefined) return false;
  const separators = machine.text(scope, 'IFS');
  const known = isPlain && line !== UNKNOWN && (separators === undefined || separators === '');
  let rest = line;
  for (const [n, variable] of names.entries()) {
    const [word = ''] = /^\S+/.exec((rest = separators === '' ? rest : rest.trimStart())) ?? [];
    const value = n === names.length - 1 ? (separators === '' ? rest : rest.trimEnd()) : word;
    setVariable(machine, scope, variable, known ? value : UNKNOWN, name);
    rest = rest.slice(word.length);
  }
  return known ? true : undefined;
}

/** Handles `mapfile`: the elements of the array are unknown. */
function mapfile({ name, args, frame, machine }: ProgramCall): Status {
  const { operands } = parseOptions(args, { short: 'd:n:O:s:u:C:c:' });
  setVariable(machine, frame.scope, operands[0] ?? 'MAPFILE', UNKNOWN, name);
  return true;
}

function echo({ args, frame }: ProgramCall): Status {
  let first = 0;
  while (/^-[neE]+$/.test(args[first] ?? '')) first++;
  const flags = args.slice(0, first).join('');
  const text = args.slice(first).join(' ');
  frame.output.add(flags.includes('e') && text.includes('\\') ? UNKNOWN : text);
  if (!flags.includes('n')) frame.output.add('\n');
  return true;
}

/** Handles `printf`: prints a text that has no placeholders; any other output is unknown. */
function printf({ name, args: [first = '', ...rest], frame, machine }: ProgramCall): Status {
  const isPlain = rest.length === 0 && !/%|\\(?!n)/.test(first);
  if (first === '-v') setVariable(machine, frame.scope, rest[0] ?? '', UNKNOWN, name);
  else frame.output.add(isPlain ? first.replaceAll('\\n', '\n') : UNKNOWN);
  return true;
}

function evaluate({ args, frame, machine }: ProgramCall): Status {
  return machine.run.script(machine, args.slice(args[0] === '--' ? 1 : 0).join(' '), frame);
}

/** Handles `let i+=1 j=2` like `(( i+=1, j=2 ))`. */
function arithmetic({ args, frame, machine }: ProgramCall): Status {
  return machine.run.script(machine, `((${args.join(',')}))`, frame);
}

function source({ args, frame, machine }: ProgramCall): Status {
  const [file = '', ...words] = args.filter((word, n) => n > 0 || word !== '--');
  const path = machine.path(frame.scope, file);
  const text = file === '/dev/stdin' ? frame.input.rest : path && machine.disk.text(path);
  if (text === undefined) return undefined;
  if (words.length > 0) frame.scope.set(POSITIONAL, numbered(words));
  const inside = { ...machine.inside, calls: machine.inside.calls + 1 };
  const status = machine.within(inside, () => machine.run.script(machine, text, frame));
  if (frame.scope.stopped === 'return') frame.scope.stopped = undefined;
  return status;
}

/** Handles `trap`. The text runs later, so it is not analysed: only its guarded names are recorded. */
function trap({ args, frame, machine }: ProgramCall): Status {
  for (const word of args) recordSpelled(machine, frame.scope, word, 'trap');
  return true;
}

function exec(call: ProgramCall): Status {
  const { operands, values } = parseOptions(call.args, { short: 'a:', stops: true });
  if (values.has('c')) clearIdentity(call, 'exec -c');
  if (operands.length === 0) return true;
  const status = call.machine.run.argv(call.machine, operands, call.frame, true);
  call.frame.scope.stopped = 'exit';
  return status;
}

/** Records that a command starts with an empty environment, and so without any session id. */
export function clearIdentity({ machine }: ProgramCall, by: string): void {
  for (const name of Object.keys(SESSION_VARIABLES))
    machine.found.identity.push({ kind: 'variable', name, by });
}

/** Handles `command` and `builtin`: runs the words after them, but no function. `command -v` only looks a name up. */
function plain({ args, frame, machine }: ProgramCall): Status {
  const { operands, values } = parseOptions(args, { stops: true });
  if (!values.has('v') && !values.has('V')) return machine.run.argv(machine, operands, frame, true);
  frame.output.add(`${operands.join('\n')}\n`);
  return undefined;
}

function stop(kind: 'exit' | 'return' | 'loop' | 'round'): Program {
  return ({ frame, machine }) => {
    const { loops, calls } = machine.inside;
    const isMeant = kind === 'exit' || (kind === 'return' ? calls : loops) > 0;
    if (isMeant) frame.scope.stopped = kind;
    return undefined;
  };
}

/** Enters a folder as `cd` does: resolves `..` by name, and puts the previous folder into OLDPWD. */
function enter({ machine, frame }: ProgramCall, word: string): Status {
  const { scope } = frame;
  const logical = machine.text(scope, 'PWD') ?? '';
  const base = isKnown(logical) && logical.startsWith('/') ? logical : machine.cwd(scope);
  const go = (folder: string) => {
    scope.set('OLDPWD', base, true);
    scope.set('PWD', folder, true);
    scope.set(CWD, folder);
  };
  if (!isKnown(word) || (!word.startsWith('/') && !isKnown(base))) {
    go(UNKNOWN);
    return undefined;
  }
  const folder = `/${normalised(word.startsWith('/') ? word : `${base}/${word}`)}`;
  if (machine.disk.isDirectory(folder)) {
    go(folder);
    return true;
  }
  if (!machine.disk.changed && machine.folders.size === 0) return false;
  // A program that we cannot read may have made the folder. If this command made or moved folders, its path is unknown.
  go(machine.disk.changed ? UNKNOWN : folder);
  return undefined;
}

function cd(call: ProgramCall): Status {
  const { machine, frame } = call;
  const [word] = parseOptions(call.args, {}).operands;
  if (word === '-') return enter(call, machine.text(frame.scope, 'OLDPWD') ?? UNKNOWN);
  return enter(call, word ?? machine.text(frame.scope, 'HOME') ?? machine.disk.world.home);
}

/** Handles `popd`: returns to the folder that the last `pushd` left. Earlier entries of the stack are unknown. */
function popd(call: ProgramCall): Status {
  const { scope } = call.frame;
  const status = enter(call, call.machine.text(scope, 'OLDPWD') ?? UNKNOWN);
  scope.set('OLDPWD', UNKNOWN);
  return status;
}

function pwd({ frame, machine }: ProgramCall): Status {
  frame.output.add(`${machine.cwd(frame.scope)}\n`);
  return true;
}

/** The commands that the shell itself carries out. */
export const BUILTINS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...['export', 'declare', 'typeset', 'local', 'readonly'].map((name) => [name, declare] as const),
  ...[':', 'true', 'wait', 'alias', 'hash', 'umask', 'ulimit', 'type', 'shopt', 'dirs'].map(
    (name) => [name, () => true] as const,
  ),
  ...['test', '['].map((name) => [name, () => undefined] as const),
  ...['mapfile', 'readarray'].map((name) => [name, mapfile] as const),
  ...['source', '.'].map((name) => [name, source] as const),
  ...['command', 'builtin'].map((name) => [name, plain] as const),
  ['false', () => false],
  ['unset', unset],
  ['set', set],
  ['shift', shift],
  ['read', read],
  ['echo', echo],
  ['printf', printf],
  ['eval', evaluate],
  ['let', arithmetic],
  ['trap', trap],
  ['exec', exec],
  ['exit', stop('exit')],
  ['return', stop('return')],
  ['break', stop('loop')],
  ['continue', stop('round')],
  ...['cd', 'pushd'].map((name) => [name, cd] as const),
  ['popd', popd],
  ['pwd', pwd],
]);
