import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToBytes, escapeJson, escapeLine, escapeText, shellWord } from '../../src/domain/messages.ts';
import { summarise } from '../../src/domain/handoff.ts';
import { anyText } from '../support/any-text.ts';

const code = (character: string) => `\\u{${character.codePointAt(0)!.toString(16)}}`;
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at));

/** Every character that steers a terminal, reverses text, or is invisible. */
const UNSAFE: readonly [string, string[]][] = [
  ['C0', range(0, 0x1f).filter((one) => one !== '\n' && one !== '\t')],
  ['DEL and C1', range(0x7f, 0x9f)],
  ['bidi controls', ['\u061c', ...range(0x200e, 0x200f), ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)]],
  ['line separators', ['\u2028', '\u2029']],
  [
    'invisible ones',
    ['\u00ad', '\u180e', '\u200b', '\u200c', '\u200d', '\u2060', '\u2063', '\ufeff', '\ufffb'],
  ],
  ['tag characters', range(0xe0000, 0xe007f)],
  ['variation selectors that hide text', range(0xe0100, 0xe01ef)],
];

describe('escapeText', () => {
  it.each(UNSAFE)('makes %s visible', (_name, characters) => {
    for (const one of characters) expect(escapeText(`a${one}b`)).toBe(`a${code(one)}b`);
  });

  it('keeps lines and tabs, and removes a carriage return only at a line end', () => {
    expect(escapeText('a\tb\nc\r\nd\re')).toBe('a\tb\nc\nd\\u{d}e');
  });

  it('keeps every script, accents, emoji and commands in fences', () => {
    const text = 'naïve 漢字 עברית हिन्दी é\n```sh\ngit log --oneline | head -3\n```\n👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 ❤️ ☎️';
    expect(escapeText(text)).toBe(text);
  });

  it('keeps a joiner only between two emoji', () => {
    expect(escapeText('👩\u200dx')).toBe(`👩${code('\u200d')}x`);
    expect(escapeText('x\u200d👩')).toBe(`x${code('\u200d')}👩`);
    expect(escapeText('👩\u200d\u200d👩')).toBe(`👩${code('\u200d')}${code('\u200d')}👩`);
  });

  it('makes runs of variation selectors visible, which can carry a hidden message', () => {
    expect(escapeText('a\ufe00\ufe01')).toBe('a\\u{fe00}\\u{fe01}');
  });

  it('does not pass its own placeholder', () => {
    expect(escapeText('\u{10ffff}')).toBe('\\u{10ffff}');
  });

  it('shows half of a surrogate pair', () => expect(escapeText('a\ud800b')).toBe('a\\u{d800}b'));

  it('leaves nothing unsafe in any text, and never changes what it escaped', () => {
    const unsafe = new Set(UNSAFE.flatMap(([, characters]) => characters).filter((one) => one !== '\u200d'));
    const anything = fc.array(fc.oneof(fc.constantFrom(...unsafe), fc.string({ unit: 'grapheme' })), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(anything, (parts) => {
        const escaped = escapeText(parts.join(''));
        for (const one of escaped) expect(unsafe.has(one)).toBe(false);
        expect(escapeText(escaped)).toBe(escaped);
      }),
    );
  });
});

describe('escapeLine', () => {
  it('stays on one line', () => expect(escapeLine('a\nb\tc\r\nd')).toBe('a\\nb c\\nd'));

  it('of a hostile note makes a harmless summary', () => {
    const summary = summarise('# \u001b]0;pwned\u0007\u202egnp.exe', escapeLine);
    expect(summary).toBe('\\u{1b}]0;pwned\\u{7}\\u{202e}gnp.exe');
  });
});

describe('shellWord', () => {
  it.each([
    ['main/auth-refresh', 'main/auth-refresh'],
    ['feature%2Fx', 'feature%2Fx'],
    ['-d', "'-d'"],
    ['a b', "'a b'"],
    ["it's", `'it'\\''s'`],
    ['$(id)', "'$(id)'"],
    ['', "''"],
    ['~/x', "'~/x'"],
    ['#x', "'#x'"],
    ['ünï', "'ünï'"],
    ['a\u202eb', `$'a\\U0000202eb'`],
    ["a\u001b'\\", `$'a\\U0000001b\\'\\\\'`],
  ])('%j is %s', (word, quoted) => expect(shellWord(word)).toBe(quoted));

  it('prints nothing unsafe', () => {
    fc.assert(
      fc.property(anyText(), (word) => {
        const quoted = shellWord(word);
        expect(escapeLine(quoted)).toBe(quoted);
      }),
    );
  });
});

describe('cutToBytes', () => {
  it('keeps what fits, marks the cut, and never cuts within a character', () => {
    expect(cutToBytes('abc', 3)).toBe('abc');
    expect(cutToBytes('abcdef', 5)).toBe('ab…');
    expect(cutToBytes('漢漢漢', 7)).toBe('漢…');
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.integer({ min: 3, max: 60 }),
        (text, bytes) => {
          expect(Buffer.byteLength(cutToBytes(text, bytes))).toBeLessThanOrEqual(bytes);
        },
      ),
    );
  });
});

describe('escapeJson', () => {
  it.each(UNSAFE)('contains no raw %s, and the JSON parses to the same text', (_name, characters) => {
    const value = { text: `a${characters.join('x')}b👩\u200d👧 ü` };
    const json = escapeJson(JSON.stringify(value));
    for (const one of characters) expect(json).not.toContain(one);
    expect(JSON.parse(json)).toEqual(value);
  });
});
