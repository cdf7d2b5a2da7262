import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { noteHung } from '../../src/host/breaker.ts';
import { TestRepository } from '../support/repository.ts';

let repo: TestRepository;
beforeEach(() => {
  repo = new TestRepository();
  repo.ok(['init', '--yes']);
});
afterEach(() => repo.remove());

const found = (...words: string[]) =>
  repo.json(['doctor', ...words]).items.filter(({ check }) => check === 'hangs');

it('doctor tells of a worktree where git hung twice, until when it is waited for less, and ends that', () => {
  const state = join(repo.home, '.local', 'state', 'git-handoff');
  const linked = repo.worktree('second', 'a second one');
  const now = Date.now();
  noteHung(state, linked, now);
  expect(found()).toEqual([]);
  noteHung(state, linked, now);
  const [told, ...others] = found();
  expect(others).toEqual([]);
  expect(told).toMatchObject({ status: 'problem', hint: `git -C '${linked}' status` });
  expect(told?.['detail']).toContain(`git hung at two calls running in ${linked}: until `);
  expect(repo.run('sh', ['-c', String(told?.['hint'])])).toMatchObject({ status: 0 });
  expect(found('--fix')).toMatchObject([{ status: 'fixed' }]);
  expect(found()).toEqual([]);
  expect(existsSync(join(state, 'hung', linked.replaceAll('/', '%')))).toBe(false);
});
