import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The list of scripts/mutants.mjs. Here only that it has not rotted: running it takes half an hour. */
interface Mutant {
  readonly id: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
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

  it.each(mutants)('$id stands in its file once, and changes it', ({ file, find, replace, hurts }) => {
    expect(read(file).split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
    expect(hurts).not.toBe('');
  });

  it.each(mutants)('$id names tests that are there', ({ tests }) => {
    const files = tests.flatMap(({ project, files: names }) =>
      names.map((name) => `test/${project}/${name}`),
    );
    expect(files).not.toEqual([]);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});
