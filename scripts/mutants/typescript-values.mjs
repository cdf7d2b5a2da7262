// Operators that replace a value in a TypeScript declaration by the mutant's `with`.
import ts from 'typescript';
import { place } from './typescript-logic.mjs';

/** The place of a literal, identified by its text and by the name of its property, if it has one. */
function literal(node, text, range) {
  let outer = node;
  while (ts.isParenthesizedExpression(outer.parent) || ts.isArrowFunction(outer.parent)) outer = outer.parent;
  const { parent } = outer;
  const told = ts.isPropertyAssignment(parent) && parent.initializer === outer ? [parent.name, node] : [node];
  return { ...place(node, text, range), told };
}

/** Whether a node is a value, not a type or a property's own name. */
function isValue(node) {
  const { parent } = node;
  return !ts.isLiteralTypeNode(parent) && parent.name !== node;
}

const asLiteral = (value) =>
  JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

/** Exchanges `true` and `false`. */
export function boolean(nodes) {
  const { TrueKeyword, FalseKeyword } = ts.SyntaxKind;
  return nodes
    .filter((node) => (node.kind === TrueKeyword || node.kind === FalseKeyword) && isValue(node))
    .map((node) => literal(node, String(node.kind === FalseKeyword)));
}

/** Changes a number. */
export function number(nodes, _text, value) {
  return nodes
    .filter((node) => ts.isNumericLiteral(node) && isValue(node))
    .map((node) => literal(node, String(value)));
}

/** Changes a string or, in a template, one of the texts between its `${…}`. */
export function string(nodes, _text, value) {
  const whole = nodes
    .filter((node) => ts.isStringLiteralLike(node) && isValue(node))
    .map((node) => literal(node, asLiteral(value)));
  const escaped = String(value).replace(/[`\\]|\$(?=\{)/g, '\\$&');
  const parts = nodes
    .filter((node) => ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
    .map((node) => {
      const closing = ts.isTemplateTail(node) ? 1 : 2;
      return { node, start: node.getStart() + 1, end: node.getEnd() - closing, text: escaped };
    });
  return [...whole, ...parts];
}

/** Changes a regular expression, keeping its flags. */
export function regex(nodes, _text, value) {
  return nodes
    .filter(ts.isRegularExpressionLiteral)
    .map((node) => literal(node, `/${value}/${node.text.slice(node.text.lastIndexOf('/') + 1)}`));
}

/** Makes a function return `with`, or `undefined` without it. `{ "name": … }` means a constant. */
export function returnValue(nodes, _text, value) {
  const text = value === undefined ? 'undefined' : (value?.name ?? asLiteral(value));
  if (value?.name !== undefined && !/^[A-Za-z_]\w*$/.test(text)) throw new Error(`${text} is no name`);
  return nodes
    .filter((node) => ts.isReturnStatement(node) && node.expression !== undefined)
    .map((node) => place(node, text, node.expression));
}

/** Changes a `return`, `break` or `continue` to the jump that `with` names. A `return` then has no value. */
export function swapJump(nodes, _text, value) {
  if (!['return', 'break', 'continue'].includes(value)) throw new Error(`${value} is no jump`);
  return nodes
    .filter((node) => ts.isReturnStatement(node) || ts.isBreakOrContinueStatement(node))
    .map((node) => place(node, `${value};`));
}

/** Sets the properties in `with` on an object that is passed to a call. */
export function setProperty(nodes, _text, value) {
  const set = Object.entries(value ?? {}).map(([name, one]) => `${asLiteral(name)}: ${asLiteral(one)}`);
  return nodes.filter(ts.isCallExpression).flatMap((call) => {
    const name = ts.isPropertyAccessExpression(call.expression) ? call.expression.name : call.expression;
    return call.arguments
      .filter((one) => !ts.isSpreadElement(one))
      .map((one) => ({ ...place(one, `{ ...${one.getText()}, ${set.join(', ')} }`), told: [name, one] }));
  });
}
