import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/** The long fault run has tests that take hours. */
const isLong = process.env['GIT_HANDOFF_FAULTS'] === 'long';

/** The time limit, in milliseconds, of a test that waits only for the machine. */
const PATIENCE_MS = 300_000;

type Options = NonNullable<TestProjectInlineConfiguration['test']>;

/** A tier: the tests in the folder of that name. */
const tier = (name: string, options: Options = {}): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...options },
});

/** Most tests run the program in a thread. Tests that are about processes ask for a process. */
const inThread: Options = { provide: { calls: 'thread' }, globalSetup: ['test/support/templates-setup.ts'] };

/** Test tiers: each is a vitest project, so that `npm test` and CI can pick (see CONTRIBUTING.md). */
export default defineConfig({
  test: {
    // At least two: a single worker, vitest's choice on two cores, would mostly wait for processes.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // No test changes what tests of other files see, and a process for each file would take longer than most files.
    isolate: false,
    runner: 'test/support/runner.ts',
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    projects: [
      tier('unit'),
      tier('program', inThread),
      tier('sh'),
      tier('integration', inThread),
      tier('e2e', inThread),
      tier('browser', { fileParallelism: false }),
      tier('faults', {
        testTimeout: isLong ? 12 * 3_600_000 : 900_000,
        hookTimeout: isLong ? 900_000 : PATIENCE_MS,
        fileParallelism: false,
      }),
      tier('load', { testTimeout: 3_600_000, fileParallelism: false }),
      // Before this limit, test/support/client/program.ts ends a client that hangs.
      tier('clients', { testTimeout: 900_000, fileParallelism: false }),
      // Only scripts/client-news.mjs runs this.
      tier('client-news', { testTimeout: 900_000 }),
    ],
  },
});
