// Applies a mutant of test/mutants/mutants.json to a text: an operator at one place in a declaration. `in` names the
// declaration; `at` selects one of several places.
import { parseShell, SHELL_OPERATORS, shellScope, shellWords } from './shell.mjs';
import * as logic from './typescript-logic.mjs';
import * as removals from './typescript-removals.mjs';
import { findDeclaration, nodesOf, parseTypeScript, wordTeller } from './typescript-scope.mjs';
import * as values from './typescript-values.mjs';

const TYPESCRIPT_OPERATORS = {
  'condition-true': logic.conditionTrue,
  'condition-false': logic.conditionFalse,
  negate: logic.negate,
  'swap-operator': logic.swapOperator,
  boundary: logic.boundary,
  'remove-operand': logic.removeOperand,
  'remove-statement': removals.removeStatement,
  'swap-statements': removals.swapStatements,
  'remove-element': removals.removeElement,
  'remove-property': removals.removeProperty,
  'remove-argument': removals.removeArgument,
  'call-to-argument': removals.callToArgument,
  'call-to-receiver': removals.callToReceiver,
  boolean: values.boolean,
  number: values.number,
  string: values.string,
  regex: values.regex,
  'return-value': values.returnValue,
  'swap-jump': values.swapJump,
  'set-property': values.setProperty,
};

export const OPERATORS = { typescript: TYPESCRIPT_OPERATORS, shell: SHELL_OPERATORS };

const NEED_A_VALUE = ['number', 'string', 'regex', 'set-property'];

const isTypeScript = (file) => file.endsWith('.ts');

/** The operator's places in the declaration, each with its words and its range. */
function typeScriptPlaces({ in: name, operator, with: value }, text) {
  const declaration = findDeclaration(parseTypeScript(text), name);
  const wordsOf = wordTeller(declaration);
  return TYPESCRIPT_OPERATORS[operator]([...nodesOf(declaration)], text, value).map((one) => ({
    ...one,
    from: one.node.getStart(),
    to: one.node.getEnd(),
    words: wordsOf(one.told ?? [one.node]),
  }));
}

function shellPlaces({ in: name, operator, with: value }, text) {
  return SHELL_OPERATORS[operator](shellScope(parseShell(text), name), text, value).map((one) => ({
    ...one,
    from: one.words === undefined ? one.node.pos : one.start,
    to: one.words === undefined ? one.node.end : one.end,
    words: one.words === undefined ? shellWords(one.told ?? [one.node]) : new Set(one.words),
  }));
}

/** Places that mention every word; of places inside each other, only the innermost. */
function telling(places, words) {
  const found = places.filter((one) => words.every((word) => one.words.has(word)));
  const holds = (one, other) =>
    one.from <= other.from && other.to <= one.to && other.to - other.from < one.to - one.from;
  return words.length === 0 ? found : found.filter((one) => !found.some((other) => holds(one, other)));
}

function describe(places, text) {
  const shown = places.map(({ from, to }, at) => {
    const code = text.slice(from, to).replace(/\s+/g, ' ');
    return `  ${at + 1}: ${code.length > 100 ? `${code.slice(0, 100)}…` : code}`;
  });
  return shown.join('\n');
}

/**
 * The text with the mutant applied, and the position of the change.
 *
 * @param mutant `at` selects a place: by words that it mentions, by its number (from 1), or by its number among the places
 * that mention the words
 */
export function mutate(mutant, text) {
  const { file, operator, at = [] } = mutant;
  const known = isTypeScript(file) ? TYPESCRIPT_OPERATORS : SHELL_OPERATORS;
  if (!Object.hasOwn(known, operator)) throw new Error(`${operator} is no operator for ${file}`);
  if (NEED_A_VALUE.includes(operator) && mutant.with === undefined)
    throw new Error(`${operator} needs a \`with\``);
  const all = (isTypeScript(file) ? typeScriptPlaces : shellPlaces)(mutant, text);
  all.sort((a, b) => a.from - b.from || b.to - a.to);
  const selectors = Array.isArray(at) ? at : [at];
  const words = selectors.filter((one) => typeof one === 'string');
  const found = telling(all, words);
  const [nth] = selectors.filter((one) => typeof one === 'number');
  const chosen = nth === undefined ? found : found.slice(nth - 1, nth);
  if (chosen.length !== 1) {
    const some = found.length === 0 ? all : found;
    throw new Error(`${operator} has ${chosen.length} such places in ${file}:\n${describe(some, text)}`);
  }
  const [{ start, end, text: replacement }] = chosen;
  const mutated = text.slice(0, start) + replacement + text.slice(end);
  (isTypeScript(file) ? parseTypeScript : parseShell)(mutated);
  return { text: mutated, start, end, replacement };
}
