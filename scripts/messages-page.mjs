/**
 * Writes docs/messages.md: every message of the program, read from the sources: what a `Failure` is made with, the texts in
 * what the guard, the git hooks and the verbs tell, and what the scripts in sh print. "When" is the docstring of the function that the text is in.
 *
 *   node scripts/messages-page.mjs [--check]      --check: exit status 1 if the committed page is out of date
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = dirname(import.meta.dirname);
const FILE = join(ROOT, 'docs', 'messages.md');
/** Shorter texts are parts of others. */
const LEAST_WORDS = 5;
/** Functions that make a failure of a code, a message and a hint, and where those are among their arguments. */
const MAKERS = { Failure: 0, failKeeping: 1 };

const EXIT_STATUS = [
  ['1', 'It did not happen', ['not-found', 'stale', 'refused', 'secret']],
  ['2', 'It was typed wrong', ['usage']],
  ['3', 'It is another’s', ['not-owner', 'unknown-operator']],
  ['4', 'Somebody was faster', ['lost-race']],
  ['5', 'A remote', ['remote']],
  ['6', 'What is stored does not hold', ['integrity']],
  ['7', 'The machine or the repository', ['environment']],
  ['70', 'A fault of git-handoff', ['internal']],
];

/** What tells without failing. Verbs' tables are their help, and `*-text.ts` is what they print when all is well. */
const TELLERS = [
  ['Of the guard', 'src/guard/', /./],
  ['Of the git hooks', 'src/githooks/', /./],
  ['To a session, of what others did', 'src/changes/', /./],
  [
    'To a session, of who is at work beside it',
    'src/domain/',
    /^src\/domain\/(?:meeting|startup|ledger\/requests)\.ts$/,
  ],
  [
    'Notices of verbs',
    'src/verbs/',
    /^(?!.*(?:-verbs|-text|shapes|options|pathspecs|summary)\.ts$)(?!src\/verbs\/(?:doctor|board)\/)/,
  ],
  ['Findings of `git handoff doctor`', 'src/verbs/doctor/', /^(?!.*(?:-verbs|-text)\.ts$)/],
];

const HEAD = `# Messages

<!-- Generated from the sources by scripts/messages-page.mjs. -->

Every message of the program, to search for the one that you saw. \`<word>\` is filled in; of \`[a|b]\` one is printed, or
none. Above messages is when they come. A failure is printed as \`error: …\`, what to type next as \`hint: …\`.
`;

/** @returns {{ path: string, source: ts.SourceFile }[]} */
function sources() {
  const names = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.includes('board/client/'))
    .sort()
    .map((name) => {
      const path = `src/${name}`;
      const text = readFileSync(join(ROOT, path), 'utf8');
      return { path, source: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
    });
}

/** The value that a name has where it is used: a constant of the function or the file. */
function constantOf(identifier) {
  for (let scope = identifier.parent; scope !== undefined; scope = scope.parent) {
    const statements = ts.isBlock(scope) || ts.isSourceFile(scope) ? scope.statements : [];
    for (const statement of statements) {
      if (!ts.isVariableStatement(statement)) continue;
      const found = statement.declarationList.declarations.find(
        ({ name, initializer }) => initializer !== undefined && name.getText() === identifier.text,
      );
      if (found !== undefined) return found.initializer;
    }
  }
  return undefined;
}

/** What stands for a value that is filled in: `<path>` for `escapeLine(claim.path)`. */
function placeholder(node) {
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { expression, name } = node.expression;
    if (expression.getText() === 'JSON' && node.arguments[0] !== undefined)
      return placeholder(node.arguments[0]);
    return /^(?:join|map|slice|filter|toString|trim|trimEnd|replace|replaceAll|at|get)$/.test(name.text)
      ? placeholder(expression)
      : `<${words(name.text)}>`;
  }
  if (ts.isCallExpression(node)) {
    const [first] = node.arguments;
    const isPlain = /^(?:escape\w+|shellWord|shortId|listed|JSON\w*|String|ownerName|peerNames?)$/;
    if (first !== undefined && isPlain.test(node.expression.getText())) return placeholder(first);
    return `<${words(node.expression.getText().split('.').at(-1))}>`;
  }
  if (ts.isPropertyAccessExpression(node))
    return `<${node.name.text === 'length' ? 'number' : words(node.name.text)}>`;
  if (ts.isIdentifier(node)) return `<${words(node.text)}>`;
  if (ts.isElementAccessExpression(node) || ts.isNonNullExpression(node)) return placeholder(node.expression);
  if (ts.isBinaryExpression(node)) return placeholder(node.left);
  if (ts.isArrayLiteralExpression(node) || ts.isSpreadElement(node)) {
    const inner = ts.isSpreadElement(node) ? node.expression : node.elements[0];
    return inner === undefined ? '<…>' : placeholder(inner);
  }
  return '<…>';
}

