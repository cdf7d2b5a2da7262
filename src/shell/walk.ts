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
import { CommandInput, CommandOutput, type Shell, type Status } from './machine.ts';
import { assign, setVariable } from './parameters.ts';
import { POSITIONAL, type Variable } from './scope.ts';
import { expandFields, expandText, runExpression, expandBody } from './words.ts';

type Loop = For | Select | While | ArithmeticFor;
const MAX_IDLE_ROUNDS = 3;
/** How many rounds of a loop of unknown length to run: the second may use what the first leaves behind. */
const MAX_POSSIBLE_ROUNDS = 2;

/** Runs a list of statements in order, until `exit` or the like ends them. */
export function runStatements(shell: Shell, statements: readonly Statement[]): Status {
  let status: Status = true;
  for (const statement of statements) {
    if (shell.machine.exhausted || shell.scope.stopped !== undefined) break;
    status = runNode(statement.background === true ? shell.subshell() : shell, statement.command);
  }
  return status;
}

/** Runs a part that may or may not run: variables that it changes are unknown afterwards. */
function maybe(shell: Shell, run: (branch: Shell) => Status): Status {
  const branch = shell.subshell();
  run(branch);
  shell.scope.join(branch.scope);
  return undefined;
}

function runNode(shell: Shell, node: SyntaxNode): Status {
  switch (node.type) {
    case 'Command':
      return shell.machine.step(node) ? runCommand(shell, node) : undefined;
    case 'Pipeline':
      return runPipeline(shell, node);
    case 'AndOr':
      return runAndOr(shell, node);
    case 'CompoundList':
      return runStatements(shell, node.commands);
    case 'BraceGroup':
      return runStatements(shell, node.body.commands);
    case 'Subshell':
      return runStatements(shell.subshell(), node.body.commands);
    case 'Redirected':
      return runNode(applyRedirects(shell, node.redirects), node.command);
    case 'If':
      return runIf(shell, node);
    case 'For':
    case 'Select':
      return runFor(shell, node);
    case 'While':
      return runWhile(shell, node);
    case 'Case':
      return runCase(shell, node);
    case 'ArithmeticFor':
      for (const part of [node.initialize, node.test, node.update]) runExpression(shell, part);
      return maybe(shell, (branch) => runBody(branch, node));
    case 'ArithmeticCommand':
    case 'TestCommand':
      runExpression(shell, node);
      return undefined;
    case 'Function':
      shell.scope.defineFunction(expandText(shell, node.name), node.body);
      return true;
    case 'Coproc':
      return runNode(shell.subshell(), node.body);
    default:
      return undefined;
  }
}

/** Runs a simple command: expands words, redirections and assignments in bash's order, then calls it. */
function runCommand(shell: Shell, command: Command): Status {
  const { words, arrays } = expandWords(shell, command);
  const inner = command.redirects.length > 0 ? applyRedirects(shell, command.redirects) : shell;
  const assignments = command.prefix.filter((part) => part.type === 'Assignment');
  if (words.length === 0) {
    for (const assignment of assignments) assign(shell, assignment);
    // `$(< file)` prints the file.
    if (inner.input !== shell.input) inner.print(inner.input.rest);
    return true;
  }
  const status = withPrefix(inner, assignments, () => inner.run(words));
  for (const assignment of arrays) assign(inner, assignment);
  return status;
}

/** Expands the words. Array assignments of `declare` and the like are kept separate; other assignments become `name=value`. */
function expandWords(shell: Shell, command: Command) {
  const name = command.name === undefined ? [] : expandFields(shell, command.name);
  const arrays: Assignment[] = [];
  const suffix = command.suffix.flatMap((part) => {
    if (part.type === 'Word') return expandFields(shell, part);
    if (part.type !== 'Assignment') return [];
    if (part.value.type === 'Word' && part.index === undefined)
      return [part.name + (part.append === true ? '+=' : '=') + expandText(shell, part.value)];
    arrays.push(part);
    return [];
  });
  return { words: [...name, ...suffix], arrays };
}

