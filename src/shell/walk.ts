import type {
  AndOr,
  ArithmeticFor,
  Assignment,
  Case,
  Command,
  For,
  If,
  Pipeline,
  Select,
  Statement,
  SyntaxNode,
  While,
  HereDoc,
  Redirect,
  Redirection,
} from 'unbash';
import { UNKNOWN } from './effects.ts';
import { CommandInput, CommandOutput, type Frame, type ShellMachine, type Status } from './machine.ts';
import { assign, setVariable } from './parameters.ts';
import { POSITIONAL, type Variable } from './scope.ts';
import { expandFields, expandText, runExpression, expandBody } from './words.ts';

type Loop = For | Select | While | ArithmeticFor;
const MAX_IDLE_ROUNDS = 3;
/** How many rounds of a loop of unknown length to run: the second may use what the first leaves behind. */
const MAX_POSSIBLE_ROUNDS = 2;

/** Runs a list of statements in order, until `exit` or the like ends them. */
export function runStatements(machine: ShellMachine, statements: readonly Statement[], frame: Frame): Status {
  let status: Status = true;
  for (const statement of statements) {
    if (machine.exhausted || frame.scope.stopped !== undefined) break;
    const inner = statement.background === true ? subshell(frame) : frame;
    status = runNode(machine, statement.command, inner);
  }
  return status;
}

function subshell(frame: Frame): Frame {
  return { ...frame, scope: frame.scope.layer() };
}

/** Runs a part that may or may not run: variables that it changes are unknown afterwards. */
function maybe(frame: Frame, run: (frame: Frame) => Status): Status {
  const branch = subshell(frame);
  run(branch);
  frame.scope.join(branch.scope);
  return undefined;
}

function runNode(machine: ShellMachine, node: SyntaxNode, frame: Frame): Status {
  switch (node.type) {
    case 'Command':
      return machine.step(node) ? runCommand(machine, node, frame) : undefined;
    case 'Pipeline':
      return runPipeline(machine, node, frame);
    case 'AndOr':
      return runAndOr(machine, node, frame);
    case 'CompoundList':
      return runStatements(machine, node.commands, frame);
    case 'BraceGroup':
      return runStatements(machine, node.body.commands, frame);
    case 'Subshell':
      return runStatements(machine, node.body.commands, subshell(frame));
    case 'Redirected':
      return runNode(machine, node.command, {
        ...applyRedirects(machine, node.redirects, frame),
        scope: frame.scope,
      });
    case 'If':
      return runIf(machine, node, frame);
    case 'For':
    case 'Select':
      return runFor(machine, node, frame);
    case 'While':
      return runWhile(machine, node, frame);
    case 'Case':
      return runCase(machine, node, frame);
    case 'ArithmeticFor':
      for (const part of [node.initialize, node.test, node.update]) runExpression(machine, part, frame);
      return maybe(frame, (branch) => runBody(machine, node, branch));
    case 'ArithmeticCommand':
    case 'TestCommand':
      runExpression(machine, node, frame);
      return undefined;
    case 'Function':
      frame.scope.defineFunction(expandText(machine, node.name, frame), node.body);
      return true;
    case 'Coproc':
      return runNode(machine, node.body, subshell(frame));
    default:
      return undefined;
  }
}

/** Runs a simple command: expands words, redirections and assignments in bash's order, then calls it. */
function runCommand(machine: ShellMachine, command: Command, frame: Frame): Status {
  const { words, arrays } = expandWords(machine, command, frame);
  const inner = command.redirects.length > 0 ? applyRedirects(machine, command.redirects, frame) : frame;
  const assignments = command.prefix.filter((part) => part.type === 'Assignment');
  if (words.length === 0) {
    for (const assignment of assignments) assign(machine, assignment, frame);
    // `$(< file)` prints the file.
    if (inner.input !== frame.input) inner.output.add(inner.input.rest);
    return true;
  }
  const status = withPrefix(machine, assignments, inner, () => machine.run.argv(machine, words, inner));
  for (const assignment of arrays) assign(machine, assignment, inner);
  return status;
}

/** Expands the words. Array assignments of `declare` and the like are kept separate; other assignments become `name=value`. */
function expandWords(machine: ShellMachine, command: Command, frame: Frame) {
  const words = command.name === undefined ? [] : expandFields(machine, command.name, frame);
  const arrays: Assignment[] = [];
  for (const part of command.suffix) {
    if (part.type === 'Word') words.push(...expandFields(machine, part, frame));
    else if (part.type === 'Assignment') {
      if (part.value.type === 'Word' && part.index === undefined) {
        const sign = part.append === true ? '+=' : '=';
        words.push(part.name + sign + expandText(machine, part.value, frame));
      } else arrays.push(part);
    }
  }
  return { words, arrays };
}

