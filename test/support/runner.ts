import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type RunnerTestCase, type RunnerTestSuite, TestRunner } from 'vitest';

/** No test begins after it: seconds since 1970. `.ci/run` sets it, for its own run is ended after a time. */
const END = Number(process.env['GIT_HANDOFF_TESTS_END'] ?? Infinity);

const isOver = () => Date.now() / 1000 > END;

interface OnMac {
  readonly linuxOnly: Readonly<Record<string, readonly string[]>>;
}

/** Titles of tests that hold on Linux only, also where a Mac is imitated (scripts/test-mac.mjs). */
const LINUX_ONLY = new Set(
  process.platform === 'darwin' || process.env['GIT_HANDOFF_TEST_MAC'] !== undefined
    ? Object.values(
        (JSON.parse(readFileSync(new URL('../mac/tests.json', import.meta.url), 'utf8')) as OnMac).linuxOnly,
      ).flat()
    : [],
);

/** Vitest's runner with an end: what is left then, hooks and all, is skipped, which vitest's report shows. */
export default class Runner extends TestRunner {
  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    if (isOver()) suite.mode = 'skip';
    await super.onBeforeRunSuite(suite);
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    if (isOver() || LINUX_ONLY.has(`${basename(test.file.name)}: ${test.name}`)) test.mode = 'skip';
    await super.onBeforeRunTask(test);
  }
}
