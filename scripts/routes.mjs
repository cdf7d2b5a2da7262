// How many sources somebody new must open to follow one call. A source counts if one of its functions runs, according to V8's
// coverage of an unminified build. `node scripts/routes.mjs [--list]` prints the figure of each route beside its limit;
// `--list` names the sources, too. test/integration/routes.test.ts checks the limits.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { Scenario, inSession, toolCall } from '../bench/scenario.mjs';
import { LIBRARY_OPTIONS } from './libraries.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The limit for each route (docs/decisions/0047-size.md). */
const MOST = { Edit: 40, commit: 40, write: 45 };

/** Starts a program by its file. Node runs this instead of src/start.ts. */
const START = `const [program, ...words] = process.argv.slice(2);
require(program).main(words).then((status) => process.exit(status));`;

/**
 * The sources on each route: an Edit beside a peer, a commit beside a peer (its pre-commit hook), and a `write` without peers.
 * @returns {Promise<{ route: string, sources: string[], most: number }[]>}
 */
export async function routes() {
  const dir = mkdtempSync(join(tmpdir(), 'git-handoff-routes-'));
  const scenario = new Scenario(ROOT);
  try {
    writeFileSync(join(dir, 'start.cjs'), START);
    await Promise.all([buildReadable('hook', dir), buildReadable('cli', dir)]);
    return callsOf(scenario).map(({ route, program, words, ...options }) => {
      const coverage = join(dir, route);
      const env = { ...inSession(scenario), NODE_V8_COVERAGE: coverage };
      const args = [join(dir, 'start.cjs'), join(dir, `${program}.cjs`), String(process.pid), ...words];
      scenario.run(process.execPath, args, { ...options, env });
      return { route, sources: sourcesThatRan(coverage, dir), most: MOST[route] };
    });
  } finally {
    scenario.remove();
    rmSync(dir, { recursive: true, force: true });
  }
}

function callsOf(scenario) {
  const alone = scenario.enabled('alone', 1);
  const beside = scenario.enabled('beside', 2);
  const gitDir = join(beside, '.git');
  const edit = { file_path: join(beside, 'src', 'a.ts'), old_string: '1', new_string: '2' };
  return [
    {
      ...{ route: 'Edit', program: 'hook', words: ['guard', '--client', 'claude'] },
      ...{ cwd: beside, input: toolCall(beside, 'Edit', edit) },
    },
    {
      ...{ route: 'commit', program: 'hook', cwd: beside, input: '' },
      words: ['hook', 'pre-commit', '--git-dir', gitDir, '--common-dir', gitDir, '--'],
    },
    {
      ...{ route: 'write', program: 'cli', cwd: alone, input: '' },
      words: ['write', 'auth-refresh', '-m', 'Goal: pass'],
    },
  ];
}

/** Builds a program as one file, in which a comment marks where each source begins. */
async function buildReadable(source, dir) {
  const build = await rolldown({
    input: join(ROOT, 'src', `${source}.ts`),
    platform: 'node',
    ...LIBRARY_OPTIONS,
    moduleTypes: { '.bash': 'text', '.zsh': 'text', '.fish': 'text' },
    transform: { define: { __VERSION__: '"0"', __BOARD_SCRIPT__: '""', __BOARD_STYLE__: '""' } },
    // scripts/build.mjs reports the same warnings.
    onLog: () => undefined,
  });
  await build.write({ file: join(dir, `${source}.cjs`), format: 'cjs', codeSplitting: false });
  await build.close();
}

/** The sources with a function that ran. @param {string} coverage the folder of V8's reports */
function sourcesThatRan(coverage, dir) {
  const reports = readdirSync(coverage).map((name) => JSON.parse(readFileSync(join(coverage, name), 'utf8')));
  const programs = reports
    .flatMap(({ result }) => result)
    .filter(({ url }) => url.startsWith(pathToFileURL(dir).href));
  const ran = programs.flatMap(({ url, functions }) => {
    const text = readFileSync(fileURLToPath(url), 'utf8');
    const named = [...text.matchAll(/^\/\/ (\S+\.\w+)$/gm)].reverse();
    return functions
      .map(({ ranges: [{ startOffset: start, count }] }) => ({ start, count }))
      .filter(({ start, count }) => count > 0 && start > 0 && !isLoading(text, start))
      .map(({ start }) => named.find(({ index }) => index <= start)?.[1] ?? '');
  });
  return [...new Set(ran)].filter((source) => source.startsWith('src/')).sort();
}

/** Whether a function is only rolldown's wrapper around a source, which runs when an `import()` loads the source. */
const isLoading = (text, start) => /__esmMin\(+(?:async )?$/.test(text.slice(Math.max(0, start - 20), start));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { route, sources, most } of await routes()) {
    console.log(`${String(sources.length).padStart(4)} of at most ${most}: ${route}`);
    if (process.argv.includes('--list')) console.log(sources.map((source) => `     ${source}`).join('\n'));
    if (sources.length > most) process.exitCode = 1;
  }
}
