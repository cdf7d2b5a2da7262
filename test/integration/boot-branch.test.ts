import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BootWorld, WRITER } from '../support/boot-world.ts';

let world: BootWorld;
beforeEach(() => {
  world = new BootWorld();
  world.leave('login-flow');
});
afterEach(() => world.remove());

describe('where the branch of a note is', () => {
  it('checked out', () => {
    expect(world.boot()).toMatchObject({ stale: false, codes: ['branch-here', 'head-equal'] });
  });

  it('not checked out, but another branch', () => {
    world.git(['switch', '-q', 'main']);
    const found = world.boot('feature/login-flow');
    expect(found).toMatchObject({
      stale: false,
      codes: ['branch-elsewhere', 'head-equal', 'tree-elsewhere'],
    });
    expect(found.text('branch-elsewhere')).toBe('main is checked out, not feature');
  });

  it('in another worktree', () => {
    world.git(['switch', '-q', 'main']);
    const other = join(world.root, 'other');
    world.git(['worktree', 'add', '-q', other, 'feature']);
    expect(world.boot('feature/login-flow').text('branch-elsewhere')).toContain(other);
    // `tree-elsewhere`: the uncommitted paths that the note counted are in another working tree.
    expect(world.boot(undefined, { cwd: other }).codes).toEqual([
      'branch-here',
      'head-equal',
      'tree-elsewhere',
    ]);
    world.ok(['write', 'other-tree', '-m', 'x'], { cwd: other, session: WRITER });
    expect(world.boot('other-tree', { cwd: other }).codes).toEqual(['branch-here', 'head-equal']);
  });

  it('renamed, once and twice', () => {
    world.git(['branch', '-m', 'feature', 'feature/login']);
    expect(world.boot('feature/login-flow').codes).toEqual(['branch-renamed', 'head-equal']);
    world.git(['branch', '-m', 'feature/login', 'signin']);
    world.commit('three', { 'three.txt': '3\n' });
    const found = world.boot('feature/login-flow');
    expect(found).toMatchObject({ stale: false, codes: ['branch-renamed', 'head-ahead'] });
    expect(found.text('branch-renamed')).toBe('feature was renamed to signin, which is checked out');
  });

  it('renamed, and a new branch has its old name', () => {
    world.git(['branch', '-m', 'signin']);
    world.git(['switch', '-q', '-c', 'feature', 'main']);
    expect(world.boot('login-flow')).toMatchObject({ stale: true, codes: ['branch-here', 'head-behind'] });
  });

  it.each([
    ['by a merge commit', ['--no-ff']],
    ['by a fast-forward', ['--ff-only']],
  ])('merged %s', (_how, flags) => {
    world.git(['switch', '-q', 'main']);
    world.git(['merge', '-q', ...flags, '-m', 'm', 'feature']);
    const found = world.boot('feature/login-flow');
    expect(found.stale).toBe(true);
    expect(found.codes).toContain('branch-merged');
    expect(found.text('branch-merged')).toBe('feature is merged into main');
  });

  it('merged as one commit', () => {
    world.git(['switch', '-q', 'main']);
    world.git(['merge', '-q', '--squash', 'feature']);
    world.commit('feature', {});
    world.commit('later', { 'later.txt': 'x\n' });
    const found = world.boot('feature/login-flow');
    expect(found.stale).toBe(true);
    expect(found.text('branch-squashed')).toBe('main has the changes of feature as one commit');
  });

  it('merged at the remote only', () => {
    const server = join(world.root, 'server.git');
    world.git(['clone', '-q', '--bare', world.path, server]);
    world.git(['remote', 'add', 'origin', server]);
    world.git(['push', '-q', '-u', 'origin', 'main', 'feature']);
    const merge = world.git(['commit-tree', 'feature^{tree}', '-p', 'main', '-p', 'feature', '-m', 'm']);
    world.git(['push', '-q', 'origin', `${merge}:refs/heads/main`]);
    world.git(['fetch', '-q', 'origin']);
    world.git(['remote', 'set-head', 'origin', 'main']);
    expect(world.boot().codes).toContain('branch-merged');
  });

  it('fresh, which does not count as merged', () => {
    world.git(['switch', '-q', '-c', 'fresh', 'main']);
    world.leave('fresh-work');
    expect(world.boot()).toMatchObject({ stale: false, codes: ['branch-here', 'head-equal'] });
    world.git(['switch', '-q', 'main']);
    world.commit('later', { 'later.txt': 'x\n' });
    expect(world.boot('fresh/fresh-work').codes).toEqual([
      'branch-elsewhere',
      'head-equal',
      'tree-elsewhere',
    ]);
    world.git(['switch', '-q', 'fresh']);
    world.git(['merge', '-q', '--ff-only', 'main']);
    expect(world.boot()).toMatchObject({ stale: false, codes: ['branch-here', 'head-ahead'] });
  });

  it('deleted, its commits nowhere else', () => {
    world.git(['switch', '-q', 'main']);
    world.git(['branch', '-q', '-D', 'feature']);
    const found = world.boot('feature/login-flow');
    expect(found).toMatchObject({ stale: true, codes: ['branch-deleted', 'head-none', 'tree-elsewhere'] });
    expect(found.text('branch-deleted')).toBe('feature is deleted');
  });

  it('deleted after a merge', () => {
    world.git(['switch', '-q', 'main']);
    world.git(['merge', '-q', '--no-ff', '-m', 'm', 'feature']);
    world.git(['branch', '-q', '-D', 'feature']);
    expect(world.boot('feature/login-flow').codes).toContain('branch-deleted');
  });

  it('only at a remote', () => {
    const clone = join(world.root, 'clone');
    world.git(['clone', '-q', '-b', 'main', world.path, clone]);
    world.git(['fetch', '-q', 'origin', 'refs/handoffs/*:refs/handoffs/*'], { cwd: clone });
    const found = world.boot('feature/login-flow', { cwd: clone });
    expect(found).toMatchObject({ stale: false, codes: ['branch-remote', 'head-equal', 'tree-elsewhere'] });
    expect(found.text('branch-remote')).toContain('origin/feature');
  });

  it('unborn, and after the first commit', () => {
    world.git(['switch', '-q', '--orphan', 'empty']);
    world.leave('empty-start');
    expect(world.boot()).toMatchObject({ stale: false, codes: ['branch-unborn', 'head-unborn'] });
    world.commit('first', { 'x.txt': 'x\n' });
    expect(world.boot()).toMatchObject({ stale: false, codes: ['branch-here', 'head-first'] });
  });

  it('none: HEAD was and is detached', () => {
    world.git(['checkout', '-q', '--detach']);
    expect(world.boot('feature/login-flow').codes).toEqual([
      'branch-elsewhere',
      'head-equal',
      'tree-elsewhere',
    ]);
    world.leave('detached-work');
    expect(world.boot()).toMatchObject({ stale: false, codes: ['detached-still', 'head-equal'] });
    world.git(['switch', '-q', 'feature']);
    expect(world.boot('HEAD/detached-work').codes).toEqual(['detached-then', 'head-equal']);
  });

  it('being rebased', () => {
    world.git(['switch', '-q', 'main']);
    world.commit('clash', { 'one.txt': 'clash\n' });
    world.git(['switch', '-q', 'feature']);
    world.run('git', ['rebase', 'main']);
    const found = world.boot();
    expect(found.codes).toContain('tree-operation');
    expect(found.text('tree-operation')).toBe('an unfinished rebase is in the way');
  });
});

