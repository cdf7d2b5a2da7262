import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { takeLock } from '../../src/host/processes.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'git-handoff-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a lock is given back by a process that ends with it, and nothing is left of it', async () => {
  const lock = join(folder, 'arrival.lock');
  const before = process.listeners('exit');
  const held = await takeLock(lock, 'sess-one', 0);
  expect(held.kind).toBe('held');
  expect(await takeLock(lock, 'sess-two', 0)).toEqual({ kind: 'busy', by: 'sess-one' });

  const atExit = process.listeners('exit').filter((one) => !before.includes(one));
  for (const one of atExit) one.call(process, 0);
  expect(existsSync(lock)).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
  if (held.kind === 'held') held.release();
  expect(process.listeners('exit')).toEqual(before);
});
