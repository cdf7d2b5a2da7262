import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultWorld, KEPT, REF } from '../support/faults/fault-world.ts';

/** A lock that is this many seconds old counts as abandoned. */
const STALE = 601;
let world: FaultWorld;

beforeEach(() => {
  world = new FaultWorld();
  world.mustWrite('old\n');
});
afterEach(() => world.remove());

/** Leaves a lock as a killed git does, this many seconds old. */
function leaveLock(name: string, seconds: number): string {
  const lock = join(world.path, '.git', `${name}.lock`);
  mkdirSync(dirname(lock), { recursive: true });
  writeFileSync(lock, '');
  const then = Date.now() / 1000 - seconds;
  utimesSync(lock, then, then);
  return lock;
}

describe('a lock that somebody left', () => {
  it.each([REF, KEPT])('on %s is named, loses no text, and is removed by doctor', (ref) => {
    const lock = leaveLock(ref, STALE);
    const done = world.write('new\n');
    expect(done).toMatchObject({ status: 7, stdout: '' });
    expect(done.stderr).toContain(lock);
    expect(done.stderr).toMatch(/\nhint: git handoff doctor\n$/);
    expect(world.whereabouts('new\n', done.stderr)).toBe('lost');
    expect(world.handoff(['doctor']).stdout).toContain(`${ref}.lock`);
    world.handoff(['doctor', '--fix']);
    expect(existsSync(lock)).toBe(false);
    world.mustWrite('new\n');
    world.expectSound();
  });

  it('on packed-refs does not hinder a write, and is named by doctor', () => {
    world.git(['pack-refs', '--all']);
    const lock = leaveLock('packed-refs', STALE);
    world.mustWrite('new\n');
    expect(world.handoff(['doctor']).stdout).toContain('packed-refs.lock');
    world.handoff(['doctor', '--fix']);
    expect(existsSync(lock)).toBe(false);
  });

  it('on every ref that a write tries leaves the text in a file', () => {
    leaveLock(REF, 0);
    for (let number = 1; number <= 5; number++)
      leaveLock(`refs/handoffs-local/lost/main/auth-refresh/${number}`, 0);
    const done = world.write('new\n');
    expect(done.status).toBe(7);
    expect(world.whereabouts('new\n', done.stderr)).toBe('file');
  });

  it('of a writer that may still be at work stays', () => {
    const lock = leaveLock(REF, STALE - 10);
    world.handoff(['doctor', '--fix']);
    expect(existsSync(lock)).toBe(true);
  });
});
