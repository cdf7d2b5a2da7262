// `npm test` and `npm run test:all`: builds, runs the tiers that package.json names, and states the duration in starts of
// bare Node, so that runs on slow or busy machines can be compared. Arguments after `--` go to vitest.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const ROUNDS = 15;

/** The median time, in milliseconds, that Node needs to start and do nothing. */
function bareNode() {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return performance.now() - start;
  });
  return times.sort((one, other) => one - other)[ROUNDS >> 1] ?? 0;
}

const run = (script, ...args) =>
  spawnSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: 'inherit' }).status ?? 1;

const before = bareNode();
const start = performance.now();
const built = run('scripts/build.mjs');
const status = built || run('node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2));
const time = performance.now() - start;
const each = (before + bareNode()) / 2;
const [seconds, starts] = [time / 1000, time / each].map((figure) => Math.round(figure).toLocaleString('en'));
console.log(`took ${seconds} s, as long as ${starts} starts of bare Node (${each.toFixed(0)} ms each)`);
process.exitCode = status;
