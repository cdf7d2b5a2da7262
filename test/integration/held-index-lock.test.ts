import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { A, B, SharingWorld, refusal } from '../support/sharing-world.ts';

describe('while somebody holds index.lock', () => {
  it('our hooks work, and neither touch nor mention it', () => {
    const world = new SharingWorld();
    const lock = join(world.path, '.git/index.lock');
    writeFileSync(lock, 'held');
    expect(world.begin(A).kind).not.toBe('deny');
    world.begin(B);
    expect(world.write(A, 'src/a.ts', 'WIP\n').kind).toBe('silent');
    expect(world.bash(B, 'echo x > own.txt').run?.status).toBe(0);
    expect(world.claimed(B)).toEqual(['own.txt']);
    expect(refusal(world.may(B, 'git reset --hard'))).toContain('src/a.ts');
    // Saving work before a destructive command does not need the index lock, either.
    expect(world.may(B, 'git clean -fd').kind).toBe('silent');
    expect(world.handoff(['rescue', 'show', '--raw', '--', 'own.txt']).stdout).toBe('x\n');
    for (const verb of [['status'], ['sessions'], ['check'], ['doctor'], ['list']])
      expect(world.handoff(verb).status, verb.join(' ')).toBeLessThan(2);
    world.end(A);
    expect(existsSync(lock) && readFileSync(lock, 'utf8')).toBe('held');
    expect(world.guardLog()).not.toMatch(/"kind":"(?:error|open|failed-open)"/);
  });

  it('git itself fails as it always does, and our hooks add nothing', () => {
    const world = new SharingWorld({ ready: [A, B] });
    world.write(B, 'own.txt', 'x\n');
    writeFileSync(join(world.path, '.git/index.lock'), '');
    const { run } = world.bash(B, 'git add own.txt && git commit -qm x');
    expect(run?.status).toBe(128);
    expect(run?.stderr).toContain('index.lock');
  });
});
