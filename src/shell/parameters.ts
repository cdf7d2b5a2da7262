import type { Assignment, ParameterExpansionPart, Word } from 'unbash';
import { AGENT_VARIABLE, SESSION_VARIABLES } from '../domain/names.ts';
import { UNKNOWN } from './effects.ts';
import { patternMatcher, unescapePattern } from './pattern.ts';
import { POSITIONAL, type Value } from './scope.ts';
import type { Shell } from './machine.ts';
import { expandFields, expandPattern, expandText } from './words.ts';

/** The shell's variables: how they are set, and what their expansions yield. */

/** The variables that say which session is calling, and the one that switches the guard off. */
const IDENTITY_VARIABLES: readonly string[] = [
  ...Object.keys(SESSION_VARIABLES),
  AGENT_VARIABLE,
  'GIT_HANDOFF',
];

/** Records an attempt to give an identity variable another value (`undefined`: to unset it). */
export function checkIdentity(shell: Shell, name: string, value: string | undefined, by: string): void {
  if (!IDENTITY_VARIABLES.includes(name) || shell.machine.disk.world.variable(name) === value) return;
  shell.machine.found.identity.push({ kind: 'variable', name, by });
}

/** Sets a variable by name as the shell would. */
export function setVariable(shell: Shell, name: string, value: Value, by = '='): void {
  checkIdentity(shell, name, typeof value === 'string' ? value : undefined, by);
  shell.scope.set(name, typeof value === 'string' ? shell.machine.expanded(value) : value);
}

/** Carries out an assignment: `a=b`, `a+=b`, `a=(b c)`. Setting one element of an array makes all of it unknown. */
export function assign(shell: Shell, assignment: Assignment): void {
  const { name, value, index, append } = assignment;
  const before = append === true ? shell.scope.lookup(name)?.value : undefined;
  if (value.type === 'ArrayValue') {
    const fields = value.elements.flatMap((word) => expandFields(shell, word));
    const known = before === undefined ? [] : typeof before === 'string' ? [before] : [...before.values()];
    shell.machine.charge(known.length);
    setVariable(shell, name, new Map([...known, ...fields].map((text, n) => [String(n), text])));
    return;
  }
  const text = expandText(shell, value);
  const isText = index === undefined && (before === undefined || typeof before === 'string');
  setVariable(shell, name, isText ? (before ?? '') + text : UNKNOWN);
}

/** The variables that the shell itself sets, to values that only it knows. */
const SHELL_SET =
  /^(?:S?RANDOM|SECONDS|LINENO|EPOCH(?:SECONDS|REALTIME)|BASH.*|E?UID|PPID|HOSTNAME|HOSTTYPE|OSTYPE|FUNCNAME|PIPESTATUS|OPTARG|OPTIND|[?$!_-])$/;
const MAX_COST = 2_000_000;

/** Returns the values of a parameter: one, or a list for `$@`, `$*` and `${array[@]}`; `undefined` if it is unset. */
export function readParameter(
  shell: Shell,
  name: string,
  index: string | undefined,
): readonly string[] | undefined {
  if (/^[1-9]\d*$|^[@*#]$/.test(name)) return positional(shell.scope.lookup(POSITIONAL)?.value, name);
  if (name === '0') return [shell.text(' zero') ?? 'bash'];
  const value = shell.scope.lookup(name)?.value;
  if (value === undefined) return SHELL_SET.test(name) ? [UNKNOWN] : undefined;
  if (typeof value === 'string') return [value];
  if (index === '@' || index === '*') return [...value.values()];
  return [value.get(index ?? '0') ?? (index === undefined || /^\d+$/.test(index) ? '' : UNKNOWN)];
}

function positional(value: Value | undefined, name: string): readonly string[] | undefined {
  if (typeof value === 'string') return [UNKNOWN];
  if (name === '#') return [String(value?.size ?? 0)];
  if (name === '@' || name === '*') return [...(value?.values() ?? [])];
  const word = value?.get(name);
  return word === undefined ? undefined : [word];
}

/** Expands `${…}`, also with a default, or with a part removed or replaced. Other operators yield an unknown text. */
export function expandParameter(
  shell: Shell,
  part: ParameterExpansionPart,
  quoted: boolean,
): readonly string[] {
  const { operation, parameter, prefix } = part;
  const index = part.index === undefined ? undefined : expandText(shell, part.index);
  if (prefix !== undefined) return [UNKNOWN];
  const values = readParameter(shell, parameter, index);
  if (operation?.type === 'Default') {
    const { operator, operand } = operation;
    const isSet = values !== undefined && (!operator.startsWith(':') || values.join('') !== '');
    if (operator.endsWith('+')) return [isSet ? expandText(shell, operand) : ''];
    if (isSet || operator.endsWith('?')) return values ?? [''];
    const value = expandText(shell, operand);
    if (operator.endsWith('=')) setVariable(shell, parameter, value);
    return [value];
  }
  const changed = (values ?? []).map((value) => transform(shell, value, operation));
  const isList = parameter === '@' || index === '@' || (!quoted && (parameter === '*' || index === '*'));
  return isList ? changed : [changed.join(' ')];
}

function transform(shell: Shell, value: string, operation: ParameterExpansionPart['operation']): string {
  if (operation === undefined) return value;
  const pattern = (word: Word) => expandPattern(shell, word);
  if (operation.type === 'Remove') return removeMatch(value, operation.operator, pattern(operation.operand));
  if (operation.type !== 'Replace' || operation.operator.length > 2) return UNKNOWN;
  const sought = pattern(operation.pattern);
  const literal = unescapePattern(sought);
  if (/[*?[\]()]/.test(sought.replace(/\\./g, '')) || literal === '' || /[#%]/.test(operation.operator))
    return UNKNOWN;
  const replacement = expandText(shell, operation.replacement);
  if (operation.operator === '//') return value.split(literal).join(replacement);
  return value.replace(literal, () => replacement);
}

/** Handles `${x#p}`, `${x##p}`, `${x%p}` and `${x%%p}`. */
function removeMatch(value: string, operator: string, pattern: string): string {
  if (value.length * value.length * Math.min(pattern.length, 64) > MAX_COST) return UNKNOWN;
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
