import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BootWorld, READER, WRITER } from '../support/boot-world.ts';

let world: BootWorld;
beforeEach(() => {
  world = new BootWorld();
  world.leave('login-flow');
});
afterEach(() => world.remove());

/** Staleness of each listed note, by its branch. */
function listed(options = {}): Record<string, unknown> {
  const { items } = world.json(['list'], options);
  return Object.fromEntries(items.map(({ branch, staleness }) => [String(branch), staleness]));
}
/** The commands that close the notes which look done. Only the owner of these notes gets them. */
const done = (options = {}) => world.json(['list'], { session: WRITER, ...options })['looksDone'];
const branch = (name: string, from = 'main') => world.git(['switch', '-q', '-c', name, from]);

describe('list', () => {
  it('shows A merged, B open and C old, and changes no ref', () => {
    branch('b-open');
    world.commit('b', { 'b.txt': 'b\n' });
    world.leave('b-work');
    branch('c-old');
    world.leave('c-work');
    world.git(['switch', '-q', 'main']);
    world.git(['merge', '-q', '--no-ff', '-m', 'm', 'feature']);
    world.git(['switch', '-q', 'b-open']);
    const refs = world.git(['for-each-ref']);
    expect(listed()).toEqual({ 'b-open': null, 'c-old': null, feature: 'merged' });
    const text = world.ok(['list'], { session: WRITER });
    expect(text.split('\n')[0]).toMatch(/^b-open\/b-work /);
    expect(text).toMatch(/\nfeature\/login-flow {2,}merged: close it\? /);
    expect(text).toMatch(/\n\n1 looks done: git handoff close feature\/login-flow$/);
    expect(world.git(['for-each-ref'])).toBe(refs);
    // The command works as printed.
    expect(done({ session: WRITER })).toEqual(['git handoff close feature/login-flow']);
    expect(done({ session: READER })).toEqual([]);
    world.run('sh', ['-c', String((done() as string[])[0])], { session: WRITER });
    expect(listed()).toEqual({ 'b-open': null, 'c-old': null });
    expect(world.ok(['list', '--all'])).not.toContain('looks done');
  });

  it.each([
    ['fast-forward', ['--ff-only']],
    ['merge commit', ['--no-ff', '-m', 'm']],
  ])('merged by a %s', (_how, flags) => {
    world.git(['switch', '-q', 'main']);
    world.git(['merge', '-q', ...flags, 'feature']);
    expect(listed()).toEqual({ feature: 'merged' });
    expect(done()).toHaveLength(1);
  });

  it('merged, then forwarded to the default branch', () => {
    world.git(['switch', '-q', 'main']);
    world.git(['merge', '-q', '--no-ff', '-m', 'm', 'feature']);
    world.git(['switch', '-q', 'feature']);
    world.git(['merge', '-q', '--ff-only', 'main']);
    expect(listed()).toEqual({ feature: 'merged' });
  });

  it('rebased and merged', () => {
    world.git(['switch', '-q', 'main']);
    world.commit('m', { 'm.txt': 'm\n' });
    world.git(['rebase', '-q', 'main', 'feature']);
    world.git(['switch', '-q', 'main']);
    world.git(['merge', '-q', '--ff-only', 'feature']);
    expect(listed()).toEqual({ feature: 'merged' });
  });

  it('fresh branches with uncommitted work are not merged', () => {
    branch('fresh');
    writeFileSync(join(world.path, 'work.txt'), 'x\n');
    world.leave('fresh-work');
    branch('at-feature', 'feature');
    world.leave('stacked-work');
    world.git(['switch', '-q', 'main']);
    world.commit('m', { 'm.txt': 'm\n' });
    world.git(['merge', '-q', '--no-ff', '-m', 'm', 'feature']);
    expect(listed()).toEqual({ fresh: null, 'at-feature': null, feature: 'merged' });
  });

  it('work that was thrown away is not merged', () => {
    world.git(['reset', '-q', '--hard', 'main']);
    expect(listed()).toEqual({ feature: null });
  });

  it('without reflogs, nothing is certain', () => {
    world.git(['switch', '-q', 'main']);
    world.git(['merge', '-q', '--ff-only', 'feature']);
    world.git(['reflog', 'expire', '--expire=all', '--all']);
    expect(listed()).toEqual({ feature: null });
  });

  it('notes of the default branch are never merged', () => {
    world.git(['switch', '-q', 'main']);
    world.leave('main-work');
    expect(listed()).toEqual({ main: null, feature: null });
  });

  it('branches that are deleted, renamed, or only at a remote', () => {
    const clone = join(world.root, 'clone');
    world.git(['clone', '-q', '-b', 'main', world.path, clone]);
    world.git(['fetch', '-q', 'origin', 'refs/handoffs/*:refs/handoffs/*'], { cwd: clone });
    expect(listed({ cwd: clone })).toEqual({ feature: null });
    world.git(['branch', '-m', 'feature', 'signin']);
    expect(listed()).toEqual({ feature: 'branch-renamed' });
    expect(done()).toEqual([]);
    expect(world.ok(['list'])).toContain('branch renamed');
    world.git(['switch', '-q', 'main']);
    world.git(['branch', '-q', '-D', 'signin']);
    expect(listed()).toEqual({ feature: 'branch-deleted' });
    expect(world.ok(['list'])).toMatch(/branch gone [^]*1 looks done: /);
  });

  it("another person's branch, which was never here, is not gone", () => {
    world.leave('login-flow', ['one.txt']);
    const clone = join(world.root, 'clone');
    world.git(['clone', '-q', '-b', 'main', '--single-branch', world.path, clone]);
    world.git(['fetch', '-q', 'origin', 'refs/handoffs/*:refs/handoffs/*'], { cwd: clone });
    world.git(['config', 'user.email', 'bob@example.org'], { cwd: clone });
    expect(listed({ cwd: clone })).toEqual({ feature: null });
    expect(world.ok(['list'], { cwd: clone })).not.toContain('looks done');
    const { stdout, status } = world.handoff(['boot', 'feature/login-flow'], { cwd: clone });
    expect(stdout).toContain('feature is not here, and may never have been');
    expect(status).toBe(0);
  });

  it("the caller's own branch that another clone has not pushed is not gone", () => {
    const clone = join(world.root, 'clone');
    world.git(['clone', '-q', '-b', 'main', '--single-branch', world.path, clone]);
    world.ok(['sync', '--fetch', 'origin'], { cwd: clone });
    expect(listed({ cwd: clone })).toEqual({ feature: null });
    expect(world.ok(['list'], { cwd: clone })).not.toContain('looks done');
    const { stdout } = world.handoff(['boot', 'feature/login-flow'], { cwd: clone });
    expect(stdout).toContain('feature is not here, and may never have been');
    world.git(['fetch', '-q', 'origin', 'feature:feature'], { cwd: clone });
    world.git(['switch', '-q', 'feature'], { cwd: clone });
    world.git(['switch', '-q', 'main'], { cwd: clone });
    world.git(['branch', '-q', '-D', 'feature'], { cwd: clone });
    expect(listed({ cwd: clone })).toEqual({ feature: 'branch-deleted' });
  });

  it('with another default branch', () => {
    world.git(['branch', '-m', 'main', 'trunk']);
    world.git(['switch', '-q', 'trunk']);
    world.git(['merge', '-q', '--ff-only', 'feature']);
    expect(listed()).toEqual({ feature: null });
    world.git(['config', 'init.defaultBranch', 'trunk']);
    expect(listed()).toEqual({ feature: 'merged' });
  });

  it('before the first commit, detached, bare, and with closed notes', () => {
    world.git(['switch', '-q', '--orphan', 'empty']);
    world.leave('empty-start');
    world.git(['checkout', '-q', '--detach', 'feature']);
    world.leave('detached-work');
    world.git(['switch', '-q', '--orphan', 'empty']);
    expect(listed()).toEqual({ HEAD: null, empty: null, feature: null });
    const bare = join(world.root, 'bare.git');
    world.git(['clone', '-q', '--bare', world.path, bare]);
    world.git(['fetch', '-q', 'origin', 'refs/handoffs/*:refs/handoffs/*'], { cwd: bare });
    expect(world.json(['list'], { cwd: bare }).items).toHaveLength(3);
    world.ok(['close', 'feature/login-flow'], { session: WRITER });
    world.git(['branch', '-q', '-D', 'feature']);
    const { items } = world.json(['list', '--state', 'closed']);
    expect(items).toMatchObject([{ branch: 'feature', staleness: null }]);
  });

  it('runs git a fixed number of times, however many branches there are', () => {
    // We remove trace variables from git's environment, so a stand-in for git counts the calls.
    const folder = join(world.root, 'counting');
    const log = join(folder, 'log');
    mkdirSync(folder);
    const git = world.run('sh', ['-c', 'command -v git']).stdout.trim();
    writeFileSync(join(folder, 'git'), `#!/bin/sh\necho "$*" >>'${log}'\nexec '${git}' "$@"\n`, {
      mode: 0o755,
    });
    const count = () => {
      rmSync(log, { force: true });
      world.handoff(['list'], { env: { PATH: `${folder}:${world.env()['PATH'] ?? ''}` } });
      return readFileSync(log, 'utf8').trim().split('\n').length;
    };
    world.git(['switch', '-q', 'main']);
    const alone = count();
    world.git(['merge', '-q', '--ff-only', 'feature']);
    const before = count();
    for (let at = 0; at < 12; at++) {
      branch(`b${at}`);
      world.commit(`b${at}`, { [`b${at}.txt`]: 'x\n' });
      world.leave('some-work');
      world.git(['switch', '-q', 'main']);
      world.git(['merge', '-q', '--no-ff', '-m', 'm', `b${at}`]);
    }
    expect(Object.values(listed()).filter((one) => one === 'merged')).toHaveLength(13);
    expect(count()).toBe(before);
    // Two calls read the topics, one the branches, two the default branch, and two what it contains.
    // If refs are not files, two more find the repository and what HEAD names.
    const more = existsSync(join(world.path, '.git', 'reftable')) ? 2 : 0;
    expect([alone, before]).toEqual([6 + more, 8 + more]);
  });
});
