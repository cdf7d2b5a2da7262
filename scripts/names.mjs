// The names that sources export: `node scripts/names.mjs` prints those that two sources have, and those that no other
// source takes. test/unit/names.test.ts holds both at none.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** Folders whose programs take names from src/. */
const TAKERS = ['src', 'scripts', 'bench', 'test'];

/** @returns {Map<string, string>} texts by path, with `/` */
function readTexts() {
  const paths = TAKERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path).split(sep).join('/'),
    ),
  );
  const texts = paths.filter((path) => /\.(?:ts|mjs)$/.test(path));
  return new Map(texts.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

/** What a source exports under names of its own: not what it passes on. */
function exportsOf(path, text) {
  const { module } = parseSync(path, text);
  const entries = module.staticExports.flatMap((one) => one.entries);
  return entries.flatMap(({ moduleRequest, exportName }) =>
    moduleRequest === null && exportName.name !== null ? [exportName.name] : [],
  );
}

/** The exported names that several sources have, and those that nobody takes, each with its sources. */
export function oddNames() {
  const texts = readTexts();
  /** @type {Map<string, string[]>} */
  const makers = new Map();
  for (const [path, text] of texts) {
    // An entry is loaded by its file: every one of them exports `run`.
    if (!/^src\/.*\//.test(path)) continue;
    for (const name of new Set(exportsOf(path, text))) makers.set(name, [...(makers.get(name) ?? []), path]);
  }
  const words = new Map([...texts].map(([path, text]) => [path, new Set(text.match(/\w+/g))]));
  const isTaken = (name, by) => [...words].some(([path, known]) => path !== by && known.has(name));
  const doubled = [...makers].filter(([, paths]) => paths.length > 1);
  const unused = [...makers].filter(([name, [path]]) => !isTaken(name, path));
  return { doubled, unused };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { doubled, unused } = oddNames();
  for (const [name, paths] of doubled) console.log(`twice: ${name}  ${paths.join('  ')}`);
  for (const [name, paths] of unused) console.log(`unused: ${name}  ${paths.join('  ')}`);
  console.log(`${doubled.length} names twice, ${unused.length} unused`);
  process.exitCode = doubled.length + unused.length === 0 ? 0 : 1;
}
