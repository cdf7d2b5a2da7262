/**
 * Counts one run of vitest for `.ci/run`: `ci-count-tests.mjs <report.json> <exit status> <what>` prints
 * `<passed> <failed> <skipped> <what>` on stdout. On stderr it lists the failed tests with the beginning of their messages,
 * so that they are at the end of a long log. The report is vitest's JSON report.
 */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Lines shown of each message: enough for the expected and the actual value. */
const MESSAGE_LINES = 12;

const [report = '', status = '1', what = 'tests'] = process.argv.slice(2);
const { passed, failed, skipped } = count(report);
const executed = passed + failed;
const isLate = Date.now() / 1000 > Number(process.env.GIT_HANDOFF_TESTS_END ?? Infinity);
// A broken test file, an unhandled error or an empty run has no failed test of its own, but it is a failure.
const unseen = failed === 0 && (status !== '0' || (executed === 0 && !isLate)) ? 1 : 0;
console.log(`${passed} ${failed + unseen} ${skipped} ${what}`);

function count(file) {
  if (!existsSync(file)) return { passed: 0, failed: 0, skipped: 0 };
  const run = JSON.parse(readFileSync(file, 'utf8'));
  run.testResults.forEach(tellFailures);
  const broken = run.testResults.filter(
    ({ status: outcome, assertionResults }) => outcome === 'failed' && assertionResults.length === 0,
  );
  return {
    passed: run.numPassedTests,
    failed: run.numFailedTests + broken.length,
    // The report's own figures do not include tests for which no time was left.
    skipped: run.numTotalTests - run.numPassedTests - run.numFailedTests,
  };
}

function tellFailures({ name, status: outcome, message, assertionResults }) {
  const file = relative(process.cwd(), name);
  if (outcome === 'failed' && assertionResults.length === 0) tell(file, [message]);
  for (const test of assertionResults) {
    if (test.status === 'failed') tell(`${file} > ${test.fullName}`, test.failureMessages);
  }
}

function tell(which, messages) {
  const lines = messages.join('\n').split('\n').slice(0, MESSAGE_LINES);
  console.error([`FAILED ${which}`, ...lines.map((line) => `    ${line}`)].join('\n'));
}
