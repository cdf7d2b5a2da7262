import type {
  AndOr,
  ArithmeticCommand,
  ArithmeticFor,
  Case,
  Command,
  For,
  If,
  Pipeline,
  Select,
  Statement,
  SyntaxNode,
  While,
} from 'unbash';
import { assignAll } from './arithmetic.ts';
import { runCommand } from './command.ts';
import { decideTest } from './conditions.ts';
import { CommandInput, CommandOutput, type Frame, type ShellMachine, type Status } from './machine.ts';
import { patternMatcher } from './pattern.ts';
import { applyRedirects } from './redirects.ts';
import { POSITIONAL, type Scope, type Value } from './scope.ts';
import { isKnown, UNKNOWN } from './unknown.ts';
import { setVariable } from './variables.ts';
import { expandFields, expandPattern, expandText, runEmbedded } from './words.ts';

type Loop = For | Select | While | ArithmeticFor;
const MAX_IDLE_ROUNDS = 3;
/** Rounds of a loop of which nobody knows how often it runs: what one round leaves behind, the next may use. */
const MAX_POSSIBLE_ROUNDS = 2;
const MAX_LAYERS = 32;

/** Runs a list of statements in order, as far as `exit` and the like let it. */
export function runStatements(machine: ShellMachine, statements: readonly Statement[], frame: Frame): Status {
  let status: Status = true;
  for (const statement of statements) {
    if (machine.exhausted || frame.scope.stopped !== undefined) break;
    if (statement.background === true) status = runNode(machine, statement.command, subshell(frame));
    else status = runNode(machine, statement.command, frame);
  }
  return status;
}

function subshell(frame: Frame): Frame {
  return { ...frame, scope: frame.scope.layer() };
}

/** Runs what may or may not happen: its changes become further possible values. */
function maybe(machine: ShellMachine, frame: Frame, run: (frame: Frame) => Status): Status {
  const branch = subshell(frame);
  const status = run(branch);
  if (branch.scope.changed) machine.branched = true;
  frame.scope.join(branch.scope);
  return status;
}

function runNode(machine: ShellMachine, node: SyntaxNode, frame: Frame): Status {
  switch (node.type) {
    case 'Command':
      return runSimple(machine, node, frame);
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
      return eachStatus(machine, frame, (chosen) => {
        const inner = applyRedirects(machine, node.redirects, chosen);
        return runNode(machine, node.command, { ...inner, scope: chosen.scope });
      });
    case 'If':
      return runIf(machine, node, frame);
    case 'For':
    case 'Select':
      return eachStatus(machine, frame, (chosen) => runFor(machine, node, chosen));
    case 'While':
      return runWhile(machine, node, frame);
    case 'Case':
      return eachStatus(machine, frame, (chosen) => runCase(machine, node, chosen));
    case 'ArithmeticFor':
      for (const part of [node.initialize, node.test, node.update]) {
        if (part === undefined) continue;
        runEmbedded(machine, part, frame);
        assignAll(machine, part, frame.scope, true);
      }
      return maybe(machine, frame, (branch) => runBody(machine, node, branch));
    case 'ArithmeticCommand':
      return eachStatus(machine, frame, (chosen) => runArithmetic(machine, node, chosen));
    case 'TestCommand':
      runEmbedded(machine, node, frame);
      return eachStatus(machine, frame, (chosen) => decideTest(machine, node.expression, chosen));
    case 'Function':
      frame.scope.defineFunction(expandText(machine, node.name, frame), node.body);
      return true;
    case 'Coproc':
      return runNode(machine, node.body, {
        ...subshell(frame),
        input: new CommandInput(UNKNOWN),
        output: new CommandOutput(),
      });
    default:
      return undefined;
  }
}

function runArithmetic(machine: ShellMachine, { expression }: ArithmeticCommand, frame: Frame): Status {
  if (expression === undefined) return undefined;
  runEmbedded(machine, expression, frame);
  assignAll(machine, expression, frame.scope);
  return undefined;
}

