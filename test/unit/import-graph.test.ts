import { isBuiltin } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Imports, circlesOf, closureOf, importsOf, parseImports } from '../../scripts/import-graph.mjs';

const SOURCE = resolve(import.meta.dirname, '..', '..', 'src');

/** The sources and libraries that an entry imports, directly or indirectly. */
function reached(entry: string, lazily: boolean): { sources: string[]; libraries: string[] } {
  const modules = [...closureOf(join(SOURCE, entry), { lazily })];
  return {
    sources: modules.filter((module) => module.startsWith('/')),
    libraries: modules.filter((module) => !module.startsWith('/') && !isBuiltin(module)),
  };
}

describe('the entry of the hooks', () => {
  it('loads only builtins and our own code', () => {
    const { sources, libraries } = reached('hook.ts', false);
    expect(libraries).toEqual([]);
    expect(sources.length).toBeGreaterThan(20);
  });

  it('later loads the bash parser, and no other library', () => {
    expect(reached('hook.ts', true).libraries).toEqual(['unbash']);
  });
});

describe('the entry of the command line', () => {
  it('loads no library but the option parser before it knows the verb', () => {
    expect(reached('cli.ts', false).libraries).toEqual(['yargs-parser']);
  });
});

describe('what Node takes milliseconds to load', () => {
  it('is loaded when a call first needs it, not with a bundle', () => {
    const entries = ['hook.ts', 'cli.ts'].flatMap((entry) => reached(entry, true).sources);
    const eager = entries.filter(
      (file) =>
        file.endsWith('.ts') &&
        !file.startsWith(join(SOURCE, 'ui', 'board')) &&
        importsOf(file).always.some((name) => name === 'node:crypto' || name === 'node:zlib'),
    );
    expect(eager.map((file) => relative(SOURCE, file))).toEqual([]);
  });
});

describe('the domain', () => {
  it('imports nothing but itself', () => {
    const domain = join(SOURCE, 'domain');
    for (const file of closureOf(join(SOURCE, 'hook.ts'), { lazily: true })) {
      if (!file.startsWith(`${domain}/`)) continue;
      const { always, lazy } = importsOf(file);
      for (const name of [...always, ...lazy]) {
        const own = name.startsWith(`${domain}/`) || name === 'unbash';
        expect(own, `${relative(SOURCE, file)} imports ${name}`).toBe(true);
      }
    }
  });
});

describe('what a source imports', () => {
  const imports = (text: string) => parseImports('/src/a/here.ts', text);

  it('is listed as loaded with it or requested later', () => {
    const text = `
      import { one } from './one.ts';
      import * as two from '../two.ts';
      import 'three';
      export { four } from './four.ts';
      export * from './five.ts';
      const six = async () => (await import('./six.ts')).six;
      // import './comment.ts'
      const text = "import './text.ts'";`;
    expect(imports(text)).toEqual({
      always: ['/src/a/one.ts', '/src/two.ts', 'three', '/src/a/four.ts', '/src/a/five.ts'],
      lazy: ['/src/a/six.ts'],
    });
  });

  it('does not include types', () => {
    const text = `
      import type { One } from './one.ts';
      import { type Two } from './two.ts';
      export type { Three } from './three.ts';
      export { type Four } from './four.ts';
      let five: import('./five.ts').Five;
      import { six, type Six } from './six.ts';`;
    expect(imports(text)).toEqual({ always: ['/src/a/six.ts'], lazy: [] });
  });
});

/** A graph of letters: `a>b` is a static import, `a~b` a lazy one. */
function graph(...edges: readonly string[]): (module: string) => Imports {
  const from = (module: string, kind: string) =>
    edges.filter((edge) => edge.startsWith(`${module}${kind}`)).map((edge) => edge.slice(2));
  return (module) => ({ always: from(module, '>'), lazy: from(module, '~') });
}

describe('import cycles', () => {
  it('include only static imports', () => {
    const of = graph('a>b', 'b>c', 'c>b', 'c~a', 'd>e', 'e>f', 'f>d');
    expect(circlesOf('abcdef', of)).toEqual([
      ['b', 'c'],
      ['d', 'e', 'f'],
    ]);
  });
});
