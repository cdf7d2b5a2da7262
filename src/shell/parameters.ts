import type { ParameterExpansionPart, Word } from 'unbash';
import type { Frame, ShellMachine } from './machine.ts';
import { patternMatcher, unescapePattern } from './pattern.ts';
import { POSITIONAL, type Value } from './scope.ts';
import { UNKNOWN } from './unknown.ts';

/** Names that the shell itself sets, to values that only it knows. */
const SHELL_SET = new Set(
  (
    'RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME BASHPID PPID UID EUID HOSTNAME HOSTTYPE OSTYPE ' +
    'MACHTYPE BASH BASH_VERSION BASH_SOURCE BASH_COMMAND FUNCNAME SHLVL GROUPS PIPESTATUS OPTARG OPTIND'
  ).split(' '),
);
const MAX_COST = 2_000_000;

/** How the operands of an expansion are expanded; supplied by the caller, which knows words. */
interface OperandReader {
  text(word: Word): string;
  pattern(word: Word): string;
}

/** The values that a parameter expands to: one, or a list for `$@`, `$*` and `${array[@]}`; `undefined` if unset. */
export function readParameter(
  machine: ShellMachine,
  name: string,
  index: string | undefined,
  frame: Frame,
): readonly string[] | undefined {
  const { scope } = frame;
  if (/^[1-9]\d*$|^[@*#]$/.test(name)) return positional(machine.value(scope, POSITIONAL), name);
  if (name === '0') return [text(machine.value(scope, ' zero')) ?? 'bash'];
  if (/^[?$!_-]$/.test(name)) return [UNKNOWN];
  const value = machine.value(scope, machine.referred(scope, name));
  if (value === undefined) return unset(machine, name);
  if (typeof value === 'string') return index === undefined || /^[0@*]$/.test(index) ? [value] : undefined;
  if (index === '@' || index === '*') return [...value.values()];
  const element = value.get(index ?? '0');
  return element === undefined ? undefined : [element];
}

function text(value: Value | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function positional(value: Value | undefined, name: string): readonly string[] | undefined {
  const words = typeof value === 'string' ? undefined : value;
  if (name === '#') return [String(words?.size ?? 0)];
  if (name === '@' || name === '*') return [...(words?.values() ?? [])];
  const word = words?.get(name);
  return word === undefined ? undefined : [word];
}

function unset(machine: ShellMachine, name: string): readonly string[] | undefined {
  if (SHELL_SET.has(name)) return [UNKNOWN];
  machine.guesses++;
  return undefined;
}

/** Expands `${…}` with its operation. */
export function expandParameter(
  machine: ShellMachine,
  part: ParameterExpansionPart,
  frame: Frame,
  quoted: boolean,
  operands: OperandReader,
): readonly string[] {
  const index = part.index === undefined ? undefined : subscript(machine, operands.text(part.index), frame);
  const { operation } = part;
  if (operation?.type === 'Names' || operation?.type === 'Unknown') return [UNKNOWN];
  let values = readParameter(machine, part.parameter, index, frame);
  if (part.prefix === '#')
    return [String(index === '@' || index === '*' ? values?.length : values?.[0]?.length)];
  if (part.prefix === '!') {
    if (index === '@' || index === '*') return subscripts(machine.value(frame.scope, part.parameter));
    values = readParameter(machine, values?.[0] ?? '', undefined, frame);
  }
  const isList =
    part.parameter === '@' || index === '@' || (!quoted && (part.parameter === '*' || index === '*'));
  if (operation?.type === 'Default') return withDefault(machine, part, values, frame, operands);
  if (operation?.type === 'Slice' && (isList || part.parameter === '*')) {
    const from = Number(operands.text(operation.offset)) - (part.parameter === '@' ? 1 : 0);
    const count = operation.length === undefined ? undefined : Number(operands.text(operation.length));
    return (values ?? []).slice(
      Math.max(0, from),
      count === undefined ? undefined : Math.max(0, from) + count,
    );
  }
  const changed = (values ?? []).map((value) => transform(value, operation, operands));
  if (isList) return changed;
  return [changed.join(' ')];
}

function subscript(machine: ShellMachine, text: string, frame: Frame): string {
  const value = /^[A-Za-z_]\w*$/.test(text) ? machine.value(frame.scope, text) : undefined;
  return typeof value === 'string' && /^\d+$/.test(value) ? value : text;
}

function subscripts(value: Value | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? ['0'] : [...value.keys()];
}

function withDefault(
  machine: ShellMachine,
  part: ParameterExpansionPart,
  values: readonly string[] | undefined,
  frame: Frame,
  operands: OperandReader,
): readonly string[] {
  const { operation } = part;
  if (operation?.type !== 'Default') return values ?? [''];
  const { operator } = operation;
  const isSet = values !== undefined && (!operator.startsWith(':') || values.join('') !== '');
  if (operator.endsWith('+')) return isSet ? [operands.text(operation.operand)] : [''];
  if (isSet || operator.endsWith('?')) return values ?? [''];
  const value = operands.text(operation.operand);
  if (operator.endsWith('=')) frame.scope.set(part.parameter, value);
  else if (values === undefined && frame.scope.lookup(part.parameter) === undefined) machine.guesses++;
  return [value];
}

function transform(
  value: string,
  operation: ParameterExpansionPart['operation'],
  operands: OperandReader,
): string {
  switch (operation?.type) {
    case 'Remove':
      return removeMatch(value, operation.operator, operands.pattern(operation.operand));
    case 'Replace': {
      const pattern = operands.pattern(operation.pattern);
      return replaceMatch(value, operation.operator, pattern, operands.text(operation.replacement));
    }
    case 'Slice':
      return slice(
        value,
        operands.text(operation.offset),
        operation.length && operands.text(operation.length),
      );
    case 'CaseModification': {
      const all = operation.operator.length === 2;
      const change = (text: string) =>
        operation.operator[0] === '^' ? text.toUpperCase() : text.toLowerCase();
      return all ? change(value) : change(value.slice(0, 1)) + value.slice(1);
    }
    default:
      return value;
  }
}

function slice(value: string, offset: string, length: string | undefined): string {
  const from = Number(offset.trim());
  const count = length === undefined ? undefined : Number(length.trim());
  if (!Number.isInteger(from) || (count !== undefined && !Number.isInteger(count))) return UNKNOWN;
  const start = from < 0 ? Math.max(0, value.length + from) : from;
  if (count === undefined) return value.slice(start);
  return value.slice(start, count < 0 ? value.length + count : start + count);
}

function tooCostly(value: string, pattern: string): boolean {
  return value.length * value.length * Math.min(pattern.length, 64) > MAX_COST;
}

/** `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}`. */
function removeMatch(value: string, operator: string, pattern: string): string {
  if (tooCostly(value, pattern)) return UNKNOWN;
  const isMatch = patternMatcher(pattern);
  const fromStart = operator.startsWith('#');
  const longest = operator.length === 2;
  for (let n = 0; n <= value.length; n++) {
    const size = longest ? value.length - n : n;
    const cut = fromStart ? size : value.length - size;
    if (isMatch(fromStart ? value.slice(0, cut) : value.slice(cut))) {
      return fromStart ? value.slice(cut) : value.slice(0, cut);
    }
  }
  return value;
}

/** `${x/p/r}` and its forms `//`, `/#`, `/%`. */
function replaceMatch(value: string, operator: string, pattern: string, replacement: string): string {
  const literal = unescapePattern(pattern);
  if (!/[*?[\]()]/.test(pattern.replace(/\\./g, ''))) {
    if (operator === '//') return literal === '' ? value : value.split(literal).join(replacement);
    if (operator === '/#')
      return value.startsWith(literal) ? replacement + value.slice(literal.length) : value;
    if (operator === '/%')
      return value.endsWith(literal) ? value.slice(0, -literal.length) + replacement : value;
    return literal === '' ? value : value.replace(literal, () => replacement);
  }
  if (tooCostly(value, pattern)) return UNKNOWN;
  const isMatch = patternMatcher(pattern);
  let result = '';
  for (let from = 0; from < value.length; from++) {
    let end = value.length;
    while (end > from && !(isMatch(value.slice(from, end)) && (operator !== '/%' || end === value.length)))
      end--;
    if (end > from) {
      result += replacement;
      if (operator !== '//') return result + value.slice(end);
      from = end - 1;
    } else if (operator === '/#') return value;
    else result += value.charAt(from);
  }
  return result;
}
