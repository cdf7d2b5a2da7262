import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCE = resolve(import.meta.dirname, '..', '..', 'src');
const IMPORTS =
  /(?:^|\n)\s*(?:import|export)\s(?:[^'";]*?\sfrom\s)?\s*'([^']+)'|\b(import)\(\s*'([^']+)'\s*\)/g;

interface Imported {
  readonly name: string;
  /** Loaded only when the code gets there. */
  readonly lazy: boolean;
}

/** What a source imports at run time; `import type` is erased. */
function importsOf(file: string): Imported[] {
  const text = readFileSync(file, 'utf8').replace(/(?:^|\n)\s*(?:import|export) type [^;]*;/g, '\n');
  return [...text.matchAll(IMPORTS)].map(([, fixed, dynamic, lazy]) => ({
    name: fixed ?? lazy ?? '',
    lazy: dynamic !== undefined,
  }));
}

/** Every source and library that an entry reaches; `lazily` goes through `import()` as well. */
function reach(entry: string, lazily: boolean): { sources: Set<string>; libraries: Map<string, string> } {
  const sources = new Set<string>();
  const libraries = new Map<string, string>();
  const open = [join(SOURCE, entry)];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (sources.has(file)) continue;
    sources.add(file);
    for (const { name, lazy } of importsOf(file)) {
      if (lazy && !lazily) continue;
      if (name.startsWith('.')) open.push(resolve(dirname(file), name));
      else if (!name.startsWith('node:') && !builtinModules.includes(name)) {
        libraries.set(name, relative(SOURCE, file));
      }
    }
  }
  return { sources, libraries };
}

describe('the entry of the hooks', () => {
  it('loads builtins and our own code only', () => {
    const { sources, libraries } = reach('hook.ts', false);
    expect([...libraries]).toEqual([]);
    expect(sources.size).toBeGreaterThan(20);
    expect([...sources].map((file) => relative(SOURCE, file))).not.toContain('cli/verbs.ts');
  });

  it('loads the bash parser and nothing else, and only for shell tools', () => {
    const { libraries } = reach('hook.ts', true);
    expect([...libraries.keys()]).toEqual(['unbash']);
    expect(libraries.get('unbash')).toMatch(/^domain\/shell\//);
    expect([...reach('hook.ts', false).sources].some((file) => file.includes('/domain/shell/words'))).toBe(
      false,
    );
  });
});

describe('the entry of the command line', () => {
  it('loads no library but the option parser before it knows the verb', () => {
    expect([...reach('cli.ts', false).libraries.keys()]).toEqual(['yargs-parser']);
  });
});

describe('the domain', () => {
  it('imports nothing but itself', () => {
    const domain = join(SOURCE, 'domain');
    for (const file of reach('hook.ts', true).sources) {
      if (!file.startsWith(`${domain}/`)) continue;
      for (const { name } of importsOf(file)) {
        const own = name.startsWith('.') && resolve(dirname(file), name).startsWith(`${domain}/`);
        expect(own || name === 'unbash', `${relative(SOURCE, file)} imports ${name}`).toBe(true);
      }
    }
  });
});
