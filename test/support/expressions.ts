import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A regular expression of the program's. */
export interface Expression {
  readonly file: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/** An expression that is put together at run time: its text is not known here. */
export interface Composed {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** All regular expression literals and `RegExp` calls below a folder, found by the TypeScript parser. */
export function readExpressions(folder: string): { literals: Expression[]; composed: Composed[] } {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const literals: Expression[] = [];
  const composed: Composed[] = [];
  for (const name of names.sort()) {
    const text = readFileSync(join(folder, name), 'utf8');
    const found = expressionsIn(text, name);
    literals.push(...found.literals);
    composed.push(...found.composed);
  }
  return { literals, composed };
}

/** The same for the text of one file. */
export function expressionsIn(text: string, file: string): { literals: Expression[]; composed: Composed[] } {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const literals: Expression[] = [];
  const composed: Composed[] = [];
  const visit = (node: ts.Node): void => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      literals.push({ file, line, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    } else if (
      (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
      node.expression.getText(tree) === 'RegExp'
    ) {
      const [source, flags] = node.arguments ?? [];
      if (source !== undefined && ts.isStringLiteralLike(source)) {
        const given = flags !== undefined && ts.isStringLiteralLike(flags) ? flags.text : '';
        literals.push({ file, line, source: source.text, flags: given });
      } else composed.push({ file, line, text: node.getText(tree) });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { literals, composed };
}
