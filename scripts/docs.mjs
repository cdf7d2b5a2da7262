/**
 * Checks the documentation: prints the number of words of each page, and every broken link and every calque
 * (docs/style.md) with its page and line. Exit status 1 if a link is broken, a calque is found or a word limit is exceeded.
 *
 *   node scripts/docs.mjs
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Visitor, parseSync } from 'rolldown/utils';

const ROOT = dirname(import.meta.dirname);
export const LIMITS = { 'README.md': 900, 'docs/': 9_000, 'a decision': 450 };
/** Pages that are generated, or that nobody reads from beginning to end. */
const UNCOUNTED = /^docs\/(?:(?:clients|performance|proof)\.md$|decisions\/)/;

const filesBelow = (folder, ending) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`)
    .sort();

/** Every Markdown page for users and contributors, by its path from the top. */
export const pages = () => ['README.md', 'CONTRIBUTING.md', ...filesBelow('docs', '.md')];

const read = (page) => readFileSync(join(ROOT, page), 'utf8');

/** Words of a page, as `wc -w` counts them. */
export const wordsOf = (page) => read(page).split(/\s+/).filter(Boolean).length;

/** The words of docs/ that count: not generated reference, measured tables, or records of decisions. */
export function wordsOfDocs() {
  const counted = pages().filter((page) => page.startsWith('docs/') && !UNCOUNTED.test(page));
  return counted.reduce((sum, page) => sum + wordsOf(page), 0);
}

/** Replaces fenced blocks, which quote the program's output, by blank lines. */
const unfenced = (text) => text.replaceAll(/^ *```.*?^ *```$/gms, (block) => block.replaceAll(/[^\n]/g, ''));
const prose = (text) => unfenced(text).replaceAll(/`[^`\n]*`/g, '``');

/** The anchors that GitHub makes of a page's headings. */
const anchorsOf = (page) =>
  [...unfenced(read(page)).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

/** Links of a page to a file or heading that does not exist. Network addresses are not tried. */
export function brokenLinks(page) {
  const targets = [...prose(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
  return targets.filter((target) => {
    if (/^https?:/.test(target)) return false;
    const [path, anchor] = target.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(ROOT, file))) return true;
    return anchor !== undefined && !anchorsOf(file).includes(anchor);
  });
}

/** What docs/style.md advises against, and similar phrases. */
export const CALQUES = {
  anew: /\banew\b/i,
  'is none': /(?<!there\s)\b(?:is|are|was|be|would be) none\b/i,
  // `stand for` and `stand-in` are allowed.
  stands: /\b(?:stands?|stood)\b(?! for\b|-|ing\b)/i,
  'told of': /\b(?:tells?|told) (?:of|apart|by)\b/i,
  'nobody tells': /\bwhose end nobody\b/i,
  'in silence': /\bin silence\b/i,
  'seems to stand': /\bseems? to stand\b/i,
  'who you are is': /\bwho (?:you|they) are is\b/i,
  'nobody is guessed': /\bnobody is guessed\b/i,
  'those who are gone': /\bthose who are gone\b/i,
  'your person': /\byour person\b/i,
  'be handed': /\bbe handed\b/i,
  unaware: /\bunaware\b/i,
  'is shut': /\bis shut\b/i,
  'lets pass': /\blets? pass\b/i,
  'by who': /\bby who\b(?! is\b)/i,
  'Who releases needs': /(?:^|[.:] )Who (?!is\b|are\b|was\b|has\b)\w+s\b(?![^.\n]*\?)/m,
  'is to be': /\b(?:is|are) to be \w+ed\b/i,
  'for long': /\bfor long\b/i,
  'by halves': /\bby halves\b/i,
  'in the moment in': /\bin the moment in\b/i,
};

/** The calques in a text, with their lines. */
export function calquesIn(text) {
  return Object.entries(CALQUES).flatMap(([calque, pattern]) =>
    [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map(({ 0: found, index }) => ({
      calque,
      found: found.trim(),
      line: text.slice(0, index).split('\n').length,
    })),
  );
}

/** The pairs of docs/style.md: what not to write, and what to write instead. */
export const examplesOfStyle = () =>
  [...read('docs/style.md').matchAll(/^- ~~(.+?)~~ (.+)$/gm)].map(([, before, after]) => ({ before, after }));

/** The calques of a page's prose. */
export const calquesOf = (page) => calquesIn(prose(read(page)));

/** The texts checked for style: the pages (except docs/style.md, which quotes bad style), the manual and the skill. */
export const texts = () => [
  ...pages().filter((page) => page !== 'docs/style.md'),
  ...['docs/git-handoff.1', 'skills/git-handoff/SKILL.md'],
];

/** The strings of a source, and the texts in its templates. */
function stringsOf(path) {
  const strings = [];
  new Visitor({
    Literal: ({ value }) => typeof value === 'string' && strings.push(value),
    TemplateElement: ({ value }) => strings.push(value.cooked ?? ''),
  }).visit(parseSync(path, read(path)).program);
  return strings;
}

/** Pages that the comments and messages of the program or its tools name, but that do not exist. */
export function missingPages() {
  const files = ['src', 'scripts', 'git-hooks', 'schema', 'bin'].flatMap((folder) => filesBelow(folder, ''));
  return files
    .filter((file) => statSync(join(ROOT, file)).isFile())
    .flatMap((file) =>
      [...read(file).matchAll(/\bdocs\/[\w/-]+\.(?:md|1|svg|png)\b/g)].map(([page]) => `${file}: ${page}`),
    )
    .filter((named) => !existsSync(join(ROOT, named.split(': ')[1])));
}

/** The calques in the strings of src/, most of which users read. */
export const calquesOfSources = () =>
  filesBelow('src', '.ts').flatMap((path) =>
    stringsOf(path)
      .flatMap(calquesIn)
      .map(({ found }) => `${path}: ${found}`),
  );

function main() {
  for (const page of pages()) console.log(`${String(wordsOf(page)).padStart(6)}  ${page}`);
  const total = wordsOfDocs();
  console.log(
    `${String(total).padStart(6)}  docs/ without generated reference and decisions, of ${LIMITS['docs/']}`,
  );
  const faults = [
    ...pages().flatMap((page) => brokenLinks(page).map((link) => `${page}: broken link ${link}`)),
    ...texts().flatMap((page) =>
      calquesOf(page).map(({ line, found }) => `${page}:${line}: "${found}", see docs/style.md`),
    ),
  ];
  if (wordsOf('README.md') > LIMITS['README.md'])
    faults.push(`README.md has more than ${LIMITS['README.md']} words`);
  if (total > LIMITS['docs/']) faults.push(`docs/ has more than ${LIMITS['docs/']} words`);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
