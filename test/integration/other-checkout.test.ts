import { describe, expect, it } from 'vitest';
import { A, B, SharingWorld } from '../support/sharing-world.ts';
import { join } from 'node:path';

describe('a session that writes into a checkout other than its own', () => {
  it('has the change recorded where the file is, not where the session runs', () => {
    const world = new SharingWorld();
    const own = world.worktree('a');
    world.begin(A, own);
    world.begin(B);
    world.write(
      A,
      join('..', own.slice(own.lastIndexOf('/') + 1), '..', mainName(world), 'src/a.ts'),
      "A's\n",
      own,
    );
    const { stdout } = world.handoff(['status', '--json']);
    const { items } = JSON.parse(stdout) as { items: { path: string; owner: string }[] };
    expect(items.map(({ path, owner }) => [path, owner])).toEqual([['src/a.ts', A]]);
    expect(world.handoff(['status', '--json'], { cwd: own }).stdout).not.toContain('src/a.ts');
  });
});

const mainName = (world: SharingWorld) => world.path.slice(world.path.lastIndexOf('/') + 1);