const words = (name) => name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();

/** A text as it is printed, with what is filled in named; `used`: the literals that it is made of. */
function textOf(node, used, depth = 0) {
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node))
    return textOf(node.expression, used, depth);
  if (ts.isStringLiteralLike(node)) return (used.add(node), node.text);
  if (ts.isTemplateExpression(node)) {
    used.add(node);
    const parts = node.templateSpans.map(
      ({ expression, literal }) => textOf(expression, used, depth + 1) + literal.text,
    );
    return node.head.text + parts.join('');
  }
  if (ts.isBinaryExpression(node)) {
    const sign = node.operatorToken.kind;
    if (sign === ts.SyntaxKind.PlusToken)
      return textOf(node.left, used, depth) + textOf(node.right, used, depth);
    if (sign === ts.SyntaxKind.QuestionQuestionToken) return textOf(node.left, used, depth);
  }
  if (ts.isConditionalExpression(node)) {
    const ways = waysOf(node).map((way) => textOf(way, used, depth + 1));
    return `[${ways.filter((way) => way !== '').join('|')}]`;
  }
  if (ts.isIdentifier(node) && depth < 4) {
    const value = constantOf(node);
    if (value !== undefined && isText(value)) return textOf(value, used, depth + 1);
  }
  return placeholder(node);
}

/** All that `a ? b : c ? d : e` may be. */
const waysOf = (node) =>
  ts.isConditionalExpression(node) ? [...waysOf(node.whenTrue), ...waysOf(node.whenFalse)] : [node];

