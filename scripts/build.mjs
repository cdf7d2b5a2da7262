// Bundles src/ into dist/: CommonJS, because an ESM entry costs 10 ms at every start (docs/decisions.md).
// `--if-stale` builds only when a source is newer than the result.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

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

/** One bundle with its lazily loaded chunks. `chunks` names the chunk of a dynamically imported source. */
async function bundle(name, source, chunks, { groups = [], define = {} } = {}) {
  const build = await rolldown({
    input: { [name]: join(root, 'src', `${source}.ts`) },
    platform: 'node',
    // Else what chunks share with their entry would be one file more.
    preserveEntrySignatures: 'allow-extension',
    moduleTypes: { '.bash': 'text', '.zsh': 'text', '.fish': 'text' },
    transform: { define: { __VERSION__: JSON.stringify(version), ...define }, target: 'node20' },
    onLog(level, log, handle) {
      // yargs asks for import.meta.url, which CommonJS lacks; verbs share their chunk with what they import.
      if (log.code === 'EMPTY_IMPORT_META' || log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') return;
      handle(level === 'warn' ? 'error' : level, log);
    },
  });
  await build.write({
    dir: next,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: chunks,
    codeSplitting: groups.length === 0 ? false : { groups },
    minify: true,
    sourcemap: false,
  });
  await build.close();
}

/** The board's script and style as texts for the page that `git handoff board` writes. */
async function boardAssets() {
  const folder = join(root, 'src', 'ui', 'board');
  const build = await rolldown({
    input: join(folder, 'client', 'main.ts'),
    platform: 'browser',
    tsconfig: false,
    transform: { target: 'es2022' },
  });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  const script = output[0].code.trim();
  if (/<\/script|<!--/i.test(script)) throw new Error('the script would end its own element');
  const style = readFileSync(join(folder, 'style.css'), 'utf8')
    .replace(/\/\*[^*]*\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replace(/: /g, ':')
    .trim();
  return { __BOARD_SCRIPT__: JSON.stringify(script), __BOARD_STYLE__: JSON.stringify(style) };
}

if (!(process.argv.includes('--if-stale') && isFresh())) {
  rmSync(next, { recursive: true, force: true });
  const name = (chunk) => (chunk.name === 'shell-tool' ? 'shell.cjs' : 'hook-[name].cjs');
  // Each file costs half a millisecond to find and load: what every decision needs is one, and what needs git
  // (whose first process loads child_process) another.
  const always =
    /src\/(?:domain\/(?:ledger\/(?:claims|entries|ownership)|(?!automatic|branch-history|operators|reader|rescue|staleness|startup|transition)[^/]*)|git\/(?:discover|hash|binary-text)|host\/[^/]*|agents\/(?!copilot|cursor)[^/]*|store\/(?:solo|registered|ledger|before-copies)|commands\/guard\/(?:before-tool|presence|refusals|ledger\/(?:before-file|contention|places|work-place)))\.ts$/;
  const gitBound =
    /src\/(?:git\/(?!branches|rescue-tree|left-commits|ignored-files|list-tree|stash)|store\/(?!rescue|stash-pins)|domain\/transition|domain\/ledger\/(?!tree-verbs\.|stash-verbs|branch-verbs|pathspec))|src\/commands\/(?:sides|guard\/ledger\/(?:foreign-claims|sides-now|look-before|news|window-id))\.ts$/;
  await bundle('hook-main', 'hook', name, {
    groups: [
      { name: 'core', test: always, priority: 2 },
      { name: 'git', test: gitBound, priority: 1 },
    ],
  });
  // What nearly every verb needs is one file: each further one costs half a millisecond to find and load.
  const core =
    /src\/(?:domain|git|store|host|commands|ui)\/(?!init|uninstall|install|doctor|guard|verify|import|export|exchange|board|sync|transfer|network)[^/]*\.ts$/;
  await bundle('cli/main', 'cli', 'cli/[name].cjs', {
    define: await boardAssets(),
    groups: [{ name: 'core', test: core }],
  });
  // The code cache is kept by build: V8 itself only compares lengths.
  const build = createHash('sha256');
  const built = readdirSync(next, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const file of built.map((entry) => join(entry.parentPath, entry.name)).sort()) {
    build.update(readFileSync(file));
  }
  const __BUILD__ = JSON.stringify(build.digest('hex').slice(0, 16));
  for (const [entry, program] of [
    ['hook', './hook-main.cjs'],
    ['cli', './cli/main.cjs'],
  ]) {
    const __IS_HOOK__ = JSON.stringify(entry === 'hook');
    const define = { __BUILD__, __ENTRY__: JSON.stringify(program), __IS_HOOK__ };
    await bundle(entry, 'start', '[name].cjs', { define });
  }
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
}
