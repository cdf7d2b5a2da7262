// The names that sources export: `node scripts/names.mjs` prints those that two sources have, those that no other source
// imports, and abandoned words in names, file names and messages. test/unit/names.test.ts requires that there are none.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** Folders whose programs import names from src/. */
const TAKERS = ['src', 'scripts', 'bench', 'test'];

/** @returns {Map<string, string>} texts by path; paths are written with `/` */
function readTexts() {
  const paths = TAKERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path).split(sep).join('/'),
    ),
  );
  const texts = paths.filter((path) => /\.(?:ts|mjs)$/.test(path));
  return new Map(texts.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

/** The names that a source itself defines and exports, not those that it re-exports. */
function exportsOf(path, text) {
  const { module } = parseSync(path, text);
  const entries = module.staticExports.flatMap((one) => one.entries);
  return entries.flatMap(({ moduleRequest, exportName }) =>
    moduleRequest === null && exportName.name !== null ? [exportName.name] : [],
  );
}

/** The exported names that several sources have, and those that nobody imports, each with its sources. */
export function oddNames() {
  const texts = readTexts();
  /** @type {Map<string, string[]>} */
  const makers = new Map();
  for (const [path, text] of texts) {
    // Entries are loaded by their files, and each of them exports `run`.
    if (!/^src\/.*\//.test(path)) continue;
    for (const name of new Set(exportsOf(path, text))) makers.set(name, [...(makers.get(name) ?? []), path]);
  }
  const words = new Map([...texts].map(([path, text]) => [path, new Set(text.match(/\w+/g))]));
  const isTaken = (name, by) => [...words].some(([path, known]) => path !== by && known.has(name));
  const doubled = [...makers].filter(([, paths]) => paths.length > 1);
  const unused = [...makers].filter(([name, [path]]) => !isTaken(name, path));
  return { doubled, unused };
}

/** Abandoned words, which told a reader nothing or have been replaced: a name should say who does what to whom. */
const LEFT_OUT_OF_NAMES = new Set(
  (
    'begun told said kin heal healed hear hears hearing heard lift lifts lifted twin twins secure secured spread spreads ' +
    'solo alone parted risen company matters'
  ).split(' '),
);
/** `sides` is allowed: git has the word for a merge. */
const WHOLE_NAMES = /^(?:leaveWord|goesOn|lookingTime|orUnchecked|placeOf|Sites?|Sides|sidesOf)$/;
/** Words that only the sources use. Messages say "recorded changes", "client" and "guard" instead. */
const LEFT_OUT_OF_MESSAGES =
  /\b(?:ledgers?|dialects?|gates?|launcher|twins?|kin|heal(?:s|ed)?|legal move|solo)\b/i;
/** Sources whose texts are not messages but contents of files. */
const NO_MESSAGES = new Set(['src/install/programs.ts', 'src/install/hook-block.ts']);

const wordsOf = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
const hasLeft = (name) => WHOLE_NAMES.test(name) || wordsOf(name).some((word) => LEFT_OUT_OF_NAMES.has(word));

/** The names that a source declares at its top level, exported or not. */
function topLevelNames({ body }) {
  return body.flatMap((node) => {
    const { id, declarations } = node.declaration ?? node;
    return [id, ...(declarations ?? []).map((one) => one.id)].flatMap((one) => one?.name ?? []);
  });
}

/** The sentences among a source's strings. */
function sentences(node) {
  if (node === null || typeof node !== 'object') return [];
  const text =
    node.type === 'Literal' ? node.value : node.type === 'TemplateElement' ? node.value.cooked : '';
  const own = typeof text === 'string' && /\S \S|^ \S|\S $/.test(text) ? [text] : [];
  return [...own, ...Object.values(node).flatMap(sentences)];
}

/** Where a file's name, a top-level name of a source, or a message has an abandoned word. */
export function leftWords() {
  return [...readTexts()].flatMap(([path, text]) => {
    const { program } = parseSync(path, text);
    const named = [path.split('/').at(-1).replace(/\..*/, ''), ...topLevelNames(program)].filter(hasLeft);
    const isSource = path.startsWith('src/') && !NO_MESSAGES.has(path);
    const messages = (isSource ? sentences(program.body) : []).filter((one) =>
      LEFT_OUT_OF_MESSAGES.test(one),
    );
    return [...named, ...messages].map((one) => `${path}: ${one}`);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { doubled, unused } = oddNames();
  for (const [name, paths] of doubled) console.log(`twice: ${name}  ${paths.join('  ')}`);
  for (const [name, paths] of unused) console.log(`unused: ${name}  ${paths.join('  ')}`);
  const left = leftWords();
  for (const one of left) console.log(`left: ${one}`);
  console.log(
    `${doubled.length} names twice, ${unused.length} unused, ${left.length} with an abandoned word`,
  );
  process.exitCode = doubled.length + unused.length + left.length === 0 ? 0 : 1;
}
