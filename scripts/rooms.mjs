// The rooms of src/, the import directions between them, and the rules that put a source into its room. ESLint checks the
// directions (eslint.config.js), test/unit/rooms.test.ts the rules. `node scripts/rooms.mjs` prints the rule of each source,
// and exits with 1 if a second rule claims it for another room.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';
import { circlesOf } from './import-graph.mjs';

const SOURCE = join(dirname(dirname(fileURLToPath(import.meta.url))), 'src');

const GROUND = ['install', 'git', 'host', 'shell', 'domain'];
const SUBJECTS = ['notes', 'snapshot', 'changes', 'sessions'];

/** What each room may import besides itself. The entries (`src/*.ts`) may import everything. */
export const MAY_IMPORT = {
  cli: ['verbs', 'ui', ...SUBJECTS, ...GROUND],
  verbs: ['ui', ...SUBJECTS, ...GROUND],
  guard: ['agents', ...SUBJECTS, ...GROUND],
  githooks: [...SUBJECTS, ...GROUND],
  notes: ['snapshot', 'changes', 'sessions', ...GROUND],
  snapshot: ['changes', 'sessions', ...GROUND],
  changes: ['sessions', ...GROUND],
  sessions: GROUND,
  install: ['git', 'host', 'shell', 'domain'],
  ui: ['domain'],
  agents: ['domain'],
  git: ['host', 'shell', 'domain'],
  host: ['shell', 'domain'],
  shell: ['domain'],
  domain: [],
};

/** The room of a source, by its path in src/ with `/`; `undefined` for an entry. */
export const roomOf = (path) => (path.includes('/') ? path.split('/')[0] : undefined);

/** The rule of each room, as in docs/architecture.md. The rules tell where something new belongs. */
const RULES = {
  cli: 'reads the command line',
  verbs: 'typed by someone',
  guard: 'a client’s event',
  githooks: 'a git event',
  notes: 'needed by two, about notes',
  snapshot: 'needed by two, about uncommitted content that is kept',
  changes: 'needed by two, about uncommitted changes',
  sessions: 'needed by two, about sessions',
  install: 'what init changes on a machine',
  ui: 'draws for a person’s eye',
  agents: 'speaks a client’s dialect',
  git: 'starts git or names our refs',
  host: 'asks the machine',
  shell: 'knows what a typed command does',
  domain: 'judges',
};

/**
 * @typedef {{ room: string | undefined, imports: readonly string[], names: readonly string[], text: string }} Source
 *   `imports`: sources by their path in src/, including types and `import()`; `names`: libraries and builtins
 */

/** @returns {Map<string, Source>} by path in src/, without the board's script for browsers, which is a separate program */
function readSources() {
  const paths = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith('.ts') && !/\.d\.ts$|^ui\/board\/client\//.test(path));
  return new Map(paths.map((path) => [path, readSource(path)]));
}

function readSource(path) {
  const text = readFileSync(join(SOURCE, path), 'utf8');
  const { module } = parseSync(path, text);
  const names = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ];
  const target = (name) =>
    relative(SOURCE, resolve(SOURCE, dirname(path), name))
      .split(sep)
      .join('/');
  const own = names.filter((name) => name.startsWith('.')).map(target);
  return { room: roomOf(path), imports: own, names: names.filter((name) => !name.startsWith('.')), text };
}

/** How many lines each room has. */
export function linesOfRooms() {
  /** @type {Record<string, number>} */
  const lines = {};
  for (const { room = 'entries', text } of readSources().values()) {
    lines[room] = (lines[room] ?? 0) + text.split('\n').length - 1;
  }
  return lines;
}

/** Import cycles of sources, including types and `import()`. */
export function circles() {
  const sources = readSources();
  const of = (path) => ({ always: sources.get(path)?.imports ?? [], lazy: [] });
  return circlesOf(sources.keys(), of);
}

/** Everything that these sources reach. */
function reach(sources, roots) {
  const reached = new Set(roots);
  for (const path of reached) for (const next of sources.get(path)?.imports ?? []) reached.add(next);
  return reached;
}

/** Who uses each source: families of verbs, `guard`, `githooks`. */
function askersOf(sources) {
  const roots = { guard: ['guard/guard.ts'], githooks: [] };
  for (const path of sources.get('hook.ts')?.imports ?? []) {
    if (roomOf(path) === 'githooks') roots.githooks.push(path);
  }
  for (const path of sources.keys()) {
    const [, family] = /^verbs\/([^/]+)\/[^/]+-verbs\.ts$/.exec(path) ?? [];
    if (family !== undefined) (roots[`verbs/${family}`] ??= []).push(path);
  }
  const reached = Object.entries(roots).map(([asker, paths]) => [asker, reach(sources, paths)]);
  return (path) => reached.filter(([, paths]) => paths.has(path)).map(([asker]) => asker);
}

const UPPER = ['cli', 'verbs', 'guard', 'githooks'];
const isPure = ({ names, text }) =>
  !names.some((name) => name.startsWith('node:')) &&
  !/\b(?:Date\.now|performance\.now)\(|\bprocess\./.test(code(text));
/** A text without its comments and strings: in those, `process.` may be the end of a sentence. */
const code = (text) => text.replace(/\/\*[^]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|`[^`]*`/g, '');
const writes = ({ imports, text }) =>
  imports.some((path) => /^git\/(?:ref-updates|object-batch)\.ts$/.test(path)) ||
  /\b(?:writeFileSync|appendFileSync|openSync|renameSync|unlinkSync|rmSync)\(/.test(text);
/** Whether a source depends on who calls it, because it imports from the command line, the guard or git's hooks. */
const knowsWhoAsks = ({ imports }) =>
  imports.some((path) => ['ui', ...UPPER].includes(roomOf(path)) || path === 'sessions/caller.ts');

/**
 * The rules that claim each source, that of its room first; more than one means that the source is in the wrong place.
 * @returns {{ path: string, claims: string[] }[]}
 */
export function claims() {
  const sources = readSources();
  const askers = askersOf(sources);
  const isNeededBelow = (path) =>
    [...sources.values()].some(({ room, imports }) => SUBJECTS.includes(room) && imports.includes(path));
  return [...sources].flatMap(([path, source]) => {
    const { room } = source;
    if (room === undefined) return [];
    const found = [RULES[room] ?? `no rule for src/${room}`];
    const asked = askers(path);
    const rooms = new Set(asked.map((asker) => roomOf(asker) ?? asker));
    if (UPPER.includes(room) && (rooms.size > 1 || isNeededBelow(path))) found.push('needed by two');
    // A source with only one caller belongs to that caller, unless it writes the refs or files of a subject.
    const isOwn = asked.length === 1 && !isNeededBelow(path) && (knowsWhoAsks(source) || !writes(source));
    if (SUBJECTS.includes(room) && isOwn) found.push(`asked for by ${asked[0]} alone`);
    if (['domain', 'shell', 'agents'].includes(room) && !isPure(source)) found.push(RULES.host);
    if (!['git', 'host', 'install'].includes(room) && source.names.includes('node:child_process')) {
      found.push(RULES.git);
    }
    if (!['shell', 'domain'].includes(room) && source.names.includes('unbash')) found.push(RULES.shell);
    return [{ path, claims: found }];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = claims();
  for (const one of found) console.log(`${one.path.padEnd(44)} ${one.claims.join(' | and: ')}`);
  const twice = found.filter((one) => one.claims.length > 1);
  console.log(`${found.length} sources, ${twice.length} of them claimed by a second rule`);
  process.exitCode = twice.length === 0 ? 0 : 1;
}
