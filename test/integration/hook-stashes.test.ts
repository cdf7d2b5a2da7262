import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startGroup } from '../support/faults/process-group.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

/** What lint-staged and pre-commit do: everything unstaged is put aside while the checks run. */
const STASHING_HOOK =
  '#!/bin/sh\ngit stash push -q --keep-index --include-untracked\ntouch .git/paused\nsleep 30\ngit stash pop -q\n';

describe('a hook that stashes the whole tree', () => {
  it('loses no work of others if it is killed in the middle of a commit', async () => {
    const world = new SharingWorld();
    const hook = join(world.path, '.git/hooks/pre-commit');
    world.ok(['uninstall', '--yes']);
    writeFileSync(hook, STASHING_HOOK);
    chmodSync(hook, 0o755);
    world.ok(['init', '--yes']);
    world.begin(A);
    world.begin(B);
    world.write(A, 'src/a.ts', 'WIP\n');
    world.write(A, 'src/new.ts', 'WIP, new\n');
    world.write(B, 'src/b.ts', 'done\n');
    world.git(['add', 'src/b.ts']);
    const command = 'git commit -qm b';
    expect(world.may(B, command).kind).toBe('silent');
    const commit = startGroup(world, 'sh', ['-c', command], { session: B, input: '' });
    const paused = join(world.path, '.git/paused');
    while (!existsSync(paused)) await new Promise((resolve) => setTimeout(resolve, 20));
    await commit.kill();
    expect(world.status().some((line) => line.includes('src/a.ts'))).toBe(false);
    const { stdout } = world.handoff(['rescue', 'show', 'aaaaaaaa']);
    expect(stdout).toContain('WIP\n');
    expect(stdout).toContain('WIP, new\n');
    expect(world.handoff(['rescue', 'restore', 'aaaaaaaa']).status).toBe(0);
    expect([world.read('src/a.ts'), world.read('src/new.ts')]).toEqual(['WIP\n', 'WIP, new\n']);
  });
});
