// `npm run test:shells`: runs our sh scripts in every shell that may be somebody's /bin/sh: the tests of test/sh, and the
// demo, once in each installed shell. `GIT_HANDOFF_SHELLS` adds others by name or path, such as a bash 3.2.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findShell, listedShells } from './shells.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SHELLS = ['dash', 'bash', 'busybox', 'mksh', 'ksh93', 'yash', 'zsh'];

/** When this time is over, no further shell is tested. Tests that have begun are finished: they do not get the variable. */
const { GIT_HANDOFF_TESTS_END: end = Infinity, ...ownEnv } = process.env;

/** The output of failed runs, shown at the end, where people look for it. */
const complaints = [];

/** Runs one of our programs in a shell; returns whether it passed. */
function passes(env, ...words) {
  const done = spawnSync(process.execPath, words, {
    cwd: root,
    env: { ...ownEnv, ...env },
    encoding: 'utf8',
    maxBuffer: Infinity,
  });
  if (done.status !== 0) complaints.push(done.stdout + done.stderr);
  return done.status === 0;
}

const tally = { passed: 0, failed: 0, skipped: 0 };
for (const word of new Set([...SHELLS, ...listedShells()])) {
  const shell = findShell(word);
  const isLate = Date.now() / 1000 > end;
  if (shell === undefined || isLate) {
    console.log(`${word}: ${isLate ? 'no time left' : 'not installed'}, skipped`);
    tally.skipped += 1;
    continue;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'test-shells-'));
  const env = { GIT_HANDOFF_TEST_SHELL: shell.binary, TMPDIR: scratch };
  const runs = {
    'test/sh': () => passes(env, join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'sh'),
    demo: () => passes(env, join(root, 'scripts/demo.mjs')),
  };
  for (const [what, run] of Object.entries(runs)) {
    const passed = run();
    tally[passed ? 'passed' : 'failed'] += 1;
    console.log(`${shell.name}: ${what} ${passed ? 'passed' : 'FAILED'}`);
  }
  rmSync(scratch, { recursive: true, force: true });
}
for (const complaint of complaints) process.stdout.write(complaint);
console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
process.exitCode = tally.failed === 0 && (tally.passed > 0 || Date.now() / 1000 > end) ? 0 : 1;
