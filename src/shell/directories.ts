import { basename, dirname } from './disk.ts';
import type { ProgramCall, Program, Status } from './machine.ts';
import { hasOption, parseOptions } from './options.ts';
import { CWD } from './scope.ts';
import { isKnown, UNKNOWN } from './unknown.ts';

const STACK = ' dirs';

/** Enters a folder as `cd` does: `..` is taken from the name (`-P`: from the disk), OLDPWD remembers the last. */
function enter(call: ProgramCall, word: string, physical: boolean): Status {
  const { machine, frame } = call;
  const { scope } = frame;
  const before = machine.cwd(scope);
  const logical = machine.value(scope, 'PWD');
  const base = typeof logical === 'string' && isKnown(logical) && logical.startsWith('/') ? logical : before;
  const go = (folder: string) => {
    scope.set('OLDPWD', base, true);
    scope.set('PWD', folder, true);
    scope.set(CWD, folder);
  };
  if (!isKnown(word) || (!word.startsWith('/') && !isKnown(base))) {
    machine.unsure = true;
    go(UNKNOWN);
    return undefined;
  }
  const folder = candidates(call, word, base, physical).find((path) => machine.disk.isDirectory(path));
  if (folder !== undefined) {
    go(folder);
    return true;
  }
  if (!machine.disk.changed) return false;
  // The folder may have been made by a part of the command that is not followed: both places are possible.
  const entered = scope.layer();
  const target = candidates(call, word, base, physical)[0] ?? UNKNOWN;
  for (const name of ['PWD', CWD]) entered.set(name, target);
  scope.join(entered);
  machine.branched = true;
  return undefined;
}

function candidates(
  { machine, frame }: ProgramCall,
  word: string,
  base: string,
  physical: boolean,
): string[] {
  const from = (folder: string) => {
    const joined = word.startsWith('/') ? word : `${folder}/${word}`;
    return physical ? machine.disk.realpath('/', joined) : lexical(joined);
  };
  const paths = [from(base)];
  const search = machine.value(frame.scope, 'CDPATH');
  if (typeof search === 'string' && !/^\.{0,2}\//.test(word)) {
    for (const folder of search.split(':')) {
      if (folder !== '' && isKnown(folder))
        paths.unshift(from(folder.startsWith('/') ? folder : `${base}/${folder}`));
    }
  }
  return paths;
}

/** Removes `.` and `..` by name alone, as a shell keeps its own idea of where it is. */
function lexical(path: string): string {
  const done: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') done.pop();
    else if (part !== '' && part !== '.') done.push(part);
  }
  return `/${done.join('/')}`;
}

function cd(call: ProgramCall): Status {
  const { machine, frame } = call;
  const options = parseOptions(call.args, {});
  const [word] = options.operands;
  if (word === '-') return enter(call, text(call, 'OLDPWD'), false);
  const home = frame.scope.lookup('HOME') === undefined ? machine.disk.world.home : text(call, 'HOME');
  return enter(call, word ?? home, hasOption(options, 'P'));
}

function text({ machine, frame }: ProgramCall, name: string): string {
  const value = machine.value(frame.scope, name);
  return typeof value === 'string' ? value : UNKNOWN;
}

function stack({ machine, frame }: ProgramCall): string[] {
  const value = machine.value(frame.scope, STACK);
  return value === undefined || typeof value === 'string' ? [] : [...value.values()];
}

function pushd(call: ProgramCall): Status {
  const { machine, frame } = call;
  const word = call.args.find((arg) => !/^-[nP]$|^--$/.test(arg));
  const folders = stack(call);
  const here = machine.cwd(frame.scope);
  const [top = UNKNOWN, ...rest] = folders;
  const status = enter(call, word ?? top, false);
  const next = word === undefined ? [here, ...rest] : [here, ...folders];
  if (status !== false) frame.scope.set(STACK, new Map(next.map((folder, n) => [String(n), folder])));
  return status;
}

function popd(call: ProgramCall): Status {
  const [top, ...rest] = stack(call);
  if (top === undefined) return false;
  call.frame.scope.set(STACK, new Map(rest.map((folder, n) => [String(n), folder])));
  return enter(call, top, false);
}

function pwd(call: ProgramCall): Status {
  const folder = call.machine.cwd(call.frame.scope);
  const physical = call.args.includes('-P') && isKnown(folder);
  call.frame.output.add(`${physical ? call.machine.disk.realpath('/', folder) : folder}\n`);
  return true;
}

/** `dirname`, `basename`, `realpath` and `readlink -f` of known paths. */
export const pathText: Program = ({ name, args, frame, machine }) => {
  const { operands, values } = parseOptions(args, {
    short: 's:',
    long: 'suffix= zero canonicalize canonicalize-existing canonicalize-missing relative-to= relative-base=',
  });
  const suffix = name === 'basename' ? (values.get('s')?.[0] ?? values.get('suffix')?.[0]) : undefined;
  const cut = suffix ?? (name === 'basename' && !values.has('a') ? operands[1] : undefined);
  const words =
    name === 'basename' && !values.has('a') && suffix === undefined ? operands.slice(0, 1) : operands;
  for (const word of words) {
    if (name === 'dirname') frame.output.add(`${dirname(word)}\n`);
    else if (name === 'basename') {
      const base = basename(word);
      frame.output.add(
        `${cut !== undefined && base.endsWith(cut) ? base.slice(0, base.length - cut.length) : base}\n`,
      );
    } else {
      const cwd = machine.cwd(frame.scope);
      const known = isKnown(cwd + word) && ![...values.keys()].some((key) => key.startsWith('relative'));
      frame.output.add(`${known ? machine.disk.realpath(cwd, word) : UNKNOWN}\n`);
    }
  }
  return undefined;
};

export const DIRECTORY_BUILTINS: readonly (readonly [string, Program])[] = [
  ['cd', cd],
  ['chdir', cd],
  ['pushd', pushd],
  ['popd', popd],
  ['dirs', () => true],
  ['pwd', pwd],
];
