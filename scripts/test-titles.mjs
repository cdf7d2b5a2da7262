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
  /** Files by title; a title that comes twice must be there twice. */
  const now = new Map();
  for (const { title, file } of testsOf(root, 'now')) now.set(title, [...(now.get(title) ?? []), file]);
  let lost = 0;
  const before = testsOf(old, 'then');
  for (const { title, file } of before) {
    const place = now.get(title)?.shift();
    if (place === undefined) lost += 1;
    if (place === undefined || !options.lost) console.log([file, title, place ?? 'GONE'].join('\t'));
  }
  console.error(`${before.length} tests of ${commit}, ${lost} of them gone`);
  process.exitCode = lost === 0 ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
