import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrailerWorld, mine, other } from '../support/trailer-world.ts';

let world: TrailerWorld;
beforeEach(() => {
  world = new TrailerWorld();
  world.file('base', 'base\n');
  world.git(['branch', 'side']);
  world.file('theirs', 'theirs\n', other);
  world.file('nobody', 'nobody\n');
  world.git(['checkout', '-q', 'side']);
  world.file('side', 'side\n');
  world.git(['checkout', '-q', 'main']);
  world.enable(process.pid);
});
afterEach(() => world.remove());

const both = (): string[][] => [world.ids('HEAD~'), world.ids('HEAD')];

describe('replayed commits', () => {
  it('keep the ids they have in a rebase', () => {
    world.git(['rebase', '-q', 'side']);
    expect(both()).toEqual([[other], []]);
    world.git(['rebase', '-q', '--force-rebase', '--apply', 'side~']);
    expect(world.ids('HEAD~')).toEqual([other]);
    expect(world.ids()).toEqual([]);
  });

  it('keep them in a rebase that squashes, rewords and stops', () => {
    const pick = world.editor('case $1 in *todo) sed -i.x 2s/pick/squash/ "$1" ;; esac');
    world.git(['rebase', '-q', '-i', 'HEAD~2'], pick);
    expect(world.message()).toContain(other);
    expect(world.message()).not.toContain(mine);
    const reword = world.editor(
      'case $1 in *todo) sed -i.x s/pick/reword/ "$1" ;; *) sed -i.x 1s/^/x/ "$1" ;; esac',
    );
    world.git(['rebase', '-q', '-i', '--force-rebase', 'HEAD~'], reword);
    expect(world.message()).toMatch(/^x/);
    expect(world.message()).not.toContain(mine);
  });

  it('keep them in a cherry-pick, with and without a conflict', () => {
    world.git(['checkout', '-q', 'side']);
    world.git(['cherry-pick', 'main~', 'main']);
    expect(both()).toEqual([[other], []]);
    world.git(['checkout', '-q', '-b', 'conflict', 'side~2']);
    writeFileSync(join(world.root, 'theirs'), 'mine\n');
    world.git(['add', 'theirs']);
    world.commit('mine');
    expect(world.try(['cherry-pick', 'main~']).status).not.toBe(0);
    world.git(['checkout', '-q', '--theirs', 'theirs']);
    world.git(['add', 'theirs']);
    world.git(['cherry-pick', '--continue'], { GIT_EDITOR: 'true' });
    expect(both()).toEqual([[mine], [other]]);
    world.git(['checkout', '-q', 'side~2']);
    world.git(['cherry-pick', '--no-commit', 'main~']);
    world.git(['commit', '-q', '--no-edit']);
    expect(world.ids()).toEqual([other]);
  });

  it('get none if they had none, when picked or edited during a rebase', () => {
    world.git(['checkout', '-q', 'side']);
    world.git(['cherry-pick', 'main']);
    expect(world.ids()).toEqual([]);
    const edit = world.editor('sed -i.x 1s/pick/edit/ "$1"');
    world.git(['rebase', '-q', '-i', '--force-rebase', 'HEAD~'], edit);
    world.git(['commit', '-q', '--amend', '-m', 'edited']);
    world.git(['rebase', '--continue']);
    expect(world.message()).toBe('edited');
  });

  it('get none in a revert', () => {
    world.git(['revert', '--no-edit', 'HEAD~']);
    world.git(['revert', 'HEAD'], { GIT_EDITOR: 'true' });
    expect(both()).toEqual([[], []]);
  });
});

describe('merges', () => {
  it('are the session’s own', () => {
    world.git(['merge', '-q', '--no-edit', 'side']);
    expect(world.ids()).toEqual([mine]);
  });

  it('name only the session that squashes', () => {
    world.git(['checkout', '-q', 'side']);
    world.git(['merge', '-q', '--squash', 'main']);
    world.git(['commit', '-q', '--no-edit']);
    expect(world.ids()).toEqual([mine]);
  });

  it('are concluded after a conflict', () => {
    world.git(['checkout', '-q', 'side']);
    world.file('theirs', 'ours\n');
    expect(world.try(['merge', '-q', 'main']).status).not.toBe(0);
    world.git(['checkout', '-q', '--ours', 'theirs']);
    world.git(['add', 'theirs']);
    world.git(['commit', '-q', '--no-edit']);
    expect(world.ids()).toEqual([mine]);
  });
});