it('a note that is written during a rebase is about HEAD', () => {
  world.git(['switch', '-q', 'main']);
  world.commit('clash', { 'one.txt': 'clash\n' });
  world.git(['switch', '-q', 'feature']);
  expect(world.run('git', ['rebase', 'main']).status).toBe(1);
  world.leave('in-rebase');
  expect(world.boot('in-rebase')).toMatchObject({
    stale: false,
    codes: ['branch-here', 'head-equal', 'tree-operation'],
  });
  world.git(['rebase', '--skip']);
  expect(world.boot('in-rebase').codes).toContain('head-ahead');
});

describe('the repository itself', () => {
  it('bare: partly verified', () => {
    const bare = join(world.root, 'bare.git');
    world.leave('bare-note', ['one.txt', 'gone.txt']);
    world.git(['clone', '-q', '--bare', world.path, bare]);
    world.git(['fetch', '-q', 'origin', 'refs/handoffs/*:refs/handoffs/*'], { cwd: bare });
    world.git(['symbolic-ref', 'HEAD', 'refs/heads/feature'], { cwd: bare });
    expect(world.boot('bare-note', { cwd: bare }).codes).toEqual([
      'branch-here',
      'head-equal',
      'file-missing',
      'tree-none',
    ]);
  });

  it('sha256', () => {
    const other = new BootWorld({ objectFormat: 'sha256' });
    try {
      other.leave('login-flow', ['one.txt']);
      other.commit('three', { 'one.txt': '3\n' });
      expect(other.boot().codes).toEqual(['branch-here', 'head-ahead', 'file-changed']);
      other.git(['reset', '-q', '--hard', 'main']);
      expect(other.boot()).toMatchObject({
        stale: true,
        codes: ['branch-here', 'head-behind', 'file-missing'],
      });
    } finally {
      other.remove();
    }
  });
});
