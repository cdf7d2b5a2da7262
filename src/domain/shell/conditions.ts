import type { TestExpression } from 'unbash';
import type { Call, Frame, Machine, Status } from './machine.ts';
import { patternMatcher } from './pattern.ts';
import { isKnown } from './unknown.ts';
import { expandPattern, expandText } from './words.ts';

/** Whether a `[[ … ]]` holds, for comparisons of known text; files may have changed, so those are never decided. */
export function decideTest(machine: Machine, test: TestExpression, frame: Frame): Status {
  const guesses = machine.guesses;
  const status = decide(machine, test, frame);
  return machine.guesses === guesses ? status : undefined;
}

function decide(machine: Machine, test: TestExpression, frame: Frame): Status {
  switch (test.type) {
    case 'TestGroup':
      return decide(machine, test.expression, frame);
    case 'TestUnary':
      return unary(test.operator, expandText(machine, test.operand, frame));
    case 'TestBinary': {
      if (!/^[!=]?=$/.test(test.operator)) return undefined;
      const left = expandText(machine, test.left, frame);
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

/** Whether `[ … ]` or `test …` holds, for comparisons of known text. */
export function decideWords({ name, args, certain }: Call): Status {
  const words = name === '[' ? args.slice(0, -1) : args;
  if (!certain || !words.every(isKnown)) return undefined;
  const [first = '', second = '', third = ''] = words;
  if (words.length === 2) return unary(first, second);
  if (words.length !== 3) return undefined;
  if (second === '=' || second === '==') return first === third;
  return second === '!=' ? first !== third : undefined;
}
