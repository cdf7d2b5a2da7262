import { SESSION_VARIABLES } from '../domain/names.ts';
import { UNKNOWN, isKnown } from './effects.ts';
import type { Program, Shell, Status } from './machine.ts';
import { byName, hasOption, normalised, optionValue, parseOptions } from './options.ts';
import { checkIdentity, setVariable } from './parameters.ts';
import { CWD, POSITIONAL } from './scope.ts';
import { recordSpelled } from './spelled.ts';

function declare(shell: Shell, args: readonly string[], name: string): Status {
  const { scope } = shell;
  const flags = args.filter((word) => /^[-+]/.test(word)).join('');
  const exports = name === 'export' ? !flags.includes('n') : /-\w*x/.test(flags);
  for (const word of args.filter((arg) => !/^[-+]/.test(arg))) {
    const [, variable = word, append, value] = /^([A-Za-z_]\w*)(?:\[\w*\])?(\+?)=(.*)$/s.exec(word) ?? [];
    const body = flags.includes('f') ? scope.function(variable) : undefined;
    if (body !== undefined) scope.defineFunction(variable, body, exports);
    if (flags.includes('f')) continue;
    const before = append === '+' ? (shell.text(variable) ?? '') : '';
    if (value !== undefined) setVariable(shell, variable, before + value, name);
    if (exports) scope.export(variable, true);
    else if (name === 'export') {
      checkIdentity(shell, variable, undefined, 'export -n');
      scope.export(variable, false);
    }
  }
  return true;
}

function unset(shell: Shell, args: readonly string[]): Status {
  for (const name of args.filter((word) => !word.startsWith('-'))) {
    checkIdentity(shell, name, undefined, 'unset');
    shell.scope.unset(name);
  }
  return true;
}

/** Handles `set -- a b`. Shell options (`set -e`) do not affect the analysis. */
function set(shell: Shell, args: readonly string[]): Status {
  const first = args.findIndex((word) => word === '--' || !/^[-+]/.test(word));
  if (first < 0 || /^[-+]\w*o$/.test(args[first - 1] ?? '')) return true;
  shell.scope.setPositional(args.slice(args[first] === '--' ? first + 1 : first));
  return true;
}

function shift(shell: Shell, args: readonly string[]): Status {
  const words = shell.scope.lookup(POSITIONAL)?.value;
  if (words === undefined || typeof words === 'string') return undefined;
  shell.machine.charge(words.size);
  shell.scope.setPositional([...words.values()].slice(Number(args[0] ?? 1)));
  return true;
}

/** Handles `read`: assigns the words of the input's next line. With an array or other separators the words are unknown. */
function read(shell: Shell, args: readonly string[], name: string): Status {
  const options = parseOptions(args, { short: 'a:d:i:n:N:p:t:u:', stops: true });
  const array = optionValue(options, 'a');
  const names = array !== undefined ? [array] : options.operands.length > 0 ? options.operands : ['REPLY'];
  const isPlain = array === undefined && !hasOption(options, 'd', 'n', 'N', 'u');
  const line = isPlain ? shell.input.line() : UNKNOWN;
  if (line === undefined) return false;
  const separators = shell.text('IFS');
  const known = isPlain && line !== UNKNOWN && (separators === undefined || separators === '');
  let rest = line;
  for (const [n, variable] of names.entries()) {
    const [word = ''] = /^\S+/.exec((rest = separators === '' ? rest : rest.trimStart())) ?? [];
    const value = n === names.length - 1 ? (separators === '' ? rest : rest.trimEnd()) : word;
    setVariable(shell, variable, known ? value : UNKNOWN, name);
    rest = rest.slice(word.length);
  }
  return known ? true : undefined;
}

function mapfile(shell: Shell, args: readonly string[], name: string): Status {
  const { operands } = parseOptions(args, { short: 'd:n:O:s:u:C:c:' });
  setVariable(shell, operands[0] ?? 'MAPFILE', UNKNOWN, name);
  return true;
}

function echo(shell: Shell, args: readonly string[]): Status {
  let first = 0;
  while (/^-[neE]+$/.test(args[first] ?? '')) first++;
  const flags = args.slice(0, first).join('');
  const text = args.slice(first).join(' ');
  shell.print(flags.includes('e') && text.includes('\\') ? UNKNOWN : text);
  if (!flags.includes('n')) shell.print('\n');
  return true;
}

