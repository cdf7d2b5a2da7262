import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, withContext } from '../../../src/ui/board/client/line-diff.ts';

const shown = (before: string, after: string) =>
  diffLines(before, after).map(({ sign, text }) => `${sign}${text}`);
const side = (before: string, after: string, sign: '-' | '+') =>
  diffLines(before, after)
    .filter((line) => line.sign === ' ' || line.sign === sign)
    .map(({ text }) => text)
    .join('\n');

describe('the lines that changed', () => {
  it.each([
    ['a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
    ['a\nb', 'a\nb', [' a', ' b']],
    ['', 'a', ['-', '+a']],
    ['a\nb\nc\nd', 'b\nd', ['-a', ' b', '-c', ' d']],
    ['a\na', 'a', [' a', '-a']],
  ])('of %j and %j', (before, after, expected) => {
    expect(shown(before, after)).toEqual(expected);
  });

  it('restore both texts, whatever they are', () => {
    const text = fc
      .array(fc.constantFrom('', 'a', 'b', '- c'), { maxLength: 12 })
      .map((all) => all.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(side(before, after, '-')).toBe(before);
        expect(side(before, after, '+')).toBe(after);
      }),
    );
  });

  it('of texts too long to compare are all shown as replaced', () => {
    const many = (word: string) => Array.from({ length: 5000 }, (_, at) => `${word} ${at}`).join('\n');
    const lines = diffLines(`same\n${many('a')}`, `same\n${many('b')}`);
    expect(lines).toHaveLength(10_001);
    expect(lines[0]).toEqual({ sign: ' ', text: 'same' });
  });

  it('are shown with three lines around them', () => {
    const before = Array.from({ length: 20 }, (_, at) => `${at}`);
    const after = before.map((line) => (line === '10' ? 'ten' : line));
    const lines = withContext(diffLines(before.join('\n'), after.join('\n')));
    expect(lines.map((line) => (line === undefined ? '…' : line.sign + line.text))).toEqual([
      ' 7',
      ' 8',
      ' 9',
      '-10',
      '+ten',
      ' 11',
      ' 12',
      ' 13',
    ]);
    expect(withContext(diffLines('a', 'a'))).toEqual([]);
  });
});
