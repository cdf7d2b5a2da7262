import type { TestExpression } from 'unbash';
import type { ProgramCall, Frame, ShellMachine, Status } from './machine.ts';
import { patternMatcher } from './pattern.ts';
import { isKnown } from './unknown.ts';
import { expandPattern, expandText } from './words.ts';

/** Whether a `[[ … ]]` holds, for comparisons of known text; files may have changed, so those are never decided. */
export function decideTest(machine: ShellMachine, test: TestExpression, frame: Frame): Status {
  const guesses = machine.guesses;
  const status = decide(machine, test, frame);
  return machine.guesses === guesses ? status : undefined;
}

function decide(machine: ShellMachine, test: TestExpression, frame: Frame): Status {
  switch (test.type) {
    case 'TestGroup':
      return decide(machine, test.expression, frame);
    case 'TestUnary':
      return unary(test.operator, expandText(machine, test.operand, frame));
    case 'TestBinary': {
      const left = expandText(machine, test.left, frame);
      if (!/^[!=]?=$/.test(test.operator))
        return compare(left, test.operator, expandText(machine, test.right, frame));
      const pattern = expandPattern(machine, test.right, frame);
      if (!isKnown(left + pattern)) return undefined;
      return patternMatcher(pattern)(left) === (test.operator !== '!=');
    }
    default:
      return undefined;
  }
}

function unary(operator: string, word: string): Status {
  if (!isKnown(word)) return undefined;
  if (operator === '-n') return word !== '';
  return operator === '-z' ? word === '' : undefined;
}

/** `1 -lt 2`; numbers written otherwise are left to the shell. */
function compare(left: string, operator: string, right: string): Status {
  if (!/^-?\d{1,9}$/.test(left) || !/^-?\d{1,9}$/.test(right)) return undefined;
  const difference = Number(left) - Number(right);
  switch (operator) {
    case '-eq':
      return difference === 0;
    case '-ne':
      return difference !== 0;
    case '-lt':
      return difference < 0;
    case '-le':
      return difference <= 0;
    case '-gt':
      return difference > 0;
    case '-ge':
      return difference >= 0;
    default:
      return undefined;
  }
}

/** Whether `[ … ]` or `test …` holds, for comparisons of known text. */
export function decideWords({ name, args, certain }: ProgramCall): Status {
  const words = name === '[' ? args.slice(0, -1) : args;
  if (!certain || !words.every(isKnown)) return undefined;
  const [first = '', second = '', third = ''] = words;
  if (words.length === 2) return unary(first, second);
  if (words.length !== 3) return undefined;
  if (second === '=' || second === '==') return first === third;
  return second === '!=' ? first !== third : compare(first, second, third);
}
