import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BootWorld, READER, WRITER } from '../support/boot-world.ts';

let world: BootWorld;
beforeEach(() => {
  world = new BootWorld();
  world.leave('login-flow');
});
afterEach(() => world.remove());

const relation = () => {
  const { stale, codes } = world.boot('feature/login-flow');
  return [stale, codes.find((code) => code.startsWith('head-') || code.startsWith('base-'))];
};

describe('HEAD against the base of a note', () => {
  it('the same', () => {
    expect(relation()).toEqual([false, 'head-equal']);
  });

  it('ahead by commits on top, and by a merge', () => {
    world.commit('three', { 'three.txt': '3\n' });
    expect(relation()).toEqual([false, 'head-ahead']);
    expect(world.boot().text('head-ahead')).toBe("feature has 1 commit more than the note's base");
    world.git(['switch', '-q', 'main']);
    world.commit('main', { 'main.txt': 'm\n' });
    world.git(['switch', '-q', 'feature']);
    world.git(['merge', '-q', '-m', 'm', 'main']);
    expect(world.boot().text('head-ahead')).toContain('3 commits more');
  });

  it('behind after a reset', () => {
    world.git(['reset', '-q', '--hard', 'HEAD~1']);
    expect(relation()).toEqual([true, 'head-behind']);
    expect(world.boot().text('head-behind')).toBe('feature lacks 1 commit that the note builds on');
  });

  it('amended: only the message, and the content', () => {
    world.git(['commit', '-q', '--amend', '-m', 'two, in other words']);
    expect(relation()).toEqual([false, 'head-reworded']);
    world.git(['reset', '-q', '--hard', 'HEAD~1']);
    world.commit('two, better', { 'two.txt': '22\n' });
    expect(relation()).toEqual([true, 'head-diverged']);
  });

  it('squashed into one commit', () => {
    world.git(['reset', '-q', '--soft', 'main']);
    world.commit('both', {});
    expect(relation()).toEqual([false, 'head-reworded']);
  });

  it('rebased', () => {
    world.git(['switch', '-q', 'main']);
    world.commit('main', { 'main.txt': 'm\n' });
    world.git(['switch', '-q', 'feature']);
    world.git(['rebase', '-q', 'main']);
    expect(relation()).toEqual([true, 'head-diverged']);
    expect(world.boot().text('head-diverged')).toBe(
      "feature was rewritten: it lacks 2 commits of the note's base and has 3 that the base lacks",
    );
  });

  it('moved by force to an unrelated commit, or to another root', () => {
    world.git(['switch', '-q', '-c', 'aside', 'main']);
    world.commit('main', { 'main.txt': 'm\n' });
    world.git(['branch', '-f', 'feature', 'aside']);
    expect(relation()).toEqual([true, 'head-diverged']);
    world.git(['switch', '-q', '--orphan', 'root']);
    world.commit('root', { 'root.txt': 'r\n' });
    world.git(['branch', '-f', 'feature', 'root']);
    expect(relation()).toEqual([true, 'head-diverged']);
  });

  it('unknown in a shallow clone', () => {
    world.commit('three', { 'three.txt': '3\n' });
    const clone = join(world.root, 'clone');
    world.git(['clone', '-q', '--depth=1', '-b', 'feature', `file://${world.path}`, clone]);
    world.git(['fetch', '-q', 'origin', 'refs/handoffs/*:refs/handoffs/*'], { cwd: clone });
    const found = world.boot(undefined, { cwd: clone });
    expect(found).toMatchObject({ stale: false, codes: ['branch-here', 'base-shallow'] });
  });

  it('unknown in a shallow clone that has the base, but not the commits between', () => {
    world.git(['tag', 'then']);
    world.commit('three', { 'three.txt': '3\n' });
    world.commit('four', { 'four.txt': '4\n' });
    const clone = join(world.root, 'clone');
    world.git(['clone', '-q', '--depth=1', '-b', 'feature', `file://${world.path}`, clone]);
    world.git(['fetch', '-q', '--depth=1', 'origin', 'refs/tags/then:refs/tags/then'], { cwd: clone });
    world.git(['fetch', '-q', 'origin', 'refs/handoffs/*:refs/handoffs/*'], { cwd: clone });
    expect(world.boot(undefined, { cwd: clone })).toMatchObject({
      stale: false,
      codes: ['branch-here', 'base-shallow'],
    });
  });

  it('unknown in a clone that does not have the commit', () => {
    const clone = join(world.root, 'clone');
    world.git(['clone', '-q', '-b', 'feature', world.path, clone]);
    world.commit('three', { 'three.txt': '3\n' });
    world.leave('not-pushed', ['three.txt', 'one.txt']);
    world.git(['fetch', '-q', 'origin', 'refs/handoffs/*:refs/handoffs/*'], { cwd: clone });
    const found = world.boot('not-pushed', { cwd: clone });
    // A missing file counts as missing, even if the base is unknown.
    expect(found).toMatchObject({
      stale: true,
      codes: ['branch-here', 'base-missing', 'file-missing', 'file-uncompared'],
    });
  });
});

describe('which version is compared', () => {
  it('the version with the text, since a take or a close records a later state', () => {
    world.commit('three', { 'three.txt': '3\n' });
    world.ok(['take', 'login-flow'], { session: READER });
    const taken = world.boot();
    expect(taken.codes).toEqual(['branch-here', 'head-ahead']);
    expect(taken.value).toMatchObject({ writer: WRITER, owner: READER });
    world.ok(['close', 'login-flow'], { session: READER });
    expect(world.boot('login-flow')).toMatchObject({
      stale: true,
      codes: ['note-closed', 'branch-here', 'head-ahead'],
    });
    world.leave('login-flow', [], { session: READER, note: 'another text' });
    expect(world.boot().codes).toEqual(['branch-here', 'head-equal']);
    expect(world.boot().value).toMatchObject({ writer: READER });
  });

  it('the kept tip, if the ref was moved by hand', () => {
    const first = world.git(['rev-parse', 'refs/handoffs/feature/login-flow']);
    world.leave('login-flow', [], { note: 'second' });
    world.git(['update-ref', 'refs/handoffs/feature/login-flow', first]);
    // Like every verb that reads, boot reports this, and remembers under `lost` that it did.
    const value = world.json(['boot', 'login-flow'], { session: READER });
    expect(value['goal']).toBe('second');
    expect(value['findings']).toContainEqual(expect.objectContaining({ code: 'note-moved' }));
  });
});
