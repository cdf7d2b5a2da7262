import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { indexedName, looksStructured, parseIndex } from '../../../src/domain/formats/texts.ts';
import { splitNote } from '../../../src/domain/note/sections.ts';
import { readFrontMatter } from '../../../src/domain/note/front-matter.ts';
import { handoffId } from '../../../src/domain/note/handoff-id.ts';

const FIXTURES = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'predecessors', 'structured');
const NOW = Date.parse('2026-06-01T00:00:00Z');

describe('the handoff_id of our own reader', () => {
  it('is the same as in every fixture', () => {
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const rows = parseIndex(readFileSync(join(FIXTURES, 'INDEX.md'), 'utf8'));
    expect(rows).not.toEqual([]);
    for (const row of rows) {
      const { yaml = '', body } = splitNote(readFileSync(join(FIXTURES, row.file), 'utf8'));
      const read = readFrontMatter(yaml, NOW);
      expect(read.kind === 'structured' ? handoffId(read.fields, body, sha256) : read).toBe(row.id);
    }
  });
});

describe('front matter of structured handoffs', () => {
  it('is distinguished from that of other programs', () => {
    const head = "---\nschema_version: '1.0'\nfrom: 'alice'\nto: 'bob'\ntopic: 'retry-policy'\n---\n";
    expect(looksStructured(head)).toBe(true);
    expect(looksStructured('---\ntopic: x\ntags: []\n---\n')).toBe(false);
    expect(looksStructured('text\n---\nschema_version: x\ntopic: y\n---\n')).toBe(false);
  });
});

describe('INDEX.md', () => {
  it('can be read despite blank lines between rows and blanks before them', () => {
    const rows = parseIndex(readFileSync(join(FIXTURES, 'INDEX.md'), 'utf8'));
    expect(rows.map(({ file }) => file)).toEqual([
      '2026-05-07-alice-bob-retry-policy.md',
      '2026-05-07-alice-bob-retry-policy-2.md',
      '2026-05-08-bob-alice-Release_Plan.md',
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
