import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { growth, LIMIT } from './regular-expression-growth.ts';

/** A regular expression of the program. */
interface Expression {
  readonly file: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/** An expression composed at run time, whose text is not known here. */
interface Composed {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** All regular expression literals and `RegExp` calls in a folder, found by the TypeScript parser. */
function readExpressions(folder: string): { literals: Expression[]; composed: Composed[] } {
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
function expressionsIn(text: string, file: string): { literals: Expression[]; composed: Composed[] } {
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

const { literals, composed } = readExpressions(join(import.meta.dirname, '..', '..', 'src'));

const STOPWORD = '(?:fix|feat|chore|docs|refactor|test|main|master|the|and|for|a)';
const NEXT_WORD = `(?:${STOPWORD}-)*(?!${STOPWORD}(?:-|$))([a-z0-9]+)`;
/** The expressions that are composed at run time, with their parts filled in. */
const COMPOSED: Readonly<Record<string, Pick<Expression, 'source' | 'flags'>>> = {
  'domain/handoff.ts': {
    source:
      '\\n\\nClaude-Session-Id: ([\\w.-]+)\\n(?:Handoff-Base: (\\w+)\\n)?' +
      '(?:Handoff-Client: ([\\w.-]+)\\n)?Handoff-State: (\\w+)\\n*$',
    flags: '',
  },
  'domain/names.ts': { source: `^${NEXT_WORD}(?:-${NEXT_WORD})?`, flags: '' },
  'domain/commit-message.ts': { source: '^[ \\t]*claude-session-id[ \\t]*:[ \\t]*(\\S+)', flags: 'gim' },
  'install/hook-block.ts': {
    source: '^# >>> git-handoff >>>\\n[^]*?^# <<< git-handoff <<<(?:\\n|$)',
    flags: 'm',
  },
};

const byText = new Map(literals.map((one) => [`/${one.source}/${one.flags}`, one]));

describe('every regular expression of the program', () => {
  it('is found', () => {
    expect(literals.length).toBeGreaterThan(400);
    expect(new Set(composed.map(({ file }) => file))).toEqual(new Set(Object.keys(COMPOSED)));
  });

  it.each([...byText].map(([text, { file }]) => [file, text] as const))(
    'takes linear time: %s %s',
    (_file, text) => {
      const { ratio, pump } = growth(byText.get(text)!);
      expect(ratio, `pumped with ${pump}`).toBeLessThan(LIMIT);
    },
  );

  it.each(Object.entries(COMPOSED))('takes linear time, if composed in %s', (_file, one) => {
    const { ratio, pump } = growth(one);
    expect(ratio, `pumped with ${pump}`).toBeLessThan(LIMIT);
  });
});

describe('the test itself', () => {
  it.each([
    '(a+)+$',
    '^(?:a|a)*$',
    '\\s*\\s*x',
    '^\\s*(.*?)\\s*$',
    '[\\d.]+$',
    '-+$',
    '^x*x*y',
    '^(?:silent!?\\s+|[\\d,]*)*(w|x)$',
    '(?:a|b|ab)*c',
    '<!--.*?-->',
    '[^\\n]*\\n',
  ])('catches /%s/', (source) => {
    expect(growth({ source, flags: '' }).ratio).toBeGreaterThan(LIMIT);
  });

  it.each(['^a+$', '^(?:ab)*c', '(?<!-)-+$', 'a', '^\\s*x'])('lets /%s/ pass', (source) => {
    expect(growth({ source, flags: '' }).ratio).toBeLessThan(LIMIT);
  });

  it('finds literals and constructions, even in nested code', () => {
    const text =
      'const a = (b) => b.replace(/x\\/y/gi, `${/z/.test(b)}`); new RegExp("[/]", "u"); RegExp(a + "x");';
    const { literals: found, composed: others } = expressionsIn(text, 'a.ts');
    expect(found.map(({ source, flags }) => [source, flags])).toEqual([
      ['x\\/y', 'gi'],
      ['z', ''],
      ['[/]', 'u'],
    ]);
    expect(others).toHaveLength(1);
  });
});
