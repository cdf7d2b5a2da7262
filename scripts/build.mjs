// Bundles src/ into dist/: CommonJS, because an ESM entry costs 10 ms at every start (docs/decisions/0001-commonjs-bundles.md).
// `--if-stale` builds only when a source is newer than the result.
//
//   start.cjs      what Node starts; it loads one of the others
//   hook.cjs       hooks of clients and of git, up to the point where a decision is needed
//   decisions.cjs  the rest of the hooks, without
//   shell.cjs      the analysis of shell commands
//   cli.cjs        the command line, with the verbs of notes
//   verbs.cjs      the other verbs
//   seldom.cjs     the verbs that need a library, and the board
//
// rolldown-runtime.cjs is a line that several of them need; the bundler decides where to put it.
import { readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { boardAssets } from './board-assets.mjs';
import { LIBRARY_OPTIONS } from './libraries.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
/** Built beside dist/ and swapped in at once: hooks of running sessions must not meet half a program. */
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
 * Bundles one entry. Only an `import()` starts another file.
 * @param {string} source a file of src/, without its extension; the first bundle has that name, too
 * @param {{ more?: string, rest?: string, apart?: RegExp, define?: Record<string, string> }} [options] `more`: the bundle
 *   for what the entry does not import statically; `rest`: the bundle for what starts with an `import()` and needs a module
 *   whose name matches `apart`
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
      // yargs reads import.meta.url, which CommonJS lacks; and an `import()` may name what another bundle already loads.
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

/** All modules that these modules need, by static imports and by the `import()`s that are followed. */
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
