import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mutate, type Mutation } from '../../scripts/mutants/mutate.mjs';
import { findTestFile, quickProjects, testFiles } from '../../scripts/mutants/tests.mjs';

/** The list of scripts/mutants.mjs. These tests check only that it is not outdated: running it takes half an hour. */
interface Mutant extends Mutation {
  readonly id: string;
  readonly hurts: string;
  readonly survives?: string;
  readonly tests: readonly { readonly project: string; readonly files: readonly string[]; name?: string }[];
}

const ROOT = resolve(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const mutants = JSON.parse(read('test/mutants/mutants.json')) as Mutant[];

describe('the list of mutants', () => {
  it('has at least 60, each with a name of its own', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(60);
    expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length);
  });

  it.each(mutants)('$id has one place in its file, and changes it', (mutant) => {
    const text = read(mutant.file);
    // `mutate` throws unless there is exactly one place, and the result can be parsed.
    expect(mutate(mutant, text).text).not.toBe(text);
    expect(mutant.hurts).not.toBe('');
  });

  it('changes something different each time', () => {
    const changes = mutants.map((mutant) => {
      const { start, end, replacement } = mutate(mutant, read(mutant.file));
      return `${mutant.file} ${start} ${end} ${replacement}`;
    });
    expect(new Set(changes).size).toBe(mutants.length);
  });

  it('names existing tests', () => {
    const files = testFiles(ROOT);
    for (const { id, tests } of mutants) {
      const named = tests.flatMap((part) => part.files.map((name) => findTestFile(files, part, name)));
      expect(named, id).not.toEqual([]);
    }
  });

  it('reads the projects of `npm test` from that script', () => {
    expect(quickProjects(ROOT)).toContain('unit');
  });
});
