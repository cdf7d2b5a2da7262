import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  checkFrontMatter,
  formatFrontMatter,
  type FrontMatter,
  readFrontMatter,
} from '../../../src/domain/note/front-matter.ts';
import { anyText } from '../../support/any-text.ts';
import { type Schema, violations } from '../../support/json-schema.ts';

const schema = JSON.parse(
  readFileSync(new URL('../../../schema/handoff-front-matter.schema.json', import.meta.url), 'utf8'),
) as Schema;
const NOW = Date.parse('2026-05-08T00:00:00Z');
const GOOD: Readonly<Record<string, string>> = {
  schema_version: "'1.0'",
  from: 'alice',
  to: 'bob',
  topic: 'retry-policy',
  ts_utc: "'2026-05-07T12:00:00Z'",
};
/** Valid front matter with some lines changed; `undefined` removes one. */
const yaml = (changes: Readonly<Record<string, string | undefined>> = {}, more = '') =>
  Object.entries({ ...GOOD, ...changes })
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${value}\n`]))
    .join('') + more;
const read = (text: string) => readFrontMatter(text, NOW);
const problem = (text: string) => {
  const result = read(text);
  return result.kind === 'invalid' ? result.problem : undefined;
};
const fields = (text: string) => {
  const result = read(text);
  expect(result).toMatchObject({ kind: 'structured' });
  return result.kind === 'structured' ? result.fields : undefined;
};

describe('front matter of other programs', () => {
  it.each([
    ['nothing', ''],
    ['a scalar', 'draft'],
    ['a list', '- to\n- from'],
    ['another tool’s mapping', 'title: x\ndate: 2026-01-01\ntags: [a]\n'],
    ['keys of ours below another', 'mail:\n  to: bob\n  from: alice\n'],
    ['a key of ours by a merge', 'base: &b {to: bob}\n<<: *b\n'],
    ['broken YAML without a key of ours', 'title: a: b\n\t- x\n'],
    ['very deep', `a: ${'['.repeat(60_000)}`],
    ['very many lines', 'x: 1\n'.repeat(60_000)],
  ])('when it is %s', (_what, text) => expect(read(text)).toEqual({ kind: 'foreign' }));
});

describe('front matter of ours', () => {
  it('is read back as it was written', () => {
    const more = 'references: [\'commit:abc\', "x"]\ntags:\n  - a\n';
    expect(fields(yaml({}, more))).toEqual({
      schema_version: '1.0',
      handoff_id: undefined,
      from: 'alice',
      to: 'bob',
      topic: 'retry-policy',
      ts_utc: '2026-05-07T12:00:00Z',
      references: ['commit:abc', 'x'],
      tags: ['a'],
    });
  });

  it.each([
    ['a time without quotes', yaml({ ts_utc: '2026-05-07T12:00:00Z' })],
    ['CRLF', yaml().replaceAll('\n', '\r\n')],
    ['comments', yaml({}, '# x\n')],
    ['keys in another order', 'topic: retry-policy\n' + yaml({ topic: undefined })],
    ['keys in quotes', yaml({ to: undefined }, '"to": bob\n')],
    ['a flow mapping', `{${yaml().trim().replaceAll('\n', ', ')}}`],
    ['words that older YAML takes for booleans', yaml({ from: 'no', to: 'yes' })],
  ])('may have %s', (_what, text) => expect(fields(text)?.ts_utc).toBe('2026-05-07T12:00:00Z'));

  it.each<[string, string, RegExp, RegExp]>([
    ['a missing key', yaml({ to: undefined }), /\bto is missing/, /^to: 'bob'$/],
    ['only one key', 'to: bob\n', /schema_version is missing/, /^schema_version: '1\.0'$/],
    [
      'a number for a version',
      yaml({ schema_version: '1.0' }),
      /schema_version is a number.*not quoted/,
      /'1\.0'/,
    ],
    ['another version', yaml({ schema_version: "'2.0'" }), /schema_version is "2\.0"/, /'1\.0'/],
    ['a number for a name', yaml({ to: '7' }), /\bto is a number \(7\), not quoted/, /^to: /],
    ['an empty value', yaml({ to: '' }), /\bto is empty/, /^to: /],
    ['a boolean', yaml({ from: 'true' }), /from is a boolean/, /^from: /],
    ['a mapping', yaml({ topic: '{a: b}' }), /topic is a mapping/, /^topic: /],
    ['blanks in a name', yaml({ to: 'b o b' }), /\bto is "b o b"/, /^to: /],
    ['a line feed behind a name', yaml({ to: '"bob\\n"' }), /\bto is/, /^to: /],
    ['a control character', yaml({}, 'references: ["a\\u0007"]\n'), /references item 1/, /^references: /],
    ['half a character', yaml({}, 'references: ["\\ud800"]\n'), /references item 1/, /^references: /],
    ['an empty reference', yaml({}, "references: ['']\n"), /references item 1/, /^references: /],
    [
      'a long reference',
      yaml({}, `references: [${'x'.repeat(1025)}]\n`),
      /references item 1/,
      /^references: /,
    ],
    [
      '257 references',
      yaml({}, `references: [${'x,'.repeat(257)}]\n`),
      /references has 257 items/,
      /^references: /,
    ],
    ['a text for a list', yaml({}, 'tags: a\n'), /tags is "a"/, /^tags: /],
    ['33 tags', yaml({}, `tags: [${'x,'.repeat(33)}]\n`), /tags has 33 items/, /^tags: /],
    ['an empty list value', yaml({}, 'tags:\n'), /tags is empty/, /^tags: /],
    ['an unknown key', yaml({}, 'title: x\n'), /no key "title"/, /^only these: .*handoff_id/],
    ['__proto__', yaml({}, '__proto__: {a: b}\n'), /no key "__proto__"/, /^only these/],
    ['a short id', yaml({}, "handoff_id: 'sha256:ab'\n"), /handoff_id is/, /^leave handoff_id out/],
    ['a day that is none', yaml({ ts_utc: '2026-02-30T12:00:00Z' }), /ts_utc is/, /^ts_utc: /],
    ['an hour that is none', yaml({ ts_utc: '2026-02-03T25:00:00Z' }), /ts_utc is/, /^ts_utc: /],
    ['a time before 1970', yaml({ ts_utc: '1969-12-31T23:59:59Z' }), /ts_utc is/, /^ts_utc: /],
    ['a time in two days', yaml({ ts_utc: '2026-05-09T00:00:01Z' }), /ts_utc is/, /^ts_utc: /],
    ['a time of another zone', yaml({ ts_utc: '2026-05-07T12:00:00+02:00' }), /ts_utc is/, /^ts_utc: /],
    ['a date only', yaml({ ts_utc: '2026-05-07' }), /ts_utc is/, /^ts_utc: /],
  ])('refuses %s, with the line that would be right', (_what, text, message, hint) => {
    expect(problem(text)?.message).toMatch(message);
    expect(problem(text)?.hint).toMatch(hint);
  });

  it.each<[string, string, RegExp]>([
    ['a key twice', yaml({}, 'to: eve\n'), /unique \(line 7 of the note\)/],
    ['a tab as indentation', yaml({}, 'tags:\n\t- a\n'), /[Tt]abs/],
    ['an anchor', yaml({ from: '&a alice' }), /anchors and aliases/],
    ['an alias', yaml({}, 'tags: *a\n'), /anchors and aliases/],
    ['a bomb of aliases', `a: &a [x,x]\nb: &b [*a,*a]\nto: [*b,*b]\n`, /anchors and aliases/],
    ['a merge key', yaml({}, '<<: {tags: [a]}\n'), /no key "<<"/],
    ['a tag of a language', yaml({ to: '!!js/function "x"' }), /tags \(!\)/],
    ['a tag of YAML', yaml({ schema_version: '!!str 1.0' }), /tags \(!\)/],
    ['a second document', `${yaml()}--- \nto: x\n`, /./],
    ['broken YAML', yaml({ to: 'a: b' }), /line \d+ of the note/],
    ['an open quote', yaml({ to: "'bob" }), /line \d+ of the note/],
    ['very deep', yaml({}, `tags: ${'['.repeat(100_000)}`), /nested too deeply/],
    ['deep without brackets', yaml({}, '- '.repeat(50_000)), /nested too deeply/],
    ['far to the right', yaml({}, `tags:\n${' '.repeat(50_000)}- a\n`), /nested too deeply/],
    ['very many parts', yaml({}, `tags: [${'a,'.repeat(100_000)}]\n`), /too many parts/],
  ])('refuses %s', (_what, text, message) => expect(problem(text)?.message).toMatch(message));

  it('is not misled by what only looks like anchors, tags and brackets', () => {
    const hostile = `*a &b !c ${'['.repeat(200)}`;
    const more = `references:\n  - '${hostile}'\n  - |-\n    *a &b !c\n  - x &a *b !c\n`;
    expect(fields(yaml({}, more))?.references).toEqual([hostile, '*a &b !c', 'x &a *b !c']);
  });

  it('may be at every limit at once', () => {
    const full: FrontMatter = {
      schema_version: '1.0',
      handoff_id: `sha256:${'a'.repeat(64)}`,
      from: 'f'.repeat(64),
      to: 't'.repeat(64),
      topic: 'x'.repeat(80),
      ts_utc: '2026-05-07T12:00:00.123456789Z',
      references: Array.from({ length: 256 }, () => "'".repeat(1024)),
      tags: Array.from({ length: 32 }, () => 'g'.repeat(40)),
    };
    expect(fields(formatFrontMatter(full).slice(4, -4))).toEqual(full);
  });
});

describe('the published schema', () => {
  const value = fc.oneof(
    fc.constantFrom(
      '1.0',
      'alice',
      'retry-policy',
      '2026-05-07T12:00:00Z',
      '2026-05-07T12:00:00.1234567890Z',
    ),
    fc.constantFrom(
      '',
      'a b',
      'x'.repeat(64),
      'x'.repeat(65),
      'x'.repeat(81),
      `sha256:${'0'.repeat(64)}`,
      'bob\n',
    ),
    fc.constantFrom<unknown>(
      1,
      null,
      true,
      {},
      [],
      ['a'],
      ['a', ''],
      ['é\u{1f600}'],
      ['a\u0000'],
      ['\ud800'],
      [1],
    ),
    fc.constantFrom<unknown>(
      ['x'.repeat(1024)],
      ['\u{1f600}'.repeat(1024)],
      ['x'.repeat(1025)],
      ['x'.repeat(41)],
    ),
    fc.constantFrom<unknown>(
      Array<string>(32).fill('a'),
      Array<string>(33).fill('a'),
      Array<string>(257).fill('a'),
    ),
    anyText(),
    fc.array(anyText()),
  );
  const good = {
    schema_version: '1.0',
    from: 'alice',
    to: 'bob',
    topic: 'retry-policy',
    ts_utc: '2026-05-07T12:00:00Z',
  };
  const keys = [...Object.keys(good), 'handoff_id', 'references', 'tags', 'title'];

  it('accepts exactly what we accept, apart from times', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...keys), value), { maxLength: 3 }), (changes) => {
        const mapping: Record<string, unknown> = { ...good, ...Object.fromEntries(changes) };
        const ours = checkFrontMatter(mapping, NOW);
        expect(ours === undefined, JSON.stringify([mapping, ours])).toBe(
          violations(schema, mapping).length === 0,
        );
        if (ours === undefined) accepted++;
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it.each(Object.keys(good))('needs %s, as we do', (key) => {
    const without = Object.fromEntries(Object.entries(good).filter(([name]) => name !== key));
    expect(violations(schema, without)).not.toEqual([]);
    expect(checkFrontMatter(without, NOW)?.message).toMatch(`front matter: ${key} is missing`);
  });

  it('accepts what we write, which is the same byte for byte when read back', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
    const reference = fc
      .array(fc.oneof(fc.constantFrom("'", '"', ': ', '#', '- ', '\u{1f600}', '\\n', '*', '&'), name), {
        minLength: 1,
        maxLength: 8,
      })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        name,
        name,
        fc.array(reference),
        fc.array(fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/), { maxLength: 32 }),
        (from, to, references, tags) => {
          const made = { ...fields(yaml())!, from, to, references, tags };
          const text = formatFrontMatter(made);
          expect(read(text.slice(4, -4))).toEqual({ kind: 'structured', fields: made });
          expect(formatFrontMatter(made)).toBe(text);
        },
      ),
    );
  });
});
