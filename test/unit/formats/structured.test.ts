import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { indexedName, parseIndex } from '../../../src/domain/formats/index-table.ts';
import { looksStructured, readStructured } from '../../../src/domain/formats/structured.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const FIXTURES = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'predecessors', 'structured');

const head = (more = '') =>
  `---\nschema_version: '1.0'\nfrom: 'alice'\nto: 'bob'\ntopic: 'retry-policy'\nts_utc: '2026-05-07T12:00:00Z'\n${more}---\n`;
function id(note: string): string | undefined {
  const read = readStructured(note, sha256);
  return read.kind === 'structured' ? read.head.computedId : read.why;
}

describe('handoff_id', () => {
  const bodyA = 'sha256:049fa8d6ee03bdb4707b26663b2ccb138bda13ad72c58a4c3a30b656817a82b9';
  it.each([
    [
      'references and tags',
      head('references: ["github.com/0xHoneyJar/loa/issues/658", "commit:abc1234"]\ntags: [bedrock]\n') +
        '\n# Body\n\nThis is the handoff body.\n',
      'sha256:94bdef20c4b8bf6779d77497c5610b1190487a986df26f24f6298e6d8786ec04',
    ],
    ['a body', `${head()}\nbody A\n`, bodyA],
    ['CRLF', `${head()}\nbody A\n`.replaceAll('\n', '\r\n'), bodyA],
    ['white space before the body', `${head()}\n\n    body A\n`, bodyA],
    ['an unquoted date and a version', `${head()}\nbody A\n`.replaceAll("'", ''), bodyA],
    ['a byte order mark', `\uFEFF${head()}\nbody A\n`, bodyA],
    ['an id of its own', `${head("handoff_id: 'sha256:00'\n")}\nbody A\n`, bodyA],
    ['no body', head(), 'sha256:56bb44eb8a39299ec612c3f8263c4a01d57989cbb14c5d13d1a8494adbdbd77f'],
  ])('is the published one with %s', (_, note, expected) => {
    expect(id(note)).toBe(expected);
  });

  it('is the one in every fixture', () => {
    for (const row of parseIndex(readFileSync(join(FIXTURES, 'INDEX.md'), 'utf8'))) {
      expect(id(readFileSync(join(FIXTURES, row.file), 'utf8'))).toBe(row.id);
    }
  });
});

describe('front matter that is no handoff', () => {
  it.each([
    ['none', '# x\n', /no front matter/],
    ['a list', '---\n- a\n---\n', /mapping/],
    ['no YAML', '---\na: [\n---\n', /mapping/],
    ['a key twice', `${head("from: 'eve'\n")}x`, /mapping/],
    ['an alias', `${head('tags: &t [a]\nreferences: *t\n')}x`, /mapping/],
    ['no topic', head().replace(/^topic.*\n/m, ''), /no topic/],
    ['a topic that is a list', head().replace("'retry-policy'", '[a]'), /no topic/],
    ['an operator with a line feed', head().replace("'bob'", '"bob\\nHandoff-State: closed"'), /operators/],
    ['references that are a mapping', `${head('references: {a: b}\n')}x`, /lists/],
    ['nested without end', `---\nfrom: ${'['.repeat(30_000)}\n---\n`, /mapping/],
  ])('%s', (_, note, why) => {
    expect(id(note)).toMatch(why);
  });

  it('is told from that of other programs', () => {
    expect(looksStructured(head())).toBe(true);
    expect(looksStructured('---\ntopic: x\ntags: []\n---\n')).toBe(false);
    expect(looksStructured('text\n---\nschema_version: x\ntopic: y\n---\n')).toBe(false);
  });
});

describe('INDEX.md', () => {
  it('is read in spite of blank lines between rows and blanks before them', () => {
    const rows = parseIndex(readFileSync(join(FIXTURES, 'INDEX.md'), 'utf8'));
    expect(rows.map(({ file, wasRead }) => [file, wasRead])).toEqual([
      ['2026-05-07-alice-bob-retry-policy.md', false],
      ['2026-05-07-alice-bob-retry-policy-2.md', true],
      ['2026-05-08-bob-alice-Release_Plan.md', false],
    ]);
  });

  it.each([
    ['no table', '# Index\nx | y\n', 0],
    ['rows before the head', '| a | b.md |\n| handoff_id | file |\n', 0],
    ['other columns', '| file | handoff_id |\n|---|:-:|\n| a.md | sha256:1 |\n', 1],
    ['short rows', '| handoff_id | file |\n| x |\n||\n|\n', 0],
    ['very many', `| handoff_id | file |\n${'| x | y |\n'.repeat(20_000)}`, 10_000],
  ])('with %s', (_, text, count) => {
    expect(parseIndex(text)).toHaveLength(count);
  });

  it.each([
    ['x.md', 'x.md'],
    ['./x.md', 'x.md'],
    ['[x](x.md)', 'x.md'],
    ['loa/handoffs/x.md', 'x.md'],
    ['../../x.md', undefined],
    ['/etc/passwd', undefined],
    ['/x.md', undefined],
    ['sub/x.md', undefined],
    ['..', undefined],
    ['a\\..\\x.md', undefined],
    ['handoffs/../x.md', undefined],
  ])('names %s, which is the file %s', (file, name) => {
    expect(indexedName(file, '/repo/grimoires/loa/handoffs')).toBe(name);
  });
});
