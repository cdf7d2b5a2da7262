import type { Assignment, Command } from 'unbash';
import type { Frame, ShellMachine, Status } from './machine.ts';
import { applyRedirects } from './redirects.ts';
import type { Variable } from './scope.ts';
import { assign } from './variables.ts';
import { expandFields, expandText } from './words.ts';

/** Runs a simple command: words, redirections and assignments are expanded in bash's order, then it is called. */
export function runCommand(machine: ShellMachine, command: Command, frame: Frame): Status {
  const guesses = machine.guesses;
  const { words, arrays } = expandWords(machine, command, frame);
  const certain = machine.guesses === guesses;
  const redirects = command.redirects.length > 0 ? command.redirects : undefined;
  const inner = redirects === undefined ? frame : applyRedirects(machine, redirects, frame);
  const assignments = command.prefix.filter((part) => part.type === 'Assignment');
  if (words.length === 0) {
    for (const assignment of assignments) assign(machine, assignment, frame);
    // `$(< file)` prints the file.
    if (inner.input !== frame.input) inner.output.add(inner.input.rest);
    return true;
  }
  const status = withPrefix(machine, assignments, inner, () =>
    machine.run.argv(machine, words, inner, certain),
  );
  for (const assignment of arrays) assign(machine, assignment, inner);
  return status;
}

/** Expands the words; array assignments of `declare` and its kin stay apart, the others become `name=value`. */
function expandWords(machine: ShellMachine, command: Command, frame: Frame) {
  const words = command.name === undefined ? [] : expandFields(machine, command.name, frame);
  const arrays: Assignment[] = [];
  for (const part of command.suffix) {
    if (part.type === 'Word') words.push(...expandFields(machine, part, frame));
    else if (part.type === 'Assignment') {
      if (part.value.type === 'Word' && part.index === undefined) {
        words.push(
          `${part.name}${part.append === true ? '+' : ''}=${expandText(machine, part.value, frame)}`,
        );
      } else arrays.push(part);
    }
  }
  return { words, arrays };
}

/** Runs a command with `NAME=value` before it: exported to it, gone afterwards. */
function withPrefix(
  machine: ShellMachine,
  assignments: readonly Assignment[],
  frame: Frame,
  run: () => Status,
): Status {
  if (assignments.length === 0) return run();
  const { scope } = frame;
  const before = new Map<string, Variable | undefined>();
  for (const assignment of assignments) {
    if (!before.has(assignment.name)) before.set(assignment.name, scope.lookup(assignment.name));
    assign(machine, assignment, frame);
    scope.export(assignment.name, true);
  }
  const status = run();
  for (const [name, variable] of before) scope.restore(name, variable);
  return status;
}
