import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(ROOT, 'docs', 'predecessors.md'), 'utf8');

/** `integration/x.test.ts "name"`: every test that the page names; lines are joined, for prose is wrapped. */
const named = [
  ...page
    .replace(/\s+/g, ' ')
    .matchAll(/\b((?:unit|program|sh|integration|e2e|clients|faults)\/[\w/-]+\.test\.ts)(?: "([^"]+)")?/g),
].map(([, file = '', name = '']) => ({ file, name }));
const files = [...new Set(named.map(({ file }) => file))];

describe('docs/predecessors.md', () => {
  it('names a test for every feature', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:feature|-)/.test(line));
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.filter((row) => !/\.test\.ts/.test(row.split('|')[3] ?? ''))).toEqual([]);
  });

  it.each(files)('names a file that exists: %s', (file) => {
    expect(existsSync(join(ROOT, 'test', file))).toBe(true);
  });

  it.each(named.filter(({ name }) => name !== ''))(
    'names a test that stands there: $file "$name"',
    ({ file, name }) => {
      const source = readFileSync(join(ROOT, 'test', file), 'utf8');
      expect(source.replaceAll("\\'", "'")).toContain(name);
    },
  );
});
