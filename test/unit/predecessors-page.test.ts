import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8');
const [, page = ''] = read('docs', 'comparison.md').split('\n## The predecessors\n');
const sections = page.split(/^### /m).slice(1);

/** The tests for each predecessor and feature on the page, as `integration/x.test.ts "name"`. */
const evidence = JSON.parse(read('test', 'unit', 'predecessor-features.json')) as Record<
  string,
  Record<string, string[]>
>;
const named = Object.values(evidence)
  .flatMap((features) => Object.values(features).flat())
  .map((text) => {
    const [, file = '', name = ''] = /^(\S+)(?: "(.+)")?$/.exec(text) ?? [];
    return { file, name };
  });
const files = [...new Set(named.map(({ file }) => file))];

describe('the predecessors in docs/comparison.md', () => {
  it('names a test for every feature', () => {
    const listed = sections.map((section) => [
      section.split(/\s/)[0],
      [...section.matchAll(/^- \*\*(.+?)\*\*: /gm)].map(([, feature]) => feature),
    ]);
    const shown = Object.entries(evidence).map(([program, features]) => [program, Object.keys(features)]);
    expect(listed).toEqual(shown);
    expect(Object.values(evidence).flatMap((features) => Object.keys(features)).length).toBeGreaterThan(50);
    for (const tests of Object.values(evidence).flatMap((features) => Object.values(features)))
      expect(tests).not.toEqual([]);
  });

  it.each(files)('names a file that exists: %s', (file) => {
    expect(existsSync(join(ROOT, 'test', file))).toBe(true);
  });

  it.each(named.filter(({ name }) => name !== ''))(
    'names an existing test: $file "$name"',
    ({ file, name }) => {
      const source = read('test', file);
      expect(source.replaceAll("\\'", "'")).toContain(name);
    },
  );
});
