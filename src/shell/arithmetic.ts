import { forEachChild } from 'unbash';
import type {
  ArithmeticCommandExpansion,
  ArithmeticExpression,
  CommandExpansionPart,
  SyntaxNode,
} from 'unbash';
import type { ShellMachine } from './machine.ts';
import type { Scope } from './scope.ts';
import { UNKNOWN } from './unknown.ts';
import { setVariable } from './variables.ts';

const MAX_EVALUATED = 200;

/** The number that an arithmetic expression (`length` characters of source) comes to, as text. */
export function evaluate(
  machine: ShellMachine,
  root: ArithmeticExpression,
  length: number,
  scope: Scope,
): string {
  if (length > MAX_EVALUATED) return UNKNOWN;
  const number = numberOf(machine, root, scope);
  return number === undefined || !Number.isSafeInteger(number) ? UNKNOWN : String(number);
}

/** Calls back for each command substitution of an expression or a test, at any depth of the tree. */
export function runSubstitutions(
  root: SyntaxNode,
  run: (part: CommandExpansionPart | ArithmeticCommandExpansion) => void,
): void {
  const open: SyntaxNode[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.type === 'CommandExpansion' || node.type === 'ArithmeticCommandExpansion') run(node);
    else forEachChild(node, (child) => open.push(child));
  }
}

/**
 * Gives the variables that an expression assigns (`i = 1`, `i += 2`, `i++`) their new values. Only of an
 * expression that is one assignment the value is told; any other may be taken a different number of times.
 */
export function assignAll(
  machine: ShellMachine,
  root: ArithmeticExpression,
  scope: Scope,
  isRepeated = false,
): void {
  const open: SyntaxNode[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const name = assignedName(node);
    const value = node === root && !isRepeated ? assignedNumber(machine, root, scope) : undefined;
    if (name !== undefined) {
      setVariable(machine, scope, name, value === undefined ? UNKNOWN : String(value), '((');
    }
    forEachChild(node, (child) => open.push(child));
  }
}

const ASSIGNMENT = /^(?:[-+*/%&|^]|<<|>>)?=$/;

function assignedName(node: SyntaxNode): string | undefined {
  const isStep = node.type === 'ArithmeticUnary' && /^(?:\+\+|--)$/.test(node.operator);
  const isAssignment = node.type === 'ArithmeticBinary' && ASSIGNMENT.test(node.operator);
  const target = isStep ? node.operand : isAssignment ? node.left : undefined;
  return target?.type === 'ArithmeticWord' ? /^[A-Za-z_]\w*$/.exec(target.value)?.[0] : undefined;
}

function assignedNumber(machine: ShellMachine, node: ArithmeticExpression, scope: Scope): number | undefined {
  if (node.end - node.pos > MAX_EVALUATED) return undefined;
  if (node.type === 'ArithmeticUnary') {
    const before = numberOf(machine, node.operand, scope);
    return before === undefined ? undefined : before + (node.operator === '++' ? 1 : -1);
  }
  if (node.type !== 'ArithmeticBinary') return undefined;
  const right = numberOf(machine, node.right, scope);
  if (node.operator === '=') return right;
  const left = numberOf(machine, node.left, scope);
  return left === undefined || right === undefined
    ? undefined
    : combine(node.operator.slice(0, -1), left, right);
}

function numberOf(machine: ShellMachine, node: ArithmeticExpression, scope: Scope): number | undefined {
  if (node.type === 'ArithmeticGroup') return numberOf(machine, node.expression, scope);
  if (node.type === 'ArithmeticWord') return wordNumber(machine, node.value, scope);
  if (node.type !== 'ArithmeticBinary') return undefined;
  const left = numberOf(machine, node.left, scope);
  const right = numberOf(machine, node.right, scope);
  return left === undefined || right === undefined ? undefined : combine(node.operator, left, right);
}

function wordNumber(machine: ShellMachine, word: string, scope: Scope): number | undefined {
  if (/^\d+$/.test(word)) return Number(word);
  const name = /^\$?\{?([A-Za-z_]\w*)\}?$/.exec(word)?.[1];
  const value = name === undefined ? undefined : machine.value(scope, name);
  return typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : undefined;
}

function combine(operator: string, left: number, right: number): number | undefined {
  if (operator === '+') return left + right;
  if (operator === '-') return left - right;
  if (operator === '*') return left * right;
  if (operator === '/' && right !== 0) return Math.trunc(left / right);
  return operator === '%' && right !== 0 ? left % right : undefined;
}
