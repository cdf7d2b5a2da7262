import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isHung } from '../../src/domain/hang.ts';
import { forgetHung, noteHung, shortUntil } from '../../src/host/breaker.ts';

describe('a git that did not answer', () => {
  it.each([
    ['slept', { waitedMs: 8000, activeMs: 10, hasRead: false }, true],
    ['spun', { waitedMs: 8000, activeMs: 7900, hasRead: false }, false],
    ['was starved: it stood in the queue', { waitedMs: 8000, activeMs: 6000, hasRead: false }, false],
    ['waited for a slow disk', { waitedMs: 8000, activeMs: 10, hasRead: true }, false],
    ['was active for a tenth of the time', { waitedMs: 1000, activeMs: 100, hasRead: false }, false],
  ])('%s', (_, use, hung) => {
    expect(isHung(use)).toBe(hung);
  });
});

describe('a worktree where git hangs', () => {
  let state: string;
  beforeEach(() => {
    state = mkdtempSync(join(tmpdir(), 'git-notes-test-'));
  });
  afterEach(() => rmSync(state, { recursive: true }));

  it('gets less time after the second time running, for five minutes', () => {
    noteHung(state, '/a/b', 1000_000);
    expect(shortUntil(state, '/a/b', 1000_000)).toBeUndefined();
    noteHung(state, '/a/b', 1000_000);
    expect(shortUntil(state, '/a/b', 1000_000)).toBe(1300_000);
    expect(shortUntil(state, '/a/b', 1300_000)).toBeUndefined();
    expect(shortUntil(state, '/a/c', 1000_000)).toBeUndefined();
  });

  it('gets all of it when git answered in between', () => {
    noteHung(state, '/a/b', 1000_000);
    forgetHung(state, '/a/b');
    noteHung(state, '/a/b', 1000_000);
    expect(shortUntil(state, '/a/b', 1000_000)).toBeUndefined();
  });
});
