import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, lines, refusal } from '../support/sharing-world.ts';

let world: SharingWorld;
let copy: string;
beforeEach(() => {
  world = new SharingWorld();
  copy = join(world.root, 'copy');
  world.begin(A);
  world.write(A, 'src/a.ts', lines({ 2: 'of A' }));
});
afterEach(() => world.remove());

const sessionsIn = (cwd: string, ...words: string[]) =>
  world
    .json(['sessions', ...words], { cwd })
    .items.map(({ session, liveness }) => `${String(session)} ${String(liveness)}`)
    .sort();

/** Copies like `cp -a`, the common way to give an agent a tree of its own. */
function copyClone(): void {
  cpSync(world.path, copy, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
}

/** Backdates a session's registration, because its calls do not look for other sessions in the first minute. */
function isLongAgo(journal: string): void {
  writeFileSync(journal, readFileSync(journal, 'utf8').replace(/("t":"registered".*"at":)\d+/g, '$11000'));
}

describe('a clone that was copied while a session worked in it', () => {
  beforeEach(() => copyClone());

  it('has no session of the other clone, so the copied changes are free', () => {
    expect(sessionsIn(copy)).toEqual([]);
    expect(sessionsIn(copy, '--all')).toEqual([`${A} ended`]);
    world.begin(B, copy);
    expect(world.edit(B, 'src/a.ts', 'line 3', 'of B', copy)).toEqual({ kind: 'silent' });
    expect(world.as(B, ['commit', '-qam', 'all of the copy'], { cwd: copy })).toMatchObject({ status: 0 });
    expect(sessionsIn(copy)).toEqual([`${B} live`]);
    expect(world.refs('refs/handoffs/')).toEqual([]);
  });

  it('leaves the session live in the first clone, and its files protected', () => {
    world.begin(B, copy);
    expect(sessionsIn(world.path)).toEqual([`${A} live`]);
    world.begin(B);
    expect(refusal(world.edit(B, 'src/a.ts', 'line 3', 'of B'))).toContain('claude aaaaaaaa');
  });

  it('has the session once it works in the copy, too', () => {
    isLongAgo(join(copy, '.git', 'handoff', 'sessions', `${A}.jsonl`));
    world.write(A, 'src/b.ts', lines({ 2: 'of A' }), copy);
    world.begin(B, copy);
    expect(sessionsIn(copy)).toEqual([`${A} live`, `${B} live`]);
    expect(refusal(world.edit(B, 'src/b.ts', 'line 3', 'of B', copy))).toContain('claude aaaaaaaa');
  });

  it('has the session if the first clone is gone, since that means a move', () => {
    rmSync(world.path, { recursive: true });
    expect(sessionsIn(copy)).toEqual([`${A} live`]);
  });
});

it('a clone that was moved keeps its sessions and hooks, and can be uninstalled', () => {
  renameSync(world.path, copy);
  expect(sessionsIn(copy)).toEqual([`${A} live`]);
  world.begin(B, copy);
  expect(refusal(world.edit(B, 'src/a.ts', 'line 3', 'of B', copy))).toContain('claude aaaaaaaa');
  expect(world.as(B, ['commit', '-qam', 'mixed'], { cwd: copy })).toMatchObject({ status: 1 });
  const checks = world.json(['doctor'], { cwd: copy }).items.filter(({ status }) => status !== 'ok');
  expect(checks).toEqual([]);
  world.ok(['uninstall', '--yes'], { cwd: copy });
  expect(world.as(B, ['commit', '-qam', 'unguarded'], { cwd: copy })).toMatchObject({ status: 0 });
  expect(world.run('git', ['config', '--get-regexp', 'handoff'], { cwd: copy }).stdout).toBe('');
});
