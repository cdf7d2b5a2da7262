// Bundles src/ into dist/: CommonJS, because an ESM entry costs 10 ms at every start (docs/decisions/0001-commonjs-bundles.md).
// `--if-stale` builds only when a source is newer than the result.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { boardAssets } from './board-assets.mjs';
import { bundlesOf } from './import-graph.mjs';
import { LIBRARY_OPTIONS, isLibrary } from './libraries.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
/** Built beside it and put in place at once: hooks of running sessions must not meet half a program. */
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
    const built = Math.min(...['hook.cjs', 'cli.cjs'].map((name) => statSync(join(dist, name)).mtimeMs));
    return built >= Math.max(newest(join(root, 'src')), statSync(join(root, 'package.json')).mtimeMs);
  } catch {
    return false;
  }
}

/**
 * Bundles one entry. `parts` cuts it along the import graph (scripts/import-graph.mjs); without it all is one file.
 * @returns the bundles and what is in them
 */
async function bundle(name, source, { chunks, parts, tiers, define = {} } = {}) {
  const entry = join(root, 'src', `${source}.ts`);
  const build = await rolldown({
    input: { [name]: entry },
    platform: 'node',
    // Across files, too: a constant that another bundle has must be asked for by name, and exported there.
    optimization: { inlineConst: { mode: 'all', pass: 2 } },
    ...LIBRARY_OPTIONS,
    // Else what lazy parts share with their entry would be one file more.
    preserveEntrySignatures: 'allow-extension',
    moduleTypes: { '.bash': 'text', '.zsh': 'text', '.fish': 'text' },
    transform: { define: { __VERSION__: JSON.stringify(version), ...define }, target: 'node20' },
    onLog(level, log, handle) {
      // yargs asks for import.meta.url, which CommonJS lacks; what is shared may have been loaded when it is asked for.
      if (log.code === 'EMPTY_IMPORT_META' || log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') return;
      handle(level === 'warn' ? 'error' : level, log);
    },
    plugins: [...LIBRARY_OPTIONS.plugins, oneFileLess, briefExports, briefImports],
  });
  const { output } = await build.write({
    dir: next,
    format: 'cjs',
    // One letter beyond Latin-1, and V8 takes two bytes for each of the file: reading it takes three times as long.
    charset: 'ascii',
    entryFileNames: '[name].cjs',
    chunkFileNames: chunks,
    codeSplitting: parts === undefined ? false : along(entry, parts, tiers),
    minify: true,
    // What tells a bundler that a call may go: nobody bundles these files again.
    comments: { annotation: false },
    sourcemap: false,
  });
  await build.close();
  return output;
}

/** Whether a module is one of those in a folder of src/. */
const anyOf = (folder, ...names) => {
  const files = new Set(names.map((name) => join(root, 'src', folder, `${name}.ts`)));
  return (id) => files.has(id);
};

/** What begins the parts that tool calls load, and those of starts and commits, which are rarer. */
const HOOK_TIERS = {
  shared: anyOf(
    'guard',
    'before-command',
    'looks',
    'effects/open-window',
    'events/after-tool',
    'effects/after-file',
    'events/after-command',
  ),
  'less-often': anyOf(
    '.',
    'guard/events/life-cycle',
    'guard/events/session-start',
    'guard/events/automatic',
    'githooks/hook-process',
    'githooks/pre-commit',
  ),
};

/** The verbs that are typed most, with their answers; then the tables of all, and the verbs that ask a remote. */
const isTypedMost = anyOf('verbs/notes', 'note-verbs', 'write', 'show', 'list', 'notes-text');
const isTableOfAll = anyOf('cli', 'verbs');
const VERB_TIERS = {
  shared: isTypedMost,
  verbs: isTableOfAll,
  remotes: anyOf('verbs/sync', 'sync'),
};

/** Each module goes where the import graph puts it, and takes nobody along. */
function along(entry, partOf, tiers) {
  let bundles;
  const name = (id, context) => {
    const of = (module) => {
      const info = context.getModuleInfo(module);
      return { always: info?.importedIds ?? [], lazy: info?.dynamicallyImportedIds ?? [] };
    };
    bundles ??= bundlesOf(entry, { of, partOf, isLibrary, tiers });
    return bundles.get(id);
  };
  return { includeDependenciesRecursively: false, groups: [{ debugName: 'along the import graph', name }] };
}

/** rolldown keeps its helpers in a file of their own; the entry, which is loaded anyway, takes them in. */
const oneFileLess = {
  name: 'one-file-less',
  generateBundle(_, output) {
    const chunks = Object.values(output);
    const helpers = chunks.find(({ name }) => name === 'rolldown-runtime');
    if (helpers === undefined) return;
    const entry = chunks.find(({ isEntry }) => isEntry);
    const required = (chunk) => `require("./${basename(chunk.fileName)}")`;
    for (const chunk of chunks) {
      const from = chunk === entry ? 'exports.helpers' : `${required(entry)}.helpers`;
      chunk.code = chunk.code.replace(required(helpers), from);
      if (chunk !== helpers && chunk.code.includes(basename(helpers.fileName))) {
        throw new Error(`${chunk.fileName} asks for ${helpers.fileName} in a way that is not known here`);
      }
    }
    entry.code = `exports.helpers={};(exports=>{${helpers.code}})(exports.helpers);${entry.code}`;
    delete output[helpers.fileName];
  },
};

/** rolldown defines each export of a chunk in a statement of 70 letters; one loop over all of them does the same. */
const briefExports = {
  name: 'brief-exports',
  generateBundle(_, output) {
    const getter = /Object\.defineProperty\(exports,"(\w+)",\{enumerable:!0,get:\(\)=>([\w$]+)\}\)/g;
    const several = new RegExp(`${getter.source}(?:,${getter.source})+`, 'g');
    for (const chunk of Object.values(output)) {
      const code = chunk.code.replace(/get:function\(\)\{return ([\w$]+)\}/g, 'get:()=>$1');
      chunk.code = code.replace(several, (definitions) => {
        const getters = definitions.replace(getter, '$1:()=>$2');
        return `(e=>{for(let n in e)Object.defineProperty(exports,n,{enumerable:!0,get:e[n]})})({${getters}})`;
      });
    }
  },
};

/** It writes an `import()` with two calls of `then`; an async function does the same. */
const briefImports = {
  name: 'brief-imports',
  generateBundle(_, output) {
    const imported =
      /Promise\.resolve\(\)\.then\(\(\)=>require\(("[^"]+")\)\)(?:\.then\((\w)=>\2(\.[\w$]+)\))?/g;
    for (const chunk of Object.values(output)) {
      chunk.code = chunk.code.replace(imported, '(async()=>require($1)$3)()');
    }
  },
};

/** What is in which bundle, for whoever wonders why one grew. It is not published. */
function modules(output) {
  const paths = (ids) => ids.filter((id) => id.startsWith(root)).map((id) => relative(root, id));
  return Object.fromEntries(output.map(({ fileName, moduleIds }) => [fileName, paths(moduleIds)]));
}

if (!(process.argv.includes('--if-stale') && isFresh())) {
  rmSync(next, { recursive: true, force: true });
  const isParser = (id) => id.includes('/node_modules/unbash/');
  const hooks = await bundle('hook-main', 'hook', {
    chunks: ({ moduleIds }) => (moduleIds.some(isParser) ? 'shell.cjs' : 'hook-[name].cjs'),
    parts: (_, target) => target,
    tiers: HOOK_TIERS,
  });
  const { script, style } = await boardAssets();
  // Verbs come in families: what one table of them loads lazily is one part.
  const verbs = await bundle('cli/main', 'cli', {
    chunks: 'cli/[name].cjs',
    parts: (table, target) => (isTypedMost(target) || isTableOfAll(target) ? undefined : table),
    tiers: VERB_TIERS,
    define: { __BOARD_SCRIPT__: JSON.stringify(script), __BOARD_STYLE__: JSON.stringify(style) },
  });
  // The code cache is kept by build: V8 itself only compares lengths.
  const build = createHash('sha256');
  const built = readdirSync(next, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const file of built.map((entry) => join(entry.parentPath, entry.name)).sort()) {
    build.update(readFileSync(file));
  }
  const __BUILD__ = JSON.stringify(build.digest('hex').slice(0, 16));
  for (const [entry, program] of [
    ['hook', 'hook-main.cjs'],
    ['cli', 'cli/main.cjs'],
  ]) {
    const __IS_HOOK__ = JSON.stringify(entry === 'hook');
    const define = { __BUILD__, __ENTRY__: JSON.stringify(program), __IS_HOOK__ };
    await bundle(entry, 'start', { define });
  }
  writeFileSync(join(next, 'modules.json'), JSON.stringify(modules([...hooks, ...verbs]), undefined, 1));
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
}