function runSimple(machine: ShellMachine, node: Command, frame: Frame): Status {
  if (!machine.step(node)) return undefined;
  return eachStatus(machine, frame, (chosen) => runCommand(machine, node, chosen));
}

/** Calls a function: its body with the words as positional parameters, in the caller's scope. */
export function runFunction(
  machine: ShellMachine,
  body: SyntaxNode,
  args: readonly string[],
  frame: Frame,
): Status {
  const { scope } = frame;
  const before = scope.lookup(POSITIONAL)?.values[0] ?? new Map<string, string>();
  scope.set(POSITIONAL, positional(args));
  const inside = { loops: 0, calls: machine.inside.calls + 1 };
  const status = machine.within(inside, () => runNode(machine, body, frame));
  scope.set(POSITIONAL, before);
  if (scope.stopped === 'return') scope.stopped = undefined;
  return status;
}

/** The value of `$@` for a list of words. */
function positional(words: readonly string[]): ReadonlyMap<string, string> {
  return new Map(words.map((word, index) => [String(index + 1), word]));
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

/** `a && b || c`: what is skipped for certain is skipped, what may run runs in a branch of the scope. */
function runAndOr(machine: ShellMachine, node: AndOr, frame: Frame): Status {
  const layers: Frame[] = [frame];
  let status: Status = true;
  let previous: string | undefined;
  const joinLayers = () => {
    for (let top = layers.pop(); top !== undefined; top = layers.pop()) {
      const below = layers.at(-1);
      if (below === undefined) break;
      if (top.scope.changed) machine.branched = true;
      below.scope.join(top.scope);
    }
    layers.push(frame);
  };
  for (const [index, command] of node.commands.entries()) {
    const operator = index === 0 ? undefined : node.operators[index - 1];
    if (operator !== undefined && status === (operator === '||')) continue;
    if (operator !== previous && index > 1) joinLayers();
    previous = operator;
    let top = layers.at(-1) ?? frame;
    if (operator !== undefined && status === undefined && (top === frame || top.scope.changed)) {
      if (layers.length > MAX_LAYERS) joinLayers();
      top = subshell(layers.at(-1) ?? frame);
      layers.push(top);
    }
    if (top.scope.stopped !== undefined || machine.exhausted) break;
    status = runNode(machine, command, top);
  }
  const isCertain = layers.length === 1;
  joinLayers();
  return isCertain ? status : undefined;
}

function runIf(machine: ShellMachine, node: If, frame: Frame): Status {
  let branched = false;
  for (const arm of [node, ...node.elif]) {
    const status = runStatements(machine, arm.clause.commands, frame);
    if (frame.scope.stopped !== undefined) return status;
    if (status === false) continue;
    const isCertain = status === true && !branched;
    const body = arm.then.commands;
    if (isCertain) return runStatements(machine, body, frame);
    branched = true;
    maybe(machine, frame, (branch) => runStatements(machine, body, branch));
    if (status === true) return undefined;
  }
  const rest = node.else?.commands;
  if (rest === undefined) return branched ? undefined : true;
  if (!branched) return runStatements(machine, rest, frame);
  maybe(machine, frame, (branch) => runStatements(machine, rest, branch));
  return undefined;
}

function runFor(machine: ShellMachine, node: For | Select, frame: Frame): Status {
  const name = node.name.value;
  const given = node.wordlist?.flatMap((word) => expandFields(machine, word, frame));
  const all = machine.value(frame.scope, POSITIONAL);
  const words = given ?? (all === undefined || typeof all === 'string' ? [] : [...all.values()]);
  let status: Status = true;
  for (const word of words) {
    if (!machine.step(node) || frame.scope.stopped !== undefined) break;
    setVariable(machine, frame.scope, name, word, 'for');
    const run = (inner: Frame) => runBody(machine, node, inner);
    status = node.type === 'For' ? run(frame) : maybe(machine, frame, run);
  }
  if (frame.scope.stopped === 'loop') frame.scope.stopped = undefined;
  return status;
}

/** One round of a loop: after `continue` the loop goes on, after `break` it does not. */
function runBody(machine: ShellMachine, { body }: Loop, frame: Frame): Status {
  const inside = { ...machine.inside, loops: machine.inside.loops + 1 };
  const status = machine.within(inside, () => runStatements(machine, body.commands, frame));
  if (frame.scope.stopped === 'round') frame.scope.stopped = undefined;
  return status;
}

/** Rounds go on while they read known input (`while read f`); a loop that reads nothing is run a few times. */
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
      maybe(machine, frame, body);
      if (++possible === MAX_POSSIBLE_ROUNDS) break;
      continue;
    }
    body(frame);
    idle = frame.input.rest === before ? idle + 1 : 0;
  }
  if (scope.stopped === 'loop') scope.stopped = undefined;
  return undefined;
}