/** Whether an expression is made of texts, and not the outcome of something else. */
function isText(node) {
  if (ts.isParenthesizedExpression(node)) return isText(node.expression);
  if (ts.isConditionalExpression(node)) return isText(node.whenTrue) && isText(node.whenFalse);
  if (ts.isBinaryExpression(node))
    return node.operatorToken.kind === ts.SyntaxKind.PlusToken && (isText(node.left) || isText(node.right));
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/** The first sentence of the nearest docstring around a node, or else of the file's first one of a function. */
function whenOf(node) {
  for (let at = node; at !== undefined && !ts.isSourceFile(at); at = at.parent) {
    const [doc] = ts.getJSDocCommentsAndTags(at).filter(ts.isJSDoc);
    if (doc === undefined || !(ts.isFunctionLike(at) || ts.isVariableStatement(at))) continue;
    const text = (ts.getTextOfJSDocComment(doc.comment) ?? '').replaceAll(/\s+/g, ' ').trim();
    // An example is not when it comes.
    if (text !== '' && !text.startsWith('"'))
      return /^.*?[.;](?= |$)/.exec(text)?.[0].replace(/;$/, '.') ?? text;
  }
  const [first] = node
    .getSourceFile()
    .statements.filter((one) => ts.isFunctionDeclaration(one) && isExported(one));
  return first === undefined || isWithin(node, first) ? '' : whenOf(first);
}

const isExported = (node) =>
  node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
const isWithin = (node, outer) => node.pos >= outer.pos && node.end <= outer.end;

const property = (object, name) =>
  object !== undefined && ts.isObjectLiteralExpression(object)
    ? object.properties.find((one) => one.name?.getText() === name)
    : undefined;

/** Every failure in a source: code, message, and the next commands. */
function failuresIn(source, used) {
  const found = [];
  const visit = (node) => {
    const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
    const from = isCall ? MAKERS[node.expression.getText()] : undefined;
    if (from !== undefined) {
      const [code, message, details] = node.arguments.slice(from);
      if (code !== undefined && message !== undefined && isKnown(message)) {
        const hints = ['hint', 'otherHint'].flatMap((name) => property(details, name) ?? []);
        const next = hints.map((one) => textOf(one.initializer ?? one.name, used));
        if (details !== undefined && isText(details)) next.push(textOf(details, used));
        const codes = ts.isStringLiteral(code) ? [code.text] : ['refused'];
        found.push({ code: codes[0], text: textOf(message, used), next, when: whenOf(node) });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** A message that is handed in is listed where it is made. */
const isKnown = (message) =>
  isText(message) || (ts.isIdentifier(message) && constantOf(message) !== undefined);

const isLogged = (node) =>
  ts.isCallExpression(node) && /(?:^|\.)(?:log\w*|notChecked|RegExp|import)$/.test(node.expression.getText());

/** Commands alone, options of git, patterns: no messages. */
const NO_MESSAGE = /^\[?(?:git [a-z<-]|ls |[\^$(-]|\w+=)|charset=/;

/** Texts that are told without a failure; those that others are made of are in those. */
function toldIn(source, used) {
  const found = [];
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || isLogged(node)) return;
    if (isText(node)) {
      const parts = new Set();
      const text = textOf(node, parts);
      const isSentence = text.replaceAll(/<[^>]*>/g, '').match(/[a-z’']{2,}/gi)?.length >= LEAST_WORDS;
      if (isSentence && !NO_MESSAGE.test(text))
        found.push({ node, parts, text, next: nextOf(node), when: whenOf(node) });
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  const isPart = ({ node, parts }) =>
    [...parts].every(
      (part) => used.has(part) || found.some((one) => one.node !== node && one.parts.has(part)),
    );
  return found.filter((one) => !isPart(one));
}

/** The next command beside a text: `{ why: '…', hint: '…' }`. */
function nextOf({ parent }) {
  const object = ts.isPropertyAssignment(parent) ? parent.parent : undefined;
  const hint = property(object, 'hint')?.initializer;
  return hint === undefined || hint === parent.initializer ? [] : [textOf(hint, new Set())];
}

const code = (text) => {
  const line = text.replaceAll('\n', ' ').replaceAll(/\s+/g, ' ').trim();
  const pad = /^`|`$/.test(line) ? ' ' : '';
  return line.includes('`') ? `\`\`${pad}${line}${pad}\`\`` : `\`${line}\``;
};

/** Messages with their time and their next command, each once. */
function entries(messages) {
  const known = new Map();
  for (const message of messages) if (!known.has(message.text)) known.set(message.text, message);
  const times = new Map();
  for (const message of known.values())
    times.set(message.when, [...(times.get(message.when) ?? []), message]);
  return [...times].map(([when, some]) => {
    const lines = some.map(({ text, next }) => [
      `- ${code(text)}`,
      ...next.map((one) => `  Next: ${code(one)}`),
    ]);
    return `${when === '' ? '' : `\n${when}\n`}\n${lines.flat().join('\n')}`;
  });
}

/** What the scripts in sh print themselves: an error, and what to type next where the line below is a hint. */
function scriptMessages() {
  const hooks = readdirSync(join(ROOT, 'git-hooks')).map((name) => join('git-hooks', name));
  return ['bin/git-handoff', ...hooks.sort()].flatMap((path) => {
    const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
    const said = lines.flatMap((line) => PRINTED.exec(line)?.[2] ?? []);
    if (said.length === 0) return [];
    const listed = said.map((text, n) => {
      const shown = text.replaceAll(/%s|\$(?:\w+|\{[^}]*\})/g, '<…>');
      return n > 0 && shown.startsWith('hint: ')
        ? `  Next: ${code(shown.slice('hint: '.length))}`
        : `- ${code(shown)}`;
    });
    return [`### ${basename(path)}\n\n${listed.join('\n')}\n`];
  });
}

/** A line of a script that prints a text where a person sees it. */
const PRINTED = /^ *(?:echo|printf) (["'])(.+?)(?:\\n)?\1.* >&[23]$/;

/** The page, and all messages, for those who check them. */
export function messagesPage() {
  const all = sources().map((one) => ({ ...one, used: new Set() }));
  const failures = all.flatMap(({ source, used }) => failuresIn(source, used));
  const told = TELLERS.map(([title, below, isOne]) => {
    const files = all.filter(({ path }) => path.startsWith(below) && isOne.test(path));
    const parts = files.map(({ path, source, used }) => [basename(path, '.ts'), toldIn(source, used)]);
    const texts = parts.filter(([, messages]) => messages.length > 0);
    const blocks = texts.map(([name, messages]) => `### ${name}\n${entries(messages).join('\n')}\n`);
    return `## ${title}\n\n${blocks.join('\n')}`;
  });
  const byStatus = EXIT_STATUS.map(([status, title, codes]) => {
    const own = failures.filter((one) => codes.includes(one.code));
    return `### Exit status ${status}: ${title}\n${entries(own).join('\n')}\n`;
  });
  const scripts = `## Of the launcher and the git hooks themselves\n\n${scriptMessages().join('\n')}`;
  return [HEAD, ...told, scripts, `## Errors of verbs\n\n${byStatus.join('\n')}`].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = messagesPage();
  if (!process.argv.includes('--check')) writeFileSync(FILE, page);
  else if (readFileSync(FILE, 'utf8') !== page) {
    console.error('docs/messages.md is out of date: node scripts/messages-page.mjs');
    process.exitCode = 1;
  }
}
