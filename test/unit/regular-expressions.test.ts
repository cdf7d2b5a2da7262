import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Expression, expressionsIn, readExpressions } from '../support/expressions.ts';
import { LIMIT, growth } from '../support/pumps.ts';

const { literals, composed } = readExpressions(join(import.meta.dirname, '..', '..', 'src'));

const STOPWORD = '(?:fix|feat|chore|docs|refactor|test|main|master|the|and|for|a)';
const NEXT_WORD = `(?:${STOPWORD}-)*(?!${STOPWORD}(?:-|$))([a-z0-9]+)`;
/** What the composed ones are at run time, with the parts filled in. */
const COMPOSED: Readonly<Record<string, Pick<Expression, 'source' | 'flags'>>> = {
  'domain/handoff.ts': {
    source:
      '\\n\\nClaude-Session-Id: ([\\w.-]+)\\n(?:Handoff-Base: (\\w+)\\n)?' +
      '(?:Handoff-Client: ([\\w.-]+)\\n)?Handoff-State: (\\w+)\\n*$',
    flags: '',
  },
  'domain/names.ts': { source: `^${NEXT_WORD}(?:-${NEXT_WORD})?`, flags: '' },
  'domain/mixed-commit.ts': { source: '^[ \\t]*claude-session-id[ \\t]*:[ \\t]*(\\S+)', flags: 'gim' },
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

  it.each(Object.entries(COMPOSED))('takes linear time: composed in %s', (_file, one) => {
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

  it('finds literals and constructions, also in nested code', () => {
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