/** Runs a command with `NAME=value` before it: the variable is exported to the command, and restored afterwards. */
function withPrefix(shell: Shell, assignments: readonly Assignment[], run: () => Status): Status {
  if (assignments.length === 0) return run();
  const { scope } = shell;
  const before = new Map<string, Variable | undefined>();
  for (const assignment of assignments) {
    if (!before.has(assignment.name)) before.set(assignment.name, scope.lookup(assignment.name));
    assign(shell, assignment);
    scope.export(assignment.name, true);
  }
  const status = run();
  for (const [name, variable] of before) scope.restore(name, variable);
  return status;
}

/** Calls a function: runs its body in the caller's scope, with the words as positional parameters. */
export function runFunction(shell: Shell, body: SyntaxNode, args: readonly string[]): Status {
  const { machine, scope } = shell;
  const before = scope.lookup(POSITIONAL)?.value ?? new Map<string, string>();
  scope.setPositional(args);
  const inside = { loops: 0, calls: machine.inside.calls + 1 };
  const status = machine.within(inside, () => runNode(shell, body));
  scope.set(POSITIONAL, before);
  if (scope.stopped === 'return') scope.stopped = undefined;
  return status;
}

function runPipeline(shell: Shell, node: Pipeline): Status {
  const last = node.commands.length - 1;
  let status: Status;
  let { input } = shell;
  for (const [index, command] of node.commands.entries()) {
    const output = index === last ? shell.output : new CommandOutput();
    const scope = last === 0 ? shell.scope : shell.scope.layer();
    status = runNode(shell.with({ scope, input, output }), command);
    input = new CommandInput(output.text);
  }
  const negated = node.prefixes.filter((prefix) => prefix.type === 'Negation').length % 2 === 1;
  return negated && status !== undefined ? !status : status;
}

/** Runs `a && b || c`, except what bash would certainly skip. A command that may or may not run gets a layer of the scope. */
function runAndOr(shell: Shell, node: AndOr): Status {
  let status: Status = true;
  let branch = shell;
  let previous: string | undefined;
  for (const [index, command] of node.commands.entries()) {
    const operator = index === 0 ? undefined : node.operators[index - 1];
    if (operator !== previous && branch !== shell) {
      shell.scope.join(branch.scope);
      branch = shell;
      status = undefined;
    }
    if (operator !== undefined && status === (operator === '||')) continue;
    previous = operator;
    if (operator !== undefined && status === undefined && branch === shell) branch = shell.subshell();
    if (branch.scope.stopped !== undefined || shell.machine.exhausted) break;
    status = runNode(branch, command);
  }
  if (branch === shell) return status;
  shell.scope.join(branch.scope);
  return undefined;
}

function runIf(shell: Shell, node: If): Status {
  let branched = false;
  const run = (body: readonly Statement[]) =>
    branched ? maybe(shell, (branch) => runStatements(branch, body)) : runStatements(shell, body);
  for (const arm of [node, ...node.elif]) {
    const status = runStatements(shell, arm.clause.commands);
    if (shell.scope.stopped !== undefined) return status;
    if (status === false) continue;
    branched ||= status === undefined;
    const result = run(arm.then.commands);
    if (status === true) return result;
  }
  if (node.else !== undefined) return run(node.else.commands);
  return branched ? undefined : true;
}

function runFor(shell: Shell, node: For | Select): Status {
  const given = node.wordlist?.flatMap((word) => expandFields(shell, word));
  const all = shell.scope.lookup(POSITIONAL)?.value ?? [];
  const words = given ?? (typeof all === 'string' ? [UNKNOWN] : [...all.values()]);
  let status: Status = true;
  for (const word of words) {
    if (!shell.machine.step(node) || shell.scope.stopped !== undefined) break;
    setVariable(shell, node.name.value, word, 'for');
    const run = (inner: Shell) => runBody(inner, node);
    status = node.type === 'For' ? run(shell) : maybe(shell, run);
  }
  if (shell.scope.stopped === 'loop') shell.scope.stopped = undefined;
  return status;
}

/** Runs one round of a loop. After `continue` the loop continues; after `break` it ends. */
function runBody(shell: Shell, { body }: Loop): Status {
  const { machine } = shell;
  const inside = { ...machine.inside, loops: machine.inside.loops + 1 };
  const status = machine.within(inside, () => runStatements(shell, body.commands));
  if (shell.scope.stopped === 'round') shell.scope.stopped = undefined;
  return status;
}

