import { addCheapEffects, isTooLarge } from './cheap.ts';
import { callCommand, type Callables } from './dispatch.ts';
import type { ShellEffects, ShellWorld } from './effects.ts';
import { CommandInput, ShellMachine, CommandOutput, type Frame, type Runner } from './machine.ts';
import { PROGRAMS } from './programs/table.ts';
import { CWD, Scope } from './scope.ts';
import { parseScript } from './script.ts';
import { UNKNOWN } from './unknown.ts';
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
