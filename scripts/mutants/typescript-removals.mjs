// Operators that remove something from a TypeScript declaration, or replace a call by a part of it.
import ts from 'typescript';
import { place } from './typescript-logic.mjs';

function statementLists(nodes) {
  return nodes
    .filter((node) => ts.isBlock(node) || ts.isCaseOrDefaultClause(node))
    .map((node) => node.statements);
}

/** Removes one element of a list with the comma after it; for the last one, with the comma before it. */
function withoutEach(list) {
  return list.map((node, at) => {
    const next = list[at + 1];
    if (next !== undefined) return { node, start: node.getStart(), end: next.getStart(), text: '' };
    return { node, start: at === 0 ? node.getStart() : list[at - 1].getEnd(), end: list.end, text: '' };
  });
}

/** Removes one statement of a block. A branch without braces is removed with its `if`. */
export function removeStatement(nodes) {
  return statementLists(nodes).flatMap((list) => list.map((node) => place(node, '')));
}

/** Exchanges a statement and the next one. */
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

/** Removes one element of an array, or one `${…}` of a template with the blanks before it. */
export function removeElement(nodes, text) {
  const elements = nodes.filter(ts.isArrayLiteralExpression).flatMap((node) => withoutEach(node.elements));
  const spans = nodes.filter(ts.isTemplateSpan).map(({ expression, literal }) => {
    const opening = text.lastIndexOf('${', expression.getStart());
    const start = text.slice(0, opening).trimEnd().length;
    return { node: expression, start, end: literal.getStart() + 1, text: '' };
  });
  return [...elements, ...spans];
}

/** Removes one property of an object. */
export function removeProperty(nodes) {
  return nodes.filter(ts.isObjectLiteralExpression).flatMap((node) => withoutEach(node.properties));
}

function isCall(node) {
  return ts.isCallExpression(node) || ts.isNewExpression(node);
}

/** Removes one argument of a call. */
export function removeArgument(nodes) {
  return nodes.filter(isCall).flatMap((node) => withoutEach(node.arguments ?? []));
}

/** Calls, each identified by the called function's name and the arguments. */
function calls(nodes) {
  return nodes.filter(ts.isCallExpression).map((node) => {
    const { expression: callee } = node;
    const name = ts.isPropertyAccessExpression(callee) ? callee.name : callee;
    return { node, callee, told: [name, ...node.arguments] };
  });
}

/** Replaces a call by its first argument, or by the one whose number is `with`. */
export function callToArgument(nodes, _text, number = 1) {
  return calls(nodes).flatMap(({ node, told }) => {
    const argument = node.arguments[number - 1];
    return argument === undefined ? [] : [{ ...place(node, argument.getText()), told }];
  });
}

/** Replaces a method call by its receiver. */
export function callToReceiver(nodes) {
  return calls(nodes)
    .filter(({ callee }) => ts.isPropertyAccessExpression(callee))
    .map(({ node, callee, told }) => ({ ...place(node, callee.expression.getText()), told }));
}
