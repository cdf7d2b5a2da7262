import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { importsOf } from '../../scripts/import-graph.mjs';

/** What `node bench/loads.mjs` measures: the files of dist/ that Node loads in a case, and what is in them. Lists are words. */
interface Loads {
  readonly cases: readonly Case[];
  readonly modules: Readonly<Record<string, string>>;
}
interface Case {
  readonly name: string;
  /** Kibibytes of its files, rounded up. */
  readonly kib: number;
  readonly files: string;
}

/** What `scripts/build.mjs` put into each file, by path. */
type Modules = Readonly<Record<string, readonly string[]>>;

const ROOT = resolve(import.meta.dirname, '..', '..');
const HOT_KIB = 61;
const words = (text: string | undefined) => (text ?? '').split(' ').filter((word) => word !== '');
const pinned = JSON.parse(readFileSync(join(import.meta.dirname, 'bundles.json'), 'utf8')) as Loads;

/** What a case loads that it did not load when its figures were pinned, and by whom that is asked for. */
function added(found: Case, before: Case): string[] {
  const known = new Set(words(before.files).flatMap((file) => words(pinned.modules[file])));
  const modules = JSON.parse(readFileSync(join(ROOT, 'dist', 'modules.json'), 'utf8')) as Modules;
  const loaded = words(found.files).flatMap((file) => modules[file] ?? []);
  const sources = loaded.filter((path) => path.endsWith('.ts'));
  const [old, fresh] = [true, false].map((is) => sources.filter((path) => known.has(basename(path)) === is));
  if (old === undefined || fresh === undefined || fresh.length === 0) {
    return ['  it loads the same sources: they grew, or came with others'];
  }
  const causes = old.flatMap((importer) => {
    const { always } = importsOf(join(ROOT, importer));
    return fresh
      .filter((path) => always.includes(join(ROOT, path)))
      .map((path) => `  ${importer} imports ${path}`);
  });
  return [...causes, `  so these are loaded, too: ${fresh.map((path) => basename(path)).join(', ')}`];
}

describe('what Node loads', () => {
  let loads: Loads = { cases: [], modules: {} };
  beforeAll(() => {
    const printed = execFileSync(process.execPath, [join(ROOT, 'bench', 'loads.mjs'), '--json']);
    loads = JSON.parse(printed.toString()) as Loads;
  });

  it('is measured in the cases that are pinned', () => {
    expect(loads.cases.map(({ name }) => name)).toEqual(pinned.cases.map(({ name }) => name));
  });

  it.each(pinned.cases)('$name: at most $kib KiB in $files', (before) => {
    const found = loads.cases.find(({ name }) => name === before.name) ?? { name: '', kib: 0, files: '' };
    const why = [
      `${before.name}: ${found.kib} KiB in ${words(found.files).length} files, it may be ${before.kib} in ${words(before.files).length}`,
      ...added(found, before),
      'If that is meant: node scripts/build.mjs && node bench/loads.mjs --pin',
    ].join('\n');
    expect(words(found.files), why).toEqual(words(before.files));
    expect(found.kib, why).toBeLessThanOrEqual(before.kib);
  });

  it(`is at most ${HOT_KIB} KiB before a file tool`, () => {
    expect(pinned.cases.find(({ name }) => name === 'before a file tool')?.kib).toBeLessThanOrEqual(HOT_KIB);
  });
});