/** Runs a command with `NAME=value` before it: the variable is exported to the command, and restored afterwards. */
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

/** Calls a function: runs its body in the caller's scope, with the words as positional parameters. */
export function runFunction(
  machine: ShellMachine,
  body: SyntaxNode,
  args: readonly string[],
  frame: Frame,
): Status {
  const { scope } = frame;
  const before = scope.lookup(POSITIONAL)?.value ?? new Map<string, string>();
  scope.set(POSITIONAL, new Map(args.map((word, index) => [String(index + 1), word])));
  const inside = { loops: 0, calls: machine.inside.calls + 1 };
  const status = machine.within(inside, () => runNode(machine, body, frame));
  scope.set(POSITIONAL, before);
  if (scope.stopped === 'return') scope.stopped = undefined;
  return status;
}

function runPipeline(machine: ShellMachine, node: Pipeline, frame: Frame): Status {
  const last = node.commands.length - 1;
  let status: Status;
  let { input } = frame;
  for (const [index, command] of node.commands.entries()) {
    const output = index === last ? frame.output : new CommandOutput();
    const scope = last === 0 ? frame.scope : frame.scope.layer();
    status = runNode(machine, command, { scope, input, output });
    input = new CommandInput(output.text);
  }
  const negated = node.prefixes.filter((prefix) => prefix.type === 'Negation').length % 2 === 1;
  return negated && status !== undefined ? !status : status;
}

/** Runs `a && b || c`: skips what is certainly skipped, and runs what may run in a branch of the scope. */
function runAndOr(machine: ShellMachine, node: AndOr, frame: Frame): Status {
  let status: Status = true;
  let branch = frame;
  let previous: string | undefined;
  for (const [index, command] of node.commands.entries()) {
    const operator = index === 0 ? undefined : node.operators[index - 1];
    if (operator !== previous && branch !== frame) {
      frame.scope.join(branch.scope);
      branch = frame;
      status = undefined;
    }
    if (operator !== undefined && status === (operator === '||')) continue;
    previous = operator;
    if (operator !== undefined && status === undefined && branch === frame) branch = subshell(frame);
    if (branch.scope.stopped !== undefined || machine.exhausted) break;
    status = runNode(machine, command, branch);
  }
  if (branch === frame) return status;
  frame.scope.join(branch.scope);
  return undefined;
}

function runIf(machine: ShellMachine, node: If, frame: Frame): Status {
  let branched = false;
  const run = (body: readonly Statement[]) =>
    branched
      ? maybe(frame, (branch) => runStatements(machine, body, branch))
      : runStatements(machine, body, frame);
  for (const arm of [node, ...node.elif]) {
    const status = runStatements(machine, arm.clause.commands, frame);
    if (frame.scope.stopped !== undefined) return status;
    if (status === false) continue;
    branched ||= status === undefined;
    const result = run(arm.then.commands);
    if (status === true) return result;
  }
  if (node.else !== undefined) return run(node.else.commands);
  return branched ? undefined : true;
}

function runFor(machine: ShellMachine, node: For | Select, frame: Frame): Status {
  const given = node.wordlist?.flatMap((word) => expandFields(machine, word, frame));
  const all = frame.scope.lookup(POSITIONAL)?.value ?? [];
  const words = given ?? (typeof all === 'string' ? [UNKNOWN] : [...all.values()]);
  let status: Status = true;
  for (const word of words) {
    if (!machine.step(node) || frame.scope.stopped !== undefined) break;
    setVariable(machine, frame.scope, node.name.value, word, 'for');
    const run = (inner: Frame) => runBody(machine, node, inner);
    status = node.type === 'For' ? run(frame) : maybe(frame, run);
  }
  if (frame.scope.stopped === 'loop') frame.scope.stopped = undefined;
  return status;
}

/** Runs one round of a loop. After `continue` the loop continues; after `break` it ends. */
function runBody(machine: ShellMachine, { body }: Loop, frame: Frame): Status {
  const inside = { ...machine.inside, loops: machine.inside.loops + 1 };
  const status = machine.within(inside, () => runStatements(machine, body.commands, frame));
  if (frame.scope.stopped === 'round') frame.scope.stopped = undefined;
  return status;
}

