// The operators on POSIX sh. An operator that TypeScript has, too, has the same name here.
import { forEachChild, parse } from 'unbash';

/** A node and all its descendants, in the order of the text. `enter` says whether to descend into a node. */
function nodesOf(node, enter) {
  const found = [node];
  if (enter(node)) {
    forEachChild(node, (child) => {
      found.push(...nodesOf(child, enter));
    });
    if (node.type === 'Assignment' && node.value !== undefined) found.push(...nodesOf(node.value, enter));
    if (node.type === 'CommandExpansion' && node.script !== undefined)
      found.push(...nodesOf(node.script, enter));
  }
  return found;
}

export function parseShell(text) {
  const script = parse(text);
  const [error] = script.errors ?? [];
  if (error !== undefined) throw new Error(error.message);
  return script;
}

/** A function, or a variable that the script sets; without a name, the script outside its functions. */
export function shellScope(script, name) {
  if (name === undefined) return nodesOf(script, (node) => node.type !== 'Function');
  const all = script.commands.map(({ command }) => command);
  const set = all.flatMap((one) => (one.type === 'Command' && one.name === undefined ? one.prefix : []));
  const found = [
    ...all.filter((one) => one.type === 'Function' && one.name.value === name),
    ...set.filter((one) => one.type === 'Assignment' && one.name === name),
  ];
  if (found.length !== 1) throw new Error(`${found.length} functions and variables are called ${name}`);
  return nodesOf(found[0], () => true);
}

const BARE = { Word: 'value', Literal: 'value', Assignment: 'name', ParameterExpansion: 'parameter' };

/** The names of commands and variables, and all words, with and without their quotation marks. */
export function shellWords(nodes) {
  const words = nodes
    .flatMap((node) => nodesOf(node, () => true))
    .flatMap((node) => {
      if (node.type === 'SimpleExpansion') return [node.text.slice(1)];
      const bare = BARE[node.type] === undefined ? [] : [node[BARE[node.type]]];
      return node.type === 'Word' ? [...bare, node.text] : bare;
    });
  return new Set(words.filter((word) => word !== undefined && word !== ''));
}

const place = (node, text, range = node) => ({ node, start: range.pos, end: range.end, text });

function conditions(nodes) {
  const tested = nodes
    .filter(({ type }) => type === 'If' || type === 'Elif' || type === 'While')
    .flatMap(({ clause }) => clause.commands.map(({ command }) => command));
  const joined = nodes.filter(({ type }) => type === 'AndOr').flatMap(({ commands }) => commands);
  const tests = nodes.filter((node) => node.type === 'Command' && ['[', 'test'].includes(node.name?.value));
  return [...new Set([...tested, ...joined, ...tests])];
}

/** Removes one command of a list: even a whole `if`, or commands joined by `&&` and `||`, but not a condition. */
function removeStatement(nodes) {
  const tested = new Set(nodes.flatMap(({ clause }) => clause?.commands ?? []));
  return nodes
    .filter((node) => node.type === 'Statement' && !tested.has(node))
    .map((node) => place(node, ':'));
}

/** Makes a condition always true. */
const conditionTrue = (nodes) => conditions(nodes).map((node) => place(node, ':'));

/** Makes a condition always false. */
const conditionFalse = (nodes) => conditions(nodes).map((node) => place(node, 'false'));

/** Removes one operand of `&&` or `||`, with its operator. */
function removeOperand(nodes) {
  return nodes
    .filter(({ type }) => type === 'AndOr')
    .flatMap(({ commands }) =>
      commands.map((node, at) => {
        const next = commands[at + 1];
        if (next !== undefined) return { node, start: node.pos, end: next.pos, text: '' };
        return { node, start: commands[at - 1].end, end: node.end, text: '' };
      }),
    );
}

/** The lines of a quoted word, except the first and the last, which contain the quotes. */
function lines(word, text) {
  const raw = text.slice(word.pos, word.end).split('\n');
  let start = word.pos;
  return raw
    .map((line) => {
      const one = { node: word, words: [line], start, end: start + line.length + 1, text: '' };
      start = one.end;
      return one;
    })
    .slice(1, -1);
}

/** Removes one branch of a `case`, one pattern of a branch, or one line of a variable's value. */
function removeElement(nodes, text) {
  const items = nodes.filter(({ type }) => type === 'CaseItem');
  const branches = items.map((node) => {
    const end = text.indexOf(';;', node.body.end);
    return { ...place(node, ''), told: node.pattern, end: Math.max(node.end, end + 2) };
  });
  const patterns = items
    .filter(({ pattern }) => pattern.length > 1)
    .flatMap(({ pattern }) =>
      pattern.map((node, at) => {
        const next = pattern[at + 1];
        if (next !== undefined) return { node, start: node.pos, end: next.pos, text: '' };
        return { node, start: pattern[at - 1].end, end: node.end, text: '' };
      }),
    );
  const set = nodes.filter(({ type, value }) => type === 'Assignment' && value?.type === 'Word');
  return [...branches, ...patterns, ...set.flatMap(({ value }) => lines(value, text))];
}

const isNumber = (word) => word?.type === 'Word' && /^\d+$/.test(word.value);

/** Changes a number: a variable's value or a command's argument (`exit 0`). */
function number(nodes, _text, value) {
  const set = nodes
    .filter((node) => node.type === 'Assignment' && isNumber(node.value))
    .map((node) => place(node, String(value), node.value));
  const given = nodes
    .filter(({ type }) => type === 'Command')
    .flatMap((node) => node.suffix.filter(isNumber).map((word) => place(node, String(value), word)));
  return [...set, ...given];
}

/** Exchanges `return` and `exit`. */
function swapJump(nodes) {
  const other = { return: 'exit', exit: 'return' };
  return nodes
    .filter(({ type, name }) => type === 'Command' && other[name?.value] !== undefined)
    .map((node) => place(node, other[node.name.value], node.name));
}

export const SHELL_OPERATORS = {
  'remove-statement': removeStatement,
  'condition-true': conditionTrue,
  'condition-false': conditionFalse,
  'remove-operand': removeOperand,
  'remove-element': removeElement,
  number,
  'swap-jump': swapJump,
};
