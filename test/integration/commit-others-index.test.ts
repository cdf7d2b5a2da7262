import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

const changed = () => world.git(['show', '--name-status', '--format=', 'HEAD']).split('\n');

describe('git handoff commit, when another session has taken files out of the index', () => {
  it('commits its own change, not the removal', () => {
    world.write(A, 'src/a.ts', 'mine\n');
    expect(world.bash(B, 'git rm -rq --cached src').run).toMatchObject({ status: 0 });
    const { run } = world.bash(A, 'git handoff commit -m a -- src/a.ts');
    expect({ ...run, changed: run?.status === 0 ? changed() : [] }).toMatchObject({
      status: 0,
      changed: ['M\tsrc/a.ts'],
    });
    expect(world.git(['show', 'HEAD:src/a.ts'])).toBe('mine');
  });

  it('leaves a removal that is not its own alone', () => {
    world.write(A, 'src/a.ts', 'mine\n');
    world.bash(B, 'git rm -q --cached shared.md');
    expect(world.bash(A, 'git handoff commit -m a').run).toMatchObject({ status: 0 });
    expect(changed()).toEqual(['M\tsrc/a.ts']);
  });

  it('commits a removal of its own', () => {
    world.bash(A, 'git rm -q --cached shared.md');
    const { run } = world.bash(A, 'git handoff commit -m a');
    expect(run).toMatchObject({ status: 0 });
    expect(changed()).toEqual(['D\tshared.md']);
    expect(world.read('shared.md')).toContain('line 1');
  });
});

describe('git handoff commit, while another session’s rebase or revert is unfinished', () => {
  it.each([
    [
      'rebase',
      'git switch -qc f HEAD~1 && echo f > shared.md && git add -A && git commit -qm f && git rebase main',
    ],
    ['revert', 'git revert --no-edit HEAD~1'],
  ])('%s: refuses, and nothing is touched', (_, command) => {
    world.commit('two', { 'shared.md': 'two\n' });
    world.commit('three', { 'shared.md': 'three\n' });
    world.bash(A, command);
    expect(world.git(['ls-files', '-u'])).toContain('shared.md');
    world.write(B, 'src/b.ts', 'mine\n');
    const head = world.git(['rev-parse', 'HEAD']);
    const { run } = world.bash(B, 'git handoff commit -m b');
    expect(run?.status).not.toBe(0);
    expect(run?.stderr).toMatch(/^error: /);
    expect(world.git(['rev-parse', 'HEAD'])).toBe(head);
    expect(world.git(['ls-files', '-u'])).toContain('shared.md');
  });
});

describe('in a repository with SHA-256 names', () => {
  it('deletions are staged and committed', () => {
    const other = new SharingWorld({ objectFormat: 'sha256' });
    try {
      other.begin(A);
      other.begin(B);
      other.bash(A, 'rm src/a.ts');
      expect(other.bash(A, 'git handoff stage --mine').run).toMatchObject({ status: 0 });
      expect(other.status()).toEqual(['D  src/a.ts']);
      other.bash(A, 'git rm -q --cached shared.md');
      expect(other.bash(A, 'git handoff commit -m gone').run).toMatchObject({ status: 0 });
      expect(other.git(['show', '--name-status', '--format=', 'HEAD']).split('\n')).toEqual([
        'D\tshared.md',
        'D\tsrc/a.ts',
      ]);
    } finally {
      other.remove();
    }
  });
});
