// Bundles src/ into dist/: CommonJS, because an ESM entry costs 10 ms at every start (docs/decisions/0001-commonjs-bundles.md).
// `--if-stale` builds only when a source is newer than the result.
//
//   start.cjs      what Node starts; it loads one of the others
//   hook.cjs       hooks of clients and of git, up to the point where a decision is needed
//   decisions.cjs  the rest of the hooks
//   shell.cjs      their analysis of shell commands
//   cli.cjs        the command line, with the verbs of notes
//   verbs.cjs      the other verbs
//   seldom.cjs     the verbs that need a library, and the board
//
// The bundler adds rolldown-runtime.cjs, one line that several of them load.
import { readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { boardAssets } from './board-assets.mjs';
import { LIBRARY_OPTIONS } from './libraries.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
/** Where the program is built; it replaces dist/ once it is complete, because hooks of running sessions use dist/. */
const next = join(root, 'dist.next');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

function newest(folder) {
  return Math.max(
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  );
}

function isFresh() {
  try {
    const names = ['start.cjs', 'hook.cjs', 'cli.cjs'];
    const built = Math.min(...names.map((name) => statSync(join(dist, name)).mtimeMs));
    return built >= Math.max(newest(join(root, 'src')), statSync(join(root, 'package.json')).mtimeMs);
  } catch {
    return false;
  }
}

/**
 * Bundles one entry and its static imports into one file. Modules that only an `import()` loads may be in other files.
 * @param {string} source a file of src/, without its extension; its first bundle has the same name
 * @param {{ more?: string, rest?: string, apart?: RegExp, define?: Record<string, string> }} [options] `more`: the bundle
 *   for what only an `import()` loads; `rest`: the same, if it needs a module whose path matches `apart`
 */
async function bundle(source, { more, rest, apart, define = {} } = {}) {
  const entry = join(root, 'src', `${source}.ts`);
  const build = await rolldown({
    input: { [source]: entry },
    platform: 'node',
    ...LIBRARY_OPTIONS,
    preserveEntrySignatures: 'allow-extension',
    moduleTypes: { '.bash': 'text', '.zsh': 'text', '.fish': 'text' },
    transform: { define: { __VERSION__: JSON.stringify(version), ...define }, target: 'node20' },
    onLog(level, log, handle) {
      // Both are expected: yargs reads import.meta.url, which CommonJS lacks, and some modules are also imported statically.
      if (log.code === 'EMPTY_IMPORT_META' || log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') return;
      handle(level === 'warn' ? 'error' : level, log);
    },
  });
  await build.write({
    dir: next,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    codeSplitting: rest !== undefined && {
      includeDependenciesRecursively: false,
      groups: [split(source, { more, rest, apart })],
    },
    minify: true,
    // A single character beyond Latin-1 would make V8 use two bytes for every character of the file.
    charset: 'ascii',
    comments: { annotation: false },
    sourcemap: false,
  });
  await build.close();
}

/** Which bundle a module is in. */
function split(source, { more, rest, apart }) {
  const entry = join(root, 'src', `${source}.ts`);
  let own, others;
  const name = (id, context) => {
    const infoOf = (module) => context.getModuleInfo(module);
    const isApart = (target) =>
      [...closure([target], infoOf, () => false)].some((needed) => apart.test(needed));
    own ??= closure([entry], infoOf, () => false);
    others ??= closure([entry], infoOf, (target) => !isApart(target));
    return own.has(id) ? source : others.has(id) ? (more ?? source) : rest;
  };
  return { debugName: `the bundles of ${source}`, name };
}

/** These modules, and all that they import statically or by an `import()` whose target `follows` accepts. */
function closure(modules, infoOf, follows) {
  const found = new Set(modules);
  for (const module of found) {
    const { importedIds = [], dynamicallyImportedIds = [] } = infoOf(module) ?? {};
    for (const id of [...importedIds, ...dynamicallyImportedIds.filter(follows)]) found.add(id);
  }
  return found;
}

if (!(process.argv.includes('--if-stale') && isFresh())) {
  rmSync(next, { recursive: true, force: true });
  const { script, style } = await boardAssets();
  await bundle('start');
  await bundle('hook', { more: 'decisions', rest: 'shell', apart: /\/node_modules\/unbash\// });
  await bundle('cli', {
    more: 'verbs',
    rest: 'seldom',
    apart: /\/node_modules\/|\/ui\/board\//,
    define: { __BOARD_SCRIPT__: JSON.stringify(script), __BOARD_STYLE__: JSON.stringify(style) },
  });
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
}