function runCase(machine: ShellMachine, node: Case, frame: Frame): Status {
  const guesses = machine.guesses;
  const word = expandText(machine, node.word, frame);
  let isDecided = isKnown(word) && machine.guesses === guesses;
  let fallsThrough = false;
  for (const item of node.items) {
    const patterns = item.pattern.map((pattern) => expandPattern(machine, pattern, frame));
    isDecided &&= patterns.every(isKnown);
    const isMatch = fallsThrough || !isDecided || patterns.some((pattern) => patternMatcher(pattern)(word));
    if (!isMatch) continue;
    if (isDecided) runStatements(machine, item.body.commands, frame);
    else maybe(machine, frame, (branch) => runStatements(machine, item.body.commands, branch));
    fallsThrough = item.terminator === ';&';
    if (isDecided && item.terminator === ';;') break;
  }
  return undefined;
}

const MAX_ATTEMPTS = 64;

/**
 * Runs a step once for each combination of the possible values that it looks at, so that expansion itself
 * deals with one value at a time. Without branches so far this is one plain call. Returns the first result.
 */
function eachChoice<T>(machine: ShellMachine, frame: Frame, run: (frame: Frame) => T): T | undefined {
  if (!machine.branched) return run(frame);
  const outer = machine.ambiguous;
  const layers: Scope[] = [];
  const results: T[] = [];
  const open: ReadonlyMap<string, Value>[] = [new Map()];
  for (let pins = open.pop(); pins !== undefined; pins = open.pop()) {
    if (layers.length >= MAX_ATTEMPTS) machine.exhausted = true;
    if (machine.exhausted) break;
    machine.ambiguous = [];
    const scope = frame.scope.layer();
    for (const [name, value] of pins) scope.set(name, value);
    results.push(run({ ...frame, scope }));
    layers.push(scope);
    open.push(...furtherChoices(frame.scope, pins, machine.ambiguous));
  }
  machine.ambiguous = outer;
  const [first] = layers;
  if (layers.length === 1 && first !== undefined) frame.scope.commit(first);
  else for (const layer of layers) frame.scope.join(layer);
  return results[0];
}

/** As `eachChoice`, of a step that succeeds or fails: told only when it does the same for every value. */
function eachStatus(machine: ShellMachine, frame: Frame, run: (frame: Frame) => Status): Status {
  const statuses: Status[] = [];
  eachChoice(machine, frame, (chosen) => statuses.push(run(chosen)));
  const [first] = statuses;
  return statuses.every((status) => status === first) ? first : undefined;
}

/** The combinations that differ from a run at the variables it looked at: each exactly once over all runs. */
function furtherChoices(scope: Scope, pins: ReadonlyMap<string, Value>, seen: readonly string[]) {
  const found: Map<string, Value>[] = [];
  const fixed = new Map(pins);
  for (const name of new Set(seen)) {
    const [first, ...others] = scope.lookup(name)?.values ?? [];
    if (fixed.has(name) || first === undefined) continue;
    for (const value of others) found.push(new Map([...fixed, [name, value]]));
    fixed.set(name, first);
  }
  return found;
}