/** Repeats a loop while it reads known input (`while read f`). A loop that reads nothing runs a few times. */
function runWhile(shell: Shell, node: While): Status {
  const body = (inner: Shell) => runBody(inner, node);
  const { scope } = shell;
  let idle = 0;
  let possible = 0;
  while (idle < MAX_IDLE_ROUNDS && scope.stopped === undefined && shell.machine.step(node)) {
    const before = shell.input.rest;
    const status = runStatements(shell, node.clause.commands);
    if (status === (node.kind === 'until')) break;
    if (status === undefined) {
      maybe(shell, body);
      if (++possible === MAX_POSSIBLE_ROUNDS) break;
      continue;
    }
    body(shell);
    idle = shell.input.rest === before ? idle + 1 : 0;
  }
  if (scope.stopped === 'loop') scope.stopped = undefined;
  return undefined;
}

/** Runs a `case`. Does not decide which pattern matches: each pattern may. */
function runCase(shell: Shell, node: Case): Status {
  expandText(shell, node.word);
  for (const item of node.items) {
    for (const pattern of item.pattern) expandText(shell, pattern);
    maybe(shell, (branch) => runStatements(branch, item.body.commands));
  }
  return undefined;
}

/** Opens a command's redirections in order: records the files that they create, and sets its input and output. */
function applyRedirects(shell: Shell, redirects: readonly Redirection[]): Shell {
  let inner = shell;
  for (const redirect of redirects) {
    const { descriptor } = redirect;
    const number = descriptor?.type === 'FileDescriptor' ? descriptor.value : undefined;
    if (redirect.type === 'Redirect') {
      if (redirect.target === undefined) continue;
      inner = openFile(inner, redirect, descriptor === undefined ? undefined : (number ?? -1));
    } else {
      const text = redirect.type === 'HereDoc' ? bodyText(shell, redirect) : undefined;
      const word = redirect.type === 'HereString' ? redirect.target : undefined;
      const read = text ?? (word === undefined ? UNKNOWN : `${expandText(shell, word)}\n`);
      if (descriptor === undefined || number === 0) inner = inner.with({ input: new CommandInput(read) });
    }
  }
  return inner;
}

function bodyText(shell: Shell, document: HereDoc): string {
  const { body, delimiter } = document;
  let text = body.text;
  if (delimiter?.quoted !== true) {
    if (body.parts === undefined)
      text = text.replace(/\\([$`\\\n])/g, (_, char: string) => (char === '\n' ? '' : char));
    else text = expandBody(shell, body.parts);
  }
  return document.operator === '<<-' ? text.replace(/^\t+/gm, '') : text;
}

/** @param number the given descriptor; negative when the shell chooses one */
function openFile(shell: Shell, redirect: Redirect, number: number | undefined): Shell {
  const { operator } = redirect;
  const { disk } = shell.machine;
  const word = targetWord(shell, redirect);
  if (word === undefined) return shell;
  if (operator === '<') {
    if ((number ?? 0) !== 0) return shell;
    return shell.with({ input: new CommandInput(shell.fileText(word) ?? UNKNOWN, shell.path(word)) });
  }
  if (operator === '<>') {
    // Opening a file for reading and writing changes nothing by itself. Nothing writes to descriptor 0.
    if ((number ?? 0) !== 0) shell.write(word, '<>');
    return shell;
  }
  if (operator === '<&')
    return (number ?? 0) === 0 ? shell.with({ input: new CommandInput(UNKNOWN) }) : shell;
  // The target is another descriptor, whose file was recorded when it was opened.
  if (operator === '>&' && /^\d*-?$/.test(word))
    return (number ?? 1) === 1 && word !== '1' ? shell.with({ output: new CommandOutput() }) : shell;
  const path = shell.write(word, operator);
  if ((number ?? 1) !== 1) return shell;
  const output = new CommandOutput();
  if (path === undefined) return shell.with({ output });
  if (operator.endsWith('>>')) output.add(disk.text(path) ?? (disk.exists(path) ? UNKNOWN : ''));
  disk.setText(path, output);
  return shell.with({ output });
}

/** Returns the target as one word. For a pattern with several matches bash reports an error and writes nothing. */
function targetWord(shell: Shell, redirect: Redirect): string | undefined {
  const { target } = redirect;
  if (target?.parts === undefined) return target && expandText(shell, target);
  const fields = expandFields(shell, target);
  return fields.length === 1 ? fields[0] : undefined;
}
