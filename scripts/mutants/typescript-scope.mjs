// Finds the place of a mutant in a TypeScript file: a top-level declaration, and the words that a place in it mentions.
import ts from 'typescript';

/** A node and all its descendants, in the order of the text. */
export function* nodesOf(node) {
  yield node;
  const children = [];
  ts.forEachChild(node, (child) => {
    children.push(child);
  });
  for (const child of children) yield* nodesOf(child);
}

export function parseTypeScript(text) {
  const source = ts.createSourceFile('mutant.ts', text, ts.ScriptTarget.Latest, true);
  const [error] = source.parseDiagnostics;
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, ' '));
  return source;
}

function declared(statement) {
  return ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
}

const isType = (node) => ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node);

/** The top-level declaration with this name, exported or not; `Class.member` is a member of a class. */
export function findDeclaration(source, path) {
  const [name, member] = path.split('.');
  const found = source.statements.flatMap((statement) =>
    declared(statement).filter((one) => one.name?.text === name && !isType(one)),
  );
  if (found.length !== 1) throw new Error(`${found.length} top-level declarations are called ${name}`);
  if (member === undefined) return found[0];
  const members = (found[0].members ?? []).filter((one) => one.name?.getText() === member);
  if (members.length !== 1) throw new Error(`${name} has ${members.length} members called ${member}`);
  return members[0];
}

/** In `const { path } = claim`, the local has the name of the property, which is known outside the declaration. */
function isShorthandBinding(element) {
  return ts.isObjectBindingPattern(element.parent) && element.propertyName === undefined;
}

/** Names known only inside the declaration. They do not identify a place, since they may be renamed. */
function localNames(declaration) {
  const names = new Set();
  for (const node of nodesOf(declaration)) {
    const isLocal =
      ts.isParameter(node) ||
      ts.isVariableDeclaration(node) ||
      ts.isFunctionDeclaration(node) ||
      (ts.isBindingElement(node) && !isShorthandBinding(node));
    if (isLocal && node !== declaration && node.name !== undefined && ts.isIdentifier(node.name))
      names.add(node.name.text);
  }
  return names;
}

/** `a.name`, `{ name: 1 }`, `{ name }`: the name of a property, even if a local has the same name. */
function isPropertyName(identifier) {
  const { parent } = identifier;
  return (
    parent.propertyName === identifier ||
    (parent.name === identifier &&
      (ts.isPropertyAccessExpression(parent) ||
        ts.isPropertyAssignment(parent) ||
        ts.isShorthandPropertyAssignment(parent) ||
        ts.isMethodDeclaration(parent) ||
        (ts.isBindingElement(parent) && isShorthandBinding(parent))))
  );
}

const KEYWORDS = new Map([
  [ts.SyntaxKind.TrueKeyword, 'true'],
  [ts.SyntaxKind.FalseKeyword, 'false'],
  [ts.SyntaxKind.NullKeyword, 'null'],
]);

function wordOf(node, locals) {
  if (ts.isIdentifier(node)) return isPropertyName(node) || !locals.has(node.text) ? node.text : undefined;
  if (ts.isRegularExpressionLiteral(node)) return node.text;
  if (ts.isLiteralExpression(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
    return node.text.trim();
  return KEYWORDS.get(node.kind);
}

/** Returns a function that lists the words of nodes: names known outside, properties, literals. */
export function wordTeller(declaration) {
  const locals = localNames(declaration);
  return (nodes) => {
    const all = nodes.flatMap((node) => [...nodesOf(node)].map((one) => wordOf(one, locals)));
    return new Set(all.filter((word) => word !== undefined && word !== ''));
  };
}
