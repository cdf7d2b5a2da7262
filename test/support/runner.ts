import { type RunnerTestCase, type RunnerTestSuite, TestRunner } from 'vitest';

/** No test begins after it: seconds since 1970. `.ci/run` sets it, for its own run is ended after a time. */
const END = Number(process.env['GIT_HANDOFF_TESTS_END'] ?? Infinity);

const isOver = () => Date.now() / 1000 > END;

/** Vitest's runner with an end: what is left then, hooks and all, is skipped, which vitest's report shows. */
export default class Runner extends TestRunner {
  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    if (isOver()) suite.mode = 'skip';
    await super.onBeforeRunSuite(suite);
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    if (isOver()) test.mode = 'skip';
    await super.onBeforeRunTask(test);
  }
}
