// Operators on TypeScript's conditions and binary operators. Each gets a declaration's nodes, and returns the places
// where it can be applied: `node` identifies the place, `start` and `end` are its range, `text` is the new text.
import ts from 'typescript';

const { SyntaxKind } = ts;
const LOGICAL = new Set([SyntaxKind.AmpersandAmpersandToken, SyntaxKind.BarBarToken]);
const COMPARING = new Set([
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
  SyntaxKind.LessThanToken,
  SyntaxKind.LessThanEqualsToken,
  SyntaxKind.GreaterThanToken,
  SyntaxKind.GreaterThanEqualsToken,
]);
const SWAPPED = new Map([
  ['&&', '||'],
  ['===', '!=='],
  ['<', '>='],
  ['>', '<='],
  ['+', '-'],
  ['|', '&'],
]);
for (const [one, other] of [...SWAPPED]) SWAPPED.set(other, one);
const BOUNDARY = new Map([
  ['<', '<='],
  ['>', '>='],
]);
for (const [one, other] of [...BOUNDARY]) BOUNDARY.set(other, one);

/** A place that replaces a node's own text, without the comments before it. */
export function place(node, text, range = node) {
  return { node, start: range.getStart(), end: range.getEnd(), text };
}

const isLogical = (node) => ts.isBinaryExpression(node) && LOGICAL.has(node.operatorToken.kind);
const isComparison = (node) => ts.isBinaryExpression(node) && COMPARING.has(node.operatorToken.kind);

function isNegation(node) {
  return ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken;
}

/** Whether a node is a condition: by its kind, or because it is tested, an operand of `&&` or `||`, or a predicate's result. */
function isCondition(node) {
  if (isLogical(node) || isComparison(node) || isNegation(node)) return true;
  let outer = node;
  while (ts.isParenthesizedExpression(outer.parent)) outer = outer.parent;
  const { parent } = outer;
  if (isLogical(parent)) return true;
  if (ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent))
    return parent.expression === outer;
  if (ts.isForStatement(parent) || ts.isConditionalExpression(parent)) return parent.condition === outer;
  return ts.isArrowFunction(parent) && parent.body === outer && ts.isCallExpression(parent.parent);
}

function conditions(nodes) {
  return nodes.filter(
    (node) => ts.isExpression(node) && !ts.isParenthesizedExpression(node) && isCondition(node),
  );
}

function binaries(nodes, operators) {
  return nodes
    .filter((node) => ts.isBinaryExpression(node) && operators.has(node.operatorToken.getText()))
    .map((node) => place(node, operators.get(node.operatorToken.getText()), node.operatorToken));
}

/** Makes a condition always true. If it were the word `true`, TypeScript would reject code that then cannot be reached. */
export const conditionTrue = (nodes) => conditions(nodes).map((node) => place(node, '!0'));

/** Makes a condition always false. */
export const conditionFalse = (nodes) => conditions(nodes).map((node) => place(node, '!1'));

/** Negates a condition. */
export const negate = (nodes) => conditions(nodes).map((node) => place(node, `!(${node.getText()})`));

/** Exchanges `&&` and `||`, `===` and `!==`, `<` and `>=`, `>` and `<=`, `+` and `-`. */
export const swapOperator = (nodes) => binaries(nodes, SWAPPED);

/** Exchanges `<` and `<=`, `>` and `>=`. */
export const boundary = (nodes) => binaries(nodes, BOUNDARY);

/** Removes one operand of `&&`, `||` or `??`, with its operator. */
export function removeOperand(nodes) {
  const chains = nodes.filter(
    (node) =>
      isLogical(node) ||
      (ts.isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.QuestionQuestionToken),
  );
  return chains.flatMap((chain) => {
    const { left, right, operatorToken } = chain;
    // `a && b && c` is `(a && b) && c`, so its left side is not a single operand.
    const isChain = ts.isBinaryExpression(left) && left.operatorToken.kind === operatorToken.kind;
    const rest = place(right, left.getText(), chain);
    return isChain ? [rest] : [place(left, right.getText(), chain), rest];
  });
}