/** Repeats a loop while it reads known input (`while read f`). A loop that reads nothing runs a few times. */
function runWhile(machine: ShellMachine, node: While, frame: Frame): Status {
  const body = (inner: Frame) => runBody(machine, node, inner);
  const { scope } = frame;
  let idle = 0;
  let possible = 0;
  while (idle < MAX_IDLE_ROUNDS && scope.stopped === undefined && machine.step(node)) {
    const before = frame.input.rest;
    const status = runStatements(machine, node.clause.commands, frame);
    if (status === (node.kind === 'until')) break;
    if (status === undefined) {
      maybe(frame, body);
      if (++possible === MAX_POSSIBLE_ROUNDS) break;
      continue;
    }
    body(frame);
    idle = frame.input.rest === before ? idle + 1 : 0;
  }
  if (scope.stopped === 'loop') scope.stopped = undefined;
  return undefined;
}

/** Runs a `case`. Does not decide which pattern matches: each pattern may. */
function runCase(machine: ShellMachine, node: Case, frame: Frame): Status {
  expandText(machine, node.word, frame);
  for (const item of node.items) {
    for (const pattern of item.pattern) expandText(machine, pattern, frame);
    maybe(frame, (branch) => runStatements(machine, item.body.commands, branch));
  }
  return undefined;
}

/** Opens a command's redirections in order: records the files that they create, and sets its input and output. */
function applyRedirects(machine: ShellMachine, redirects: readonly Redirection[], frame: Frame): Frame {
  let inner = frame;
  for (const redirect of redirects) {
    const { descriptor } = redirect;
    const number = descriptor?.type === 'FileDescriptor' ? descriptor.value : undefined;
    if (redirect.type === 'Redirect') {
      if (redirect.target === undefined) continue;
      inner = openFile(machine, redirect, descriptor === undefined ? undefined : (number ?? -1), inner);
    } else {
      const text = redirect.type === 'HereDoc' ? bodyText(machine, redirect, frame) : undefined;
      const word = redirect.type === 'HereString' ? redirect.target : undefined;
      const read = text ?? (word === undefined ? UNKNOWN : `${expandText(machine, word, frame)}\n`);
      if (descriptor === undefined || number === 0) inner = { ...inner, input: new CommandInput(read) };
    }
  }
  return inner;
}

function bodyText(machine: ShellMachine, document: HereDoc, frame: Frame): string {
  const { body, delimiter } = document;
  let text = body.text;
  if (delimiter?.quoted !== true) {
    if (body.parts === undefined)
      text = text.replace(/\\([$`\\\n])/g, (_, char: string) => (char === '\n' ? '' : char));
    else text = expandBody(machine, body.parts, frame);
  }
  return document.operator === '<<-' ? text.replace(/^\t+/gm, '') : text;
}

/** @param number the given descriptor; negative when the shell chooses one */
function openFile(
  machine: ShellMachine,
  redirect: Redirect,
  number: number | undefined,
  frame: Frame,
): Frame {
  const { operator } = redirect;
  const { scope } = frame;
  const word = targetWord(machine, redirect, frame);
  if (word === undefined) return frame;
  if (operator === '<') {
    if ((number ?? 0) !== 0) return frame;
    const path = machine.path(scope, word);
    const text = path === undefined ? undefined : machine.disk.text(path);
    return { ...frame, input: new CommandInput(text ?? UNKNOWN, path) };
  }
  if (operator === '<>') {
    // Opening a file for reading and writing changes nothing by itself. Nothing writes to descriptor 0.
    if ((number ?? 0) !== 0) machine.write(scope, word, '<>');
    return frame;
  }
  if (operator === '<&') return (number ?? 0) === 0 ? { ...frame, input: new CommandInput(UNKNOWN) } : frame;
  // The target is another descriptor, whose file was recorded when it was opened.
  if (operator === '>&' && /^\d*-?$/.test(word))
    return (number ?? 1) === 1 && word !== '1' ? { ...frame, output: new CommandOutput() } : frame;
  const path = machine.write(scope, word, operator);
  if ((number ?? 1) !== 1) return frame;
  const output = new CommandOutput();
  if (path === undefined) return { ...frame, output };
  if (operator.endsWith('>>'))
    output.add(machine.disk.text(path) ?? (machine.disk.exists(path) ? UNKNOWN : ''));
  machine.disk.setText(path, output);
  return { ...frame, output };
}

/** Returns the target as one word. For a pattern with several matches bash reports an error and writes nothing. */
function targetWord(machine: ShellMachine, redirect: Redirect, frame: Frame): string | undefined {
  const { target } = redirect;
  if (target?.parts === undefined) return target && expandText(machine, target, frame);
  const fields = expandFields(machine, target, frame);
  return fields.length === 1 ? fields[0] : undefined;
}
