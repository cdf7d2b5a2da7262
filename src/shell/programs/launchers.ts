import type { ProgramCall, Program, Status } from '../machine.ts';
import {
  hasOption,
  optionValue,
  optionValues,
  parseOptions,
  type GetoptSpec,
  type Options,
} from '../options.ts';
import { checkIdentity, setVariable } from '../variables.ts';
import { clearIdentity } from '../builtins.ts';
import { runChildShell } from './shells.ts';

/** A program that starts another one from its own command line. */
interface Launcher extends GetoptSpec {
  /** Operands before the command: `timeout 5 cmd` has one. */
  readonly skip?: number;
  /** First operand that is no command either, where it is there (`setarch linux32 cmd`). */
  readonly optional?: RegExp;
  /** `NAME=value` words before the command go into its environment. */
  readonly assigns?: boolean;
  /** The words are joined to the text of a script (`watch`). */
  readonly joins?: boolean;
  /** Options whose value is the text of a script. */
  readonly script?: readonly string[];
  /** Options whose value is a file that is written. */
  readonly output?: readonly string[];
}

const LAUNCHERS: readonly (readonly [names: string, launcher: Launcher])[] = [
  ['nohup setsid unbuffer caffeinate catchsegv fakeroot eatmydata dbus-run-session proxychains torsocks', {}],
  [
    'busybox toybox coreutils npx bunx winpty rlwrap setpriv ltrace valgrind linux32 linux64 doas stdbuf',
    {
      short: 'o:e:i:u:C:p:',
    },
  ],
  ['nice', { short: 'n:', long: 'adjustment=' }],
  ['ionice', { short: 'c:n:p:P:u:', long: 'class= classdata=' }],
  ['timeout', { short: 's:k:', long: 'signal= kill-after=', skip: 1 }],
  ['setarch', { optional: /^(?:linux(?:32|64)|uname26|x86_64|i\d86|aarch64|arm\w*|ppc\w*|s390x?)$/ }],
  ['chrt taskset chroot', { skip: 1, short: 'p:c:T:P:D:' }],
  ['time', { short: 'f:o:', long: 'format= output=', output: ['o', 'output'] }],
  ['strace', { short: 'e:o:p:s:u:E:a:I:O:S:P:X:', output: ['o', 'output'], long: 'output=' }],
  ['sudo', { short: 'u:g:h:p:C:r:t:U:D:R:T:', long: 'user= group= host= prompt= chdir=', assigns: true }],
  ['cross-env cross-env-shell dotenv', { assigns: true, short: 'e:f:' }],
  ['watch', { short: 'n:d::', long: 'interval= differences=?', joins: true }],
  [
    'flock',
    { short: 's:w:E:c:', long: 'timeout= conflict-exit-code= command=', skip: 1, script: ['c', 'command'] },
  ],
  ['script', { short: 'c:o:t:B:I:O:E:m:', long: 'command=', script: ['c', 'command'], skip: 99 }],
  [
    'su runuser',
    { short: 'c:s:g:G:w:u:', long: 'command= shell= group=', script: ['c', 'command'], skip: 99 },
  ],
  [
    'systemd-run xvfb-run numactl prlimit unshare firejail',
    { short: 'p:u:M:E:n:s:a:', long: 'unit= property=' },
  ],
  ['nix-shell nix', { long: 'run= command= shell=', short: 'p:c:', script: ['run', 'command'], skip: 99 }],
  ['tmux screen', { short: 'S:L:f:s:n:c:t:F:x:y:d', joins: true, skip: 1 }],
  ['uv poetry pipenv bundle conda rye hatch pdm mise asdf corepack', { skip: 1 }],
  ['direnv', { skip: 2 }],
];

function launch(call: ProgramCall, launcher: Launcher): Status {
  const { machine, frame } = call;
  const options = parseOptions(call.args, { ...launcher, stops: true });
  for (const word of optionValues(options, ...(launcher.output ?? [])))
    machine.write(frame.scope, word, call.name);
  for (const text of optionValues(options, ...(launcher.script ?? []))) runChildShell(call, text);
  const rest = trailingScript(launcher, options);
  const isOptional = launcher.optional?.test(options.operands[0] ?? '') === true;
  const words = options.operands.slice(isOptional ? 1 : (launcher.skip ?? 0));
  if (rest !== undefined) return runChildShell(call, rest);
  if (launcher.joins === true) return runChildShell(call, words.join(' '));
  const start = launcher.assigns === true ? words.findIndex((word) => !isAssignment(word)) : 0;
  if (start < 0) return undefined;
  return withEnvironment(call, words.slice(0, start), words.slice(start));
}

/** `flock file -c text` and `su user -c text` have their option after an operand. */
function trailingScript({ script = [] }: Launcher, { operands }: Options): string | undefined {
  const at = operands.findIndex((word) =>
    script.some((name) => word === (name.length === 1 ? `-${name}` : `--${name}`)),
  );
  return at < 0 ? undefined : (operands[at + 1] ?? '');
}

function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*=/s.test(word);
}

function withEnvironment(
  call: ProgramCall,
  assignments: readonly string[],
  words: readonly string[],
): Status {
  const { machine } = call;
  const scope = call.frame.scope.layer();
  for (const word of assignments) {
    const equals = word.indexOf('=');
    setVariable(machine, scope, word.slice(0, equals), word.slice(equals + 1), call.name);
    scope.export(word.slice(0, equals), true);
  }
  return machine.run.argv(machine, words, { ...call.frame, scope });
}

function env(call: ProgramCall): Status {
  const { machine, frame } = call;
  const split = call.args.flatMap((word, n, all) => {
    const text = word === '-S' ? all[n + 1] : (/^(?:-S|--split-string=)(.+)$/s.exec(word)?.[1] ?? undefined);
    if (text !== undefined) return text.split(/\s+/);
    return all[n - 1] === '-S' ? [] : [word];
  });
  const options = parseOptions(split, {
    short: 'u:C:P:',
    long: 'unset= chdir= ignore-environment null split-string=',
    stops: true,
  });
  const isCleared = hasOption(options, 'i', 'ignore-environment') || split[0] === '-';
  if (isCleared) clearIdentity(call, 'env -i');
  const operands = options.operands.filter((word, n) => n > 0 || word !== '-');
  const scope = frame.scope.layer();
  for (const name of optionValues(options, 'u', 'unset')) {
    checkIdentity(machine, name, undefined, 'env -u');
    scope.unset(name);
  }
  const folder = optionValue(options, 'C', 'chdir');
  const inner = { ...call, frame: { ...frame, scope } };
  if (folder !== undefined) machine.run.argv(machine, ['cd', folder], inner.frame);
  const start = operands.findIndex((word) => !isAssignment(word));
  const count = start < 0 ? operands.length : start;
  return withEnvironment(inner, operands.slice(0, count), operands.slice(count));
}

/** `at` and `batch` run what they read, later. */
function later(call: ProgramCall): Status {
  return runChildShell(call, call.frame.input.rest);
}

export const LAUNCHER_PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...LAUNCHERS.flatMap(([names, launcher]) =>
    names.split(' ').map((name) => [name, (call: ProgramCall) => launch(call, launcher)] as const),
  ),
  ['env', env],
  ['at', later],
  ['batch', later],
]);
