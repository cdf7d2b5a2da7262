import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processWords, takeLock } from '../../src/host/process-lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'git-handoff-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a process that ends while it holds a lock releases it, and leaves nothing behind', async () => {
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

describe('a lock whose holder cannot be looked at', () => {
  const lock = () => join(folder, 'commit.lock');
  /** What a process of another container or machine writes into its lock. */
  const elsewhere = () => processWords('commit', process.pid).replace(/\S+$/, 'another-boot');

  it('is respected as long as its holder shows signs of life', async () => {
    writeFileSync(lock(), elsewhere());
    expect(await takeLock(lock(), 'sess-one', 0)).toEqual({ kind: 'busy', by: 'commit' });
  });

  it.each([
    ['its words', elsewhere],
    ['nothing, as one that this user may not read', () => ''],
  ])('is taken when its holder has given none for five minutes: %s', async (_, words) => {
    writeFileSync(lock(), words());
    const before = new Date(Date.now() - 6 * 60_000);
    utimesSync(lock(), before, before);
    const taken = await takeLock(lock(), 'sess-one', 0);
    expect(taken.kind).toBe('held');
    if (taken.kind === 'held') taken.release();
  });
});
