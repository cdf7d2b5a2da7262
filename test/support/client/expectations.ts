import { expect } from 'vitest';
import { shortId } from '../../../src/domain/names.ts';
import type { ClaudeRun } from './claude.ts';

/** The eight characters of an id that messages show. */
export const short = shortId;

/**
 * What holds for every run, whatever it is about: the client ended well, its script was played without a
 * gate or placeholder failing, and no hook ever failed or wrote to stderr (a guard must not be noticed).
 */
export function expectHealthy(run: ClaudeRun): void {
  expect(run.conversation.problems).toEqual([]);
  expect(run.status, run.stderr).toBe(0);
  expect(run.session).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  expect(run.hooks.filter(({ status, stderr }) => status !== 0 || stderr !== '')).toEqual([]);
}
