import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type RunnerTestCase, type RunnerTestSuite, TestRunner } from 'vitest';

/** No test begins after this time, in seconds since 1970. `.ci/run` sets it, because its own time is limited. */
const END = Number(process.env['GIT_HANDOFF_TESTS_END'] ?? Infinity);

const isOver = () => Date.now() / 1000 > END;

interface OnMac {
  readonly linuxOnly: Readonly<Record<string, readonly string[]>>;
}

/** Tests to skip on a Mac, real or imitated (scripts/test-mac.mjs), because they hold only on Linux. */
const LINUX_ONLY = new Set(
  process.platform === 'darwin' || process.env['GIT_HANDOFF_TEST_MAC'] !== undefined
    ? Object.values(
        (JSON.parse(readFileSync(new URL('../mac/tests.json', import.meta.url), 'utf8')) as OnMac).linuxOnly,
      ).flat()
    : [],
);

/** Vitest's runner, with an end: it skips all tests and hooks that are left then, and vitest reports them as skipped. */
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
