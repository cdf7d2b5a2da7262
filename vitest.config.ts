import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/** The long fault run has tests of hours. */
const isLong = process.env['GIT_HANDOFF_FAULTS'] === 'long';

/** What a test gets that waits for nothing but the machine. Milliseconds. */
const PATIENCE_MS = 300_000;

type Options = NonNullable<TestProjectInlineConfiguration['test']>;

/** A tier: the tests of a folder of that name. */
const tier = (name: string, options: Options = {}): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...options },
});

/** Most are about what the program does, and call it in a thread: those whose point is a process say so. */
const inThread: Options = { provide: { calls: 'thread' }, globalSetup: ['test/support/templates-setup.ts'] };

/** Test tiers: each is a vitest project, so that `npm test` and CI can pick (see CONTRIBUTING.md). */
export default defineConfig({
  test: {
    // One worker, which vitest would take on two cores, mostly waits for processes.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // No test changes what another file's can see; a process for each file takes longer than most files.
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
      // A client that hangs is ended before (test/support/client/program.ts).
      tier('clients', { testTimeout: 900_000, fileParallelism: false }),
      // Started by scripts/client-news.mjs alone.
      tier('client-news', { testTimeout: 900_000 }),
    ],
  },
});
