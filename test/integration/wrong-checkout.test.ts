import { describe, expect, it } from 'vitest';
import { A, B, SharingWorld, told } from '../support/sharing-world.ts';
import { join } from 'node:path';

describe('a session writes into another checkout than its own', () => {
  it('the change is put down where the file is, not where the session runs', () => {
    const world = new SharingWorld();
    const own = world.worktree('a');
    world.begin(A, own);
    world.begin(B);
    const answer = world.write(
      A,
      join('..', own.slice(own.lastIndexOf('/') + 1), '..', mainName(world), 'src/a.ts'),
      "A's\n",
      own,
    );
    expect(told(answer)).toContain('another working tree');
    const { stdout } = world.handoff(['status', '--json']);
    const { items } = JSON.parse(stdout) as { items: { path: string; owner: string }[] };
    expect(items.map(({ path, owner }) => [path, owner])).toEqual([['src/a.ts', A]]);
    expect(world.handoff(['status', '--json'], { cwd: own }).stdout).not.toContain('src/a.ts');
    // Said once: it may well be meant.
    expect(told(world.write(A, join('..', mainName(world), 'src/b.ts'), "A's\n", own))).toBe('');
  });

  it('a file of its own, or outside of the repository, is nothing to speak of', () => {
    const world = new SharingWorld();
    const own = world.worktree('a');
    world.begin(A, own);
    world.begin(B);
    expect(told(world.write(A, 'src/a.ts', 'x\n', own))).toBe('');
    expect(told(world.write(A, '../outside.txt', 'x\n', own))).toBe('');
  });
});

const mainName = (world: SharingWorld) => world.path.slice(world.path.lastIndexOf('/') + 1);
