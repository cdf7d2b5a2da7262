// node scripts/test-titles.mjs <commit> [--lost]: where each test of an older commit is now. Prints a line for each of its
// titles, `<file then> TAB <title> TAB <file now>`, and ends with 1 when one is gone. `--lost` prints those alone.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: options, positionals } = parseArgs({
  options: { lost: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [commit] = positionals;
if (commit === undefined) {
  console.error('usage: node scripts/test-titles.mjs <commit> [--lost]');
  process.exit(2);
}

const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'test-titles-'));
const run = (program, args, cwd) => {
  const { status, error } = spawnSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  if (error !== undefined || status !== 0) throw error ?? new Error(`${program} ${args[0]}: ${status}`);
};

/** Titles whose words have changed since 0.1.0: the old words, and the new. */
const REWORDED = [
  [/ stands in its file once, and changes it$/, ' has one place in its file, and changes it'],
  [/'[^']+' names tests that are there$/, 'names tests that are there'],
  // Findings had numbers.
  [/\bF\d+: | \(F\d+\)/, ''],
  ['loads the bash parser and nothing else, and', 'loads the bash parser and no other library, and'],
];

/** A title as it is compared: without what a table fills in that may change, as a folder, a line or a seed. */
function plain(title) {
  const worded = REWORDED.reduce((text, [was, is]) => text.replace(was, is), title);
  return (
    worded
      // One expression may be in several files, and a test names one of them.
      .replace(/(takes linear time: )[\w/-]+\.ts /, '$1')
      // A long word of a table is cut.
      .replace(/\.te…/g, '.test.ts')
      .replace(/(?:[\w-]+\/)+(?=[\w-]+\.te?s)/g, '')
      .replace(/\bline \d+|\bseed \d+|-?\b\d{9,}\b/g, '<number>')
      .replace(/\d+(?= histories)/, '<number>')
  );
}

/** Every test of a checkout: its file and its full title. */
function testsOf(folder, name) {
  run(process.execPath, [join(folder, 'scripts', 'build.mjs'), '--if-stale'], folder);
  const list = join(scratch, `${name}.json`);
  run(process.execPath, [join(folder, 'node_modules/vitest/vitest.mjs'), 'list', `--json=${list}`], folder);
  const tests = JSON.parse(readFileSync(list, 'utf8'));
  return tests.map(({ name: title, file }) => ({ title, file: relative(realpathSync(folder), file) }));
}

try {
  const old = join(scratch, 'old');
  run('git', ['clone', '-q', '--shared', '--no-checkout', '--', root, old], root);
  run('git', ['checkout', '-q', '--detach', commit], old);
  symlinkSync(realpathSync(join(root, 'node_modules')), join(old, 'node_modules'));
  const now = new Map(testsOf(root, 'now').map(({ title, file }) => [plain(title), file]));
  let lost = 0;
  const before = testsOf(old, 'then');
  for (const { title, file } of before) {
    const place = now.get(plain(title));
    if (place === undefined) lost += 1;
    if (place === undefined || !options.lost) console.log([file, title, place ?? 'GONE'].join('\t'));
  }
  console.error(`${before.length} tests of ${commit}, ${lost} of them gone`);
  process.exitCode = lost === 0 ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