/** Handles `printf`: prints a text that has no placeholders; any other output is unknown. */
function printf(shell: Shell, [first = '', ...rest]: readonly string[], name: string): Status {
  const isPlain = rest.length === 0 && !/%|\\(?!n)/.test(first);
  if (first === '-v') setVariable(shell, rest[0] ?? '', UNKNOWN, name);
  else shell.print(isPlain ? first.replaceAll('\\n', '\n') : UNKNOWN);
  return true;
}

function evaluate(shell: Shell, args: readonly string[]): Status {
  return shell.script(args.slice(args[0] === '--' ? 1 : 0).join(' '));
}

/** Handles `let i+=1 j=2` like `(( i+=1, j=2 ))`. */
function arithmetic(shell: Shell, args: readonly string[]): Status {
  return shell.script(`((${args.join(',')}))`);
}

function source(shell: Shell, args: readonly string[]): Status {
  const [file = '', ...words] = args.filter((word, n) => n > 0 || word !== '--');
  const text = file === '/dev/stdin' ? shell.input.rest : shell.fileText(file);
  if (text === undefined) return undefined;
  if (words.length > 0) shell.scope.setPositional(words);
  const { machine } = shell;
  const inside = { ...machine.inside, calls: machine.inside.calls + 1 };
  const status = machine.within(inside, () => shell.script(text));
  if (shell.scope.stopped === 'return') shell.scope.stopped = undefined;
  return status;
}

/** Handles `trap`. The text runs later, so it is not analysed: only its guarded names are recorded. */
function trap(shell: Shell, args: readonly string[]): Status {
  for (const word of args) recordSpelled(shell, word, 'trap');
  return true;
}

function exec(shell: Shell, args: readonly string[]): Status {
  const { operands, values } = parseOptions(args, { short: 'a:', stops: true });
  if (values.has('c')) clearIdentity(shell, 'exec -c');
  if (operands.length === 0) return true;
  const status = shell.run(operands, true);
  shell.scope.stopped = 'exit';
  return status;
}

/** Records that a command starts with an empty environment, and so without any session id. */
export function clearIdentity({ machine }: Shell, by: string): void {
  for (const name of Object.keys(SESSION_VARIABLES))
    machine.found.identity.push({ kind: 'variable', name, by });
}

/** Handles `command` and `builtin`: runs the words after them, but no function. `command -v` only looks a name up. */
function plain(shell: Shell, args: readonly string[]): Status {
  const { operands, values } = parseOptions(args, { stops: true });
  if (!values.has('v') && !values.has('V')) return shell.run(operands, true);
  shell.print(`${operands.join('\n')}\n`);
  return undefined;
}

function stop(kind: 'exit' | 'return' | 'loop' | 'round'): Program {
  return ({ scope, machine }) => {
    const { loops, calls } = machine.inside;
    const isMeant = kind === 'exit' || (kind === 'return' ? calls : loops) > 0;
    if (isMeant) scope.stopped = kind;
    return undefined;
  };
}

/** Enters a folder as `cd` does: resolves `..` by name, and puts the previous folder into OLDPWD. */
function enter(shell: Shell, word: string): Status {
  const { scope, machine } = shell;
  const logical = shell.text('PWD') ?? '';
  const base = isKnown(logical) && logical.startsWith('/') ? logical : shell.cwd;
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
  // A program that we cannot read may have made the folder. If this command line made or moved folders, the path is unknown.
  go(machine.disk.changed ? UNKNOWN : folder);
  return undefined;
}

function cd(shell: Shell, args: readonly string[]): Status {
  const [word] = parseOptions(args, {}).operands;
  if (word === '-') return enter(shell, shell.text('OLDPWD') ?? UNKNOWN);
  return enter(shell, word ?? shell.text('HOME') ?? shell.machine.disk.world.home);
}

/** Handles `popd`: returns to the folder that the last `pushd` left. Earlier entries of the stack are unknown. */
function popd(shell: Shell): Status {
  const status = enter(shell, shell.text('OLDPWD') ?? UNKNOWN);
  shell.scope.set('OLDPWD', UNKNOWN);
  return status;
}

function pwd(shell: Shell): Status {
  shell.print(`${shell.cwd}\n`);
  return true;
}

export const BUILTINS = byName<Program>({
  'export declare typeset local readonly': declare,
  ': true wait alias hash umask ulimit type shopt dirs': () => true,
  'test [': () => undefined,
  'mapfile readarray': mapfile,
  'source .': source,
  'command builtin': plain,
  false: () => false,
  unset,
  set,
  shift,
  read,
  echo,
  printf,
  eval: evaluate,
  let: arithmetic,
  trap,
  exec,
  exit: stop('exit'),
  return: stop('return'),
  break: stop('loop'),
  continue: stop('round'),
  'cd pushd': cd,
  popd,
  pwd,
});
