import type { Assignment, Word } from 'unbash';
import { SESSION_VARIABLES } from '../domain/names.ts';
import type { Frame, ShellMachine } from './machine.ts';
import type { Scope, Value } from './scope.ts';
import { expandFields, expandText } from './words.ts';

/** The variables that say which session calls, and the kill switch. */
const IDENTITY_VARIABLES: readonly string[] = [...Object.keys(SESSION_VARIABLES), 'GIT_HANDOFF'];

/** Records an attempt to give an identity variable another value (`undefined`: to unset it). */
export function checkIdentity(
  machine: ShellMachine,
  name: string,
  value: string | undefined,
  by: string,
): void {
  if (!IDENTITY_VARIABLES.includes(name) || machine.disk.world.variable(name) === value) return;
  machine.identity({ kind: 'variable', name, by });
}

/** Sets a variable by name as the shell would; the name may be a reference made by `declare -n`. */
export function setVariable(machine: ShellMachine, scope: Scope, name: string, value: Value, by = '='): void {
  const target = machine.referred(scope, name);
  checkIdentity(machine, target, typeof value === 'string' ? value : undefined, by);
  scope.set(target, typeof value === 'string' ? machine.expanded(value) : value);
}

/** Carries out one assignment of a command: `a=b`, `a+=b`, `a[1]=b`, `a=(b c)`. */
export function assign(machine: ShellMachine, assignment: Assignment, frame: Frame): void {
  const { name, value, index, append } = assignment;
  const { scope } = frame;
  const before = append === true || index !== undefined ? machine.value(scope, name) : undefined;
  if (value.type === 'ArrayValue') {
    const elements = arrayElements(machine, value.elements, before, frame);
    setVariable(machine, scope, name, elements);
    return;
  }
  const text = expandText(machine, value, frame);
  if (index === undefined) {
    setVariable(machine, scope, name, append === true && typeof before === 'string' ? before + text : text);
    return;
  }
  if (before !== undefined && typeof before !== 'string') machine.charge(before.size);
  const elements = new Map(typeof before === 'string' ? [['0', before]] : (before ?? []));
  const key = expandText(machine, index, frame);
  elements.set(key, append === true ? (elements.get(key) ?? '') + text : text);
  setVariable(machine, scope, name, elements);
}

function arrayElements(
  machine: ShellMachine,
  words: readonly Word[],
  before: Value | undefined,
  frame: Frame,
): ReadonlyMap<string, string> {
  if (before !== undefined && typeof before !== 'string') machine.charge(before.size);
  const elements = new Map(typeof before === 'string' ? [['0', before]] : (before ?? []));
  for (const word of words) {
    const keyed = /^\[([^\]]+)\]=(.*)$/s.exec(word.text);
    const fields = expandFields(machine, word, frame);
    if (keyed === null) for (const field of fields) elements.set(String(elements.size), field);
    else {
      const [, key = '', text = ''] = /^\[([^\]]+)\]=(.*)$/s.exec(fields.join(' ')) ?? keyed;
      elements.set(key.replace(/["']/g, ''), text);
    }
  }
  return elements;
}
