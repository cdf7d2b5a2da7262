import { isBuiltin } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Imports,
  bundlesOf,
  circlesOf,
  closureOf,
  importersOf,
  importsOf,
  parseImports,
} from '../../scripts/import-graph.mjs';

const SOURCE = resolve(import.meta.dirname, '..', '..', 'src');

/** The sources and the libraries that an entry reaches. */
function reached(entry: string, lazily: boolean): { sources: string[]; libraries: string[] } {
  const modules = [...closureOf(join(SOURCE, entry), { lazily })];
  return {
    sources: modules.filter((module) => module.startsWith('/')),
    libraries: modules.filter((module) => !module.startsWith('/') && !isBuiltin(module)),
  };
}

describe('the entry of the hooks', () => {
  it('loads builtins and our own code only', () => {
    const { sources, libraries } = reached('hook.ts', false);
    expect(libraries).toEqual([]);
    expect(sources.length).toBeGreaterThan(20);
  });

  it('loads the bash parser and no other library, and only for shell tools', () => {
    expect(reached('hook.ts', true).libraries).toEqual(['unbash']);
    const bundles = bundlesOf(join(SOURCE, 'hook.ts'), { isLibrary: (module) => module === 'unbash' });
    expect(bundles.get('unbash')).toBe('before-command');
  });
});

describe('the entry of the command line', () => {
  it('loads no library but the option parser before it knows the verb', () => {
    expect(reached('cli.ts', false).libraries).toEqual(['yargs-parser']);
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

  it('is what is loaded with it, and apart from that what it asks for later', () => {
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

  it('is no type', () => {
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

describe('the importers of a module', () => {
  it('are told with how they ask for it', () => {
    const of = graph('a>c', 'b~c', 'c>d');
    expect(importersOf('c', 'abcd', of)).toEqual([
      { importer: 'a', lazy: false },
      { importer: 'b', lazy: true },
    ]);
  });
});

describe('the circles of imports', () => {
  it('are those of static imports', () => {
    const of = graph('a>b', 'b>c', 'c>b', 'c~a', 'd>e', 'e>f', 'f>d');
    expect(circlesOf('abcdef', of)).toEqual([
      ['b', 'c'],
      ['d', 'e', 'f'],
    ]);
  });
});

describe('the bundle of a module', () => {
  const isLibrary = (module: string) => module === 'l';
  const bundles = (...edges: readonly string[]) =>
    Object.fromEntries(bundlesOf('e', { of: graph(...edges), isLibrary }));

  it('is the one of the entry where that imports it', () => {
    expect(bundles('e>a', 'a>b', 'e~p', 'p>b')).toEqual({ e: 'main', a: 'main', b: 'main', p: 'p' });
  });

  it('is the one of the part that has it for itself', () => {
    expect(bundles('e~p', 'p>a', 'e~q', 'q>b')).toEqual({ e: 'main', p: 'p', a: 'p', q: 'q', b: 'q' });
  });

  it('is the second one where parts share it, lazily or not', () => {
    expect(bundles('e~p', 'e~q', 'p>s', 'q>s', 's>t', 'q~t')).toMatchObject({ s: 'shared', t: 'shared' });
  });

  it('is the one of the part that is there before those that share it', () => {
    const found = bundles('e~p', 'p~q', 'p~r', 'p>a', 'q>a', 'q>b', 'r>b', 'e~x');
    expect(found).toMatchObject({ p: 'p', q: 'q', r: 'r', a: 'p', b: 'p' });
  });

  it('is a third one where parts share it that are loaded seldom', () => {
    const of = graph(
      'e~p',
      'e~q',
      'e~r',
      'p>a',
      'q>a',
      'q>b',
      'r>b',
      'p~x',
      'p~y',
      'x>c',
      'y>c',
      'x>d',
      'y>d',
      'd>p',
    );
    const tiers = { shared: (module: string) => module === 'p' };
    expect(Object.fromEntries(bundlesOf('e', { of, tiers }))).toMatchObject({
      ...{ a: 'shared', b: 'seldom' },
      // Within a part, too, but for what needs that part.
      ...{ c: 'seldom', d: 'p' },
    });
  });

  it('is the one of the first tier that needs it', () => {
    const of = graph('e~p', 'e~q', 'e~r', 'p>a', 'q>a', 'q>b', 'r>b', 'p>d', 'r>d');
    const tiers = { first: (module: string) => module === 'p', second: (module: string) => module === 'q' };
    expect(Object.fromEntries(bundlesOf('e', { of, tiers }))).toMatchObject({
      ...{ a: 'first', d: 'first', b: 'second' },
      ...{ p: 'p', q: 'q', r: 'r' },
    });
    const names = { first: () => false, q: (module: string) => module === 'q' };
    // A part whose name a tier has gets another one.
    expect(Object.fromEntries(bundlesOf('e', { of, tiers: names }))).toMatchObject({ b: 'q', q: 'q-2' });
  });

  it('is not shared where it needs a library', () => {
    const shared = bundles('e~p', 'e~q', 'p>s', 'q>s', 's>l');
    expect(shared).toMatchObject({ p: 'p', s: undefined, l: undefined });
    expect(bundles('e~p', 'p>s', 's>l')).toMatchObject({ p: 'p', s: 'p', l: 'p' });
    const inner = bundles('e~p', 'p~q', 'p~r', 'q>s', 'r>s', 's>l');
    expect(inner).toMatchObject({ p: 'p', s: undefined, l: undefined });
    expect(bundles('e>l', 'e~p', 'e~q', 'p>s', 'q>s', 's>l')).toMatchObject({ l: 'main', s: 'shared' });
  });

  it('is the one of a family where all that one module asks for is one part', () => {
    const of = graph('e>v', 'e>w', 'v~a', 'v~b', 'a>s', 'b>s', 'w~c', 'c>t', 'b>t');
    const partOf = (importer: string) => importer;
    expect(Object.fromEntries(bundlesOf('e', { of, partOf }))).toMatchObject({
      ...{ v: 'main', a: 'v', b: 'v', s: 'v' },
      ...{ c: 'c', t: 'shared' },
    });
  });

  it('is a shared one where an import begins no part', () => {
    const of = graph('e~p', 'e~q', 'p>a', 'q>a', 'q>b', 'p~r', 'r>c');
    const partOf = (_: string, target: string) => (target === 'p' || target === 'r' ? undefined : target);
    const tiers = { shared: (module: string) => module === 'p' };
    expect(Object.fromEntries(bundlesOf('e', { of, partOf, tiers }))).toMatchObject({
      ...{ p: 'shared', a: 'shared', q: 'q', b: 'q' },
      ...{ r: 'seldom', c: 'seldom' },
    });
  });

  it('has a name of its own', () => {
    const of = (module: string): Imports =>
      module === '/e.ts'
        ? { always: [], lazy: ['/a/x.ts', '/b/x.ts', '/main.ts'] }
        : { always: [], lazy: [] };
    expect(new Set(bundlesOf('/e.ts', { of }).values())).toEqual(new Set(['main', 'x', 'x-2', 'main-2']));
  });
});
