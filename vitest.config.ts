import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** The long fault run has tests of hours. */
const isLong = process.env['GIT_HANDOFF_FAULTS'] === 'long';

/** What a test gets that waits for nothing but the machine. Milliseconds. */
const PATIENCE_MS = 300_000;

/** Most are about what the program does, and call it in a thread: those whose point is a process say so. */
const inThread = {
  provide: { calls: 'thread' as const },
  globalSetup: ['test/support/templates-setup.ts'],
  testTimeout: PATIENCE_MS,
  hookTimeout: PATIENCE_MS,
};

/** Test tiers: each is a vitest project, so that `npm test` and CI can pick (see CONTRIBUTING.md). */
export default defineConfig({
  test: {
    // One worker, which vitest would take on two cores, mostly waits for processes.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // No test changes what another file's can see; a process for each file takes longer than most files.
    isolate: false,
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: PATIENCE_MS } },
      { test: { name: 'program', include: ['test/program/**/*.test.ts'], ...inThread } },
      {
        test: {
          name: 'sh',
          include: ['test/sh/**/*.test.ts'],
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
        },
      },
      { test: { name: 'integration', include: ['test/integration/**/*.test.ts'], ...inThread } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], ...inThread } },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          testTimeout: isLong ? 12 * 3_600_000 : 900_000,
          hookTimeout: isLong ? 900_000 : PATIENCE_MS,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'load',
          include: ['test/load/**/*.test.ts'],
          testTimeout: 3_600_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          // A client that hangs is ended before (test/support/client/program.ts).
          testTimeout: 900_000,
          hookTimeout: PATIENCE_MS,
          fileParallelism: false,
        },
      },
      {
        // Started by scripts/client-news.mjs alone.
        test: { name: 'client-news', include: ['test/client-news/**/*.test.ts'], testTimeout: 900_000 },
      },
    ],
  },
});
