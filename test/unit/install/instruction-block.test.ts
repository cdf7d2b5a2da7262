import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  INSTRUCTIONS_END as END,
  INSTRUCTIONS_START as START,
  findBlock,
  importsFile,
  withInstructions,
  withoutInstructions,
} from '../../../src/install/instructions.ts';

const blockState = (text: string) => {
  const found = findBlock(text);
  return typeof found === 'string' ? found : 'whole';
};
const BOM = '\xEF\xBB\xBF';
const BLOCK = withInstructions('').trimEnd();

/** Texts made of pieces that affect where lines begin and end. */
const pieces = fc.constantFrom(
  '\n',
  '\r\n',
  '\r',
  ' ',
  'x',
  START,
  END,
  `${START}\n`,
  `${END}\n`,
  '<!--',
  '\0',
);
const texts = fc
  .tuple(
    fc.constantFrom('', BOM),
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces).map((all) => all.join('')),
    ),
  )
  .map(([mark, text]) => mark + Buffer.from(text, 'utf8').toString('latin1'));
const check = (property: fc.IProperty<[string]>) => fc.assert(property, { numRuns: 3000 });

describe('a text with our block', () => {
  it('is the original text again without the block, whatever the text contains', () => {
    check(
      fc.property(texts, (text) => {
        fc.pre(blockState(text) === 'none');
        expect(withoutInstructions(withInstructions(text))).toBe(text);
      }),
    );
  });

  it('has the block once, however often it is added', () => {
    check(
      fc.property(texts, (text) => {
        const once = withInstructions(text);
        expect(withInstructions(once)).toBe(once);
        expect(blockState(once)).toBe(blockState(text) === 'damaged' ? 'damaged' : 'whole');
      }),
    );
  });

  it('keeps every byte that was there, and does not change if the block is damaged', () => {
    check(
      fc.property(texts, (text) => {
        const state = blockState(text);
        const added = withInstructions(text);
        if (state === 'none') expect(added.startsWith(text)).toBe(true);
        if (state === 'damaged') expect([added, withoutInstructions(text)]).toEqual([text, text]);
      }),
    );
  });
});

describe('withInstructions', () => {
  it.each([
    ['', `${BLOCK}\n`],
    [BOM, `${BOM}${BLOCK}\n`],
    ['# A\n', `# A\n\n${BLOCK}\n`],
    ['# A', `# A\n\n${BLOCK}`],
    ['# A\r\nb\r\n', `# A\r\nb\r\n\r\n${BLOCK.replaceAll('\n', '\r\n')}\r\n`],
    ['# A\r\nb', `# A\r\nb\r\n\r\n${BLOCK.replaceAll('\n', '\r\n')}`],
    [`a\n\n${START}\nold\n${END}\nb\n`, `a\n\n${BLOCK}\nb\n`],
    [`${START}\r\nold\r\n${END}`, BLOCK.replaceAll('\n', '\r\n')],
    [`see \`${START}\`\n`, `see \`${START}\`\n\n${BLOCK}\n`],
  ])('%j', (text, expected) => {
    expect(withInstructions(text)).toBe(expected);
  });

  it('is short', () => {
    expect(BLOCK.split('\n').length).toBeLessThanOrEqual(12);
  });
});

describe('withoutInstructions', () => {
  it.each([
    [`a\n\n${BLOCK}\n\nb\n`, 'a\n\nb\n'],
    [`a\n${BLOCK}\nb\n`, 'a\nb\n'],
    [`${BLOCK}\n# moved to the top\n`, '# moved to the top\n'],
    [`a\n\n${BLOCK}\nadded later`, 'a\nadded later'],
  ])('%j', (text, expected) => {
    expect(withoutInstructions(text)).toBe(expected);
  });
});

describe('findBlock', () => {
  it.each([
    ['', 'none'],
    [`x ${START}\n`, 'none'],
    [`${START} x\n${END} x\n`, 'none'],
    [`${BOM}${START}\n${END}`, 'whole'],
    [`${START}\t\r\n${END} `, 'whole'],
    [`${START}\n`, 'damaged'],
    [`${END}\n`, 'damaged'],
    [`${END}\n${START}\n`, 'damaged'],
    [`${BLOCK}\n${BLOCK}\n`, 'damaged'],
    [`${START}\n${START}\n${END}\n`, 'damaged'],
  ])('%j: %s', (text, state) => {
    expect(blockState(text)).toBe(state);
  });
});

describe('importsFile', () => {
  it.each([
    ['@AGENTS.md', true],
    [`${BOM}@AGENTS.md\r\n# x\r\n`, true],
    ['# x\n  @./AGENTS.md \n', true],
    ['read @AGENTS.md\n', false],
    ['@AGENTS.md.bak\n', false],
    ['', false],
  ])('%j: %s', (text, expected) => {
    expect(importsFile(text, 'AGENTS.md')).toBe(expected);
  });
});
