// Operators that take something of a TypeScript declaration away, or put a part of a call in the call's place.
import ts from 'typescript';
import { place } from './typescript-logic.mjs';

function statementLists(nodes) {
  return nodes
    .filter((node) => ts.isBlock(node) || ts.isCaseOrDefaultClause(node))
    .map((node) => node.statements);
}

/** Everything of a list but one, with the comma behind it; before the last one, too. */
function withoutEach(list) {
  return list.map((node, at) => {
    const next = list[at + 1];
    if (next !== undefined) return { node, start: node.getStart(), end: next.getStart(), text: '' };
    return { node, start: at === 0 ? node.getStart() : list[at - 1].getEnd(), end: list.end, text: '' };
  });
}

/** One statement of a block goes. A branch without braces goes with its `if`. */
export function removeStatement(nodes) {
  return statementLists(nodes).flatMap((list) => list.map((node) => place(node, '')));
}

/** A statement and the one behind it change places. */
export function swapStatements(nodes) {
  return statementLists(nodes).flatMap((list) =>
    list.slice(0, -1).map((node, at) => {
      const next = list[at + 1];
      return {
        node,
        start: node.getStart(),
        end: next.getEnd(),
        text: `${next.getText()}\n${node.getText()}`,
      };
    }),
  );
}

/** One element of an array goes, or one `${…}` of a template with the blanks before it. */
export function removeElement(nodes, text) {
  const elements = nodes.filter(ts.isArrayLiteralExpression).flatMap((node) => withoutEach(node.elements));
  const spans = nodes.filter(ts.isTemplateSpan).map(({ expression, literal }) => {
    const opening = text.lastIndexOf('${', expression.getStart());
    const start = text.slice(0, opening).trimEnd().length;
    return { node: expression, start, end: literal.getStart() + 1, text: '' };
  });
  return [...elements, ...spans];
}

/** One property of an object goes. */
export function removeProperty(nodes) {
  return nodes.filter(ts.isObjectLiteralExpression).flatMap((node) => withoutEach(node.properties));
}

function isCall(node) {
  return ts.isCallExpression(node) || ts.isNewExpression(node);
}

/** One argument of a call goes. */
export function removeArgument(nodes) {
  return nodes.filter(isCall).flatMap((node) => withoutEach(node.arguments ?? []));
}

/** A call is told by the name of what it calls, and by its arguments. */
function calls(nodes) {
  return nodes.filter(ts.isCallExpression).map((node) => {
    const { expression: callee } = node;
    const name = ts.isPropertyAccessExpression(callee) ? callee.name : callee;
    return { node, callee, told: [name, ...node.arguments] };
  });
}

/** A call is replaced by its first argument, or by the one that `with` counts. */
export function callToArgument(nodes, _text, number = 1) {
  return calls(nodes).flatMap(({ node, told }) => {
    const argument = node.arguments[number - 1];
    return argument === undefined ? [] : [{ ...place(node, argument.getText()), told }];
  });
}

/** A method call is replaced by what the method was called on. */
export function callToReceiver(nodes) {
  return calls(nodes)
    .filter(({ callee }) => ts.isPropertyAccessExpression(callee))
    .map(({ node, callee, told }) => ({ ...place(node, callee.expression.getText()), told }));
}
