// The operators on POSIX sh. They are called as those on TypeScript, as far as they do the same.
import { forEachChild, parse } from 'unbash';

/** Everything below a node, and itself, in the order of the text. `enter` says whether to look below one. */
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

/** A function, or a variable that the script sets; without a name the script outside of its functions. */
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

/** Names of commands and variables, and words: as written, and as the shell reads them. */
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

/** One command of a list goes, whole `if`s and lists of `&&` and `||` too; no condition. */
function removeStatement(nodes) {
  const tested = new Set(nodes.flatMap(({ clause }) => clause?.commands ?? []));
  return nodes
    .filter((node) => node.type === 'Statement' && !tested.has(node))
    .map((node) => place(node, ':'));
}

/** A command that is a condition always holds. */
const conditionTrue = (nodes) => conditions(nodes).map((node) => place(node, ':'));

/** A command that is a condition never holds. */
const conditionFalse = (nodes) => conditions(nodes).map((node) => place(node, 'false'));

/** One operand of `&&` or `||` goes, with its operator. */
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

/** The lines of a word in quotes, but the first and the last, which hold the quotes. */
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

/** One branch of a `case` goes, or one of the patterns of a branch, or one line of a variable's lines. */
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

/** Another number: one that a variable is set to, or a command's argument (`exit 0`). */
function number(nodes, _text, value) {
  const set = nodes
    .filter((node) => node.type === 'Assignment' && isNumber(node.value))
    .map((node) => place(node, String(value), node.value));
  const given = nodes
    .filter(({ type }) => type === 'Command')
    .flatMap((node) => node.suffix.filter(isNumber).map((word) => place(node, String(value), word)));
  return [...set, ...given];
}

/** `return` and `exit` change places. */
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
