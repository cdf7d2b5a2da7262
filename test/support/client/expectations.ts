import { expect } from 'vitest';
import { shortId } from '../../../src/domain/names.ts';
import type { ClaudeRun } from './claude.ts';

/** The eight characters of an id that messages show. */
export const short = shortId;

/**
 * Expects what holds for every run: the client ended well, and no gate or placeholder of its script failed. No hook
 * failed or wrote to stderr, so nobody notices the guard.
 */
export function expectHealthy(run: ClaudeRun): void {
  expect(run.conversation.problems).toEqual([]);
  expect(run.status, run.stderr).toBe(0);
  expect(run.session).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  expect(run.hooks.filter(({ status, stderr }) => status !== 0 || stderr !== '')).toEqual([]);
}
