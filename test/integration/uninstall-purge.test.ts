import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

/** `git handoff uninstall --purge` also removes the notes, which can be brought back. */

let repo: TestRepository;
afterEach(() => repo.remove());

const ours = () =>
  repo.git([
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    'refs/handoffs',
    'refs/handoffs-local',
    'refs/handoffs-remote',
  ]);
const backups = () => readdirSync(join(repo.path, '.git')).filter((name) => name.endsWith('.bundle'));

/** A repository with every kind of ref, and a linked worktree. */
function everything(): { repo: SharingWorld; worktree: string } {
  const world = new SharingWorld();
  repo = world;
  const worktree = world.worktree('side');
  for (const session of [A, B]) world.begin(session);
  world.begin(A, worktree);
  world.write(A, 'src/a.ts', 'changed\n');
  world.write(A, 'src/a.ts', 'changed\n', worktree);
  const tip = world.noted(['write', 'auth-refresh', '-m', 'a note'], { session: A });
  expect(world.handoff(['write', 'auth-refresh', '-m', 'lost'], { session: B }).status).toBe(3);
  world.ok(['ack', 'auth-refresh'], { session: B });
  world.git(['update-ref', '--create-reflog', 'refs/handoffs-remote/origin/main/auth-refresh', tip]);
  world.git(['stash', 'push', '-q']);
  world.git(['update-ref', 'refs/handoffs-local/rescue/0123456789abcdef/1', 'refs/stash']);
  return { repo: world, worktree };
}

describe('uninstall --purge', () => {
  it('asks at a terminal, and needs --yes without one', () => {
    everything();
    const before = ours();
    const refused = repo.handoff(['uninstall', '--purge']);
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('hint: git handoff uninstall --purge --yes');
    expect([ours(), backups()]).toEqual([before, []]);
    expect(repo.git(['config', 'handoff.enabled'])).toBe('true');
  });

  it('is the command that a plain uninstall names for what it leaves, and itself names what it leaves', () => {
    everything();
    const outside = repo.handoff(['uninstall', '--yes', '--user'], { cwd: repo.home });
    expect(outside).toMatchObject({ status: 0, stderr: expect.not.stringContaining('stay') as string });
    const plain = repo.handoff(['uninstall', '--yes']);
    const command = /^notice: notes and records stay under refs\/handoffs\*; to remove them: git (.*)$/m;
    const [, words = ''] = command.exec(plain.stderr) ?? [];
    expect(ours()).not.toBe('');
    const purged = repo.handoff([...words.split(' ').slice(1), '--yes']);
    expect(ours()).toBe('');
    expect(purged.stderr).toContain(`.git/${backups()[0] ?? ''} now; to have them back: git fetch `);
    expect(purged.stderr).toContain(
      'notice: their objects stay until git collects them (git gc --prune=now), and what was pushed stays on the remotes\n',
    );
  });

  it('leaves nothing of ours but the backup', () => {
    const { worktree } = everything();
    const done = repo.json(['uninstall', '--purge', '--yes']);
    expect(done).toMatchObject({ outcome: 'applied' });
    expect(done['plan']).toMatch(/remove 1 ref under refs\/handoffs\/\n/);
    expect(done['plan']).toMatch(/remove 1 ref under refs\/handoffs-remote\/\n/);
    expect(ours()).toBe('');
    expect(backups()).toHaveLength(1);
    const names = repo.run('find', [join(repo.path, '.git'), repo.home, '-name', '*handoff*']).stdout;
    expect(names.trim().split('\n')).toEqual([join(repo.path, '.git', backups()[0] ?? '')]);
    expect(repo.run('git', ['config', '--get-regexp', 'handoff']).stdout).toBe('');
    expect(repo.git(['status', '--porcelain'], { cwd: worktree })).toBe(' M src/a.ts');
    expect(repo.run('git', ['fsck']).status).toBe(0);
    // The second time, there is nothing to keep, and the backup stays.
    expect(repo.json(['uninstall', '--purge', '--yes'])).toMatchObject({ outcome: 'unchanged' });
    expect(backups()).toHaveLength(1);
  });

  it('prints a command that gives everything back', () => {
    everything();
    const before = ours();
    const done = repo.handoff(['uninstall', '--purge', '--yes']);
    const command = /to have them back: (.*)$/m.exec(done.stderr)?.[1] ?? '';
    repo.git(['gc', '-q', '--prune=now']);
    expect(repo.run('sh', ['-c', command])).toMatchObject({ status: 0 });
    expect(ours()).toBe(before);
    expect(repo.ok(['show', 'auth-refresh', '--raw'])).toBe('a note');
    expect(repo.ok(['show', 'auth-refresh', '--lost=1'])).toBe('lost');
    expect(repo.run('git', ['fsck']).stdout).not.toMatch(/missing|broken/);
  });

  it('leaves a backup that another repository accepts, even one that checks what it fetches', () => {
    everything();
    const before = ours();
    repo.ok(['uninstall', '--purge', '--yes']);
    const [file = ''] = backups();
    const other = join(repo.root, 'other');
    repo.git(['init', '-q', other]);
    const fetch = ['-c', 'transfer.fsckObjects=true', 'fetch', '-q', join(repo.path, '.git', file)];
    repo.git([...fetch, 'refs/*:refs/*'], { cwd: other });
    expect(repo.git(['for-each-ref', '--format=%(objectname) %(refname)'], { cwd: other })).toBe(before);
  });

  it('works if init never ran, and after an uninstall', () => {
    repo = new TestRepository();
    repo.ok(['write', 'auth-refresh', '-m', 'a note'], { session: A });
    repo.ok(['uninstall', '--purge', '--yes']);
    expect(ours()).toBe('');
    expect(backups()).toHaveLength(1);
    repo.ok(['write', 'auth-refresh', '-m', 'a note'], { session: A });
    repo.ok(['uninstall', '--purge', '--yes']);
    expect(backups()).toHaveLength(2);
    repo.remove();
    repo = new TestRepository({ bare: true });
    repo.ok(['write', 'auth-refresh', '-m', 'a note'], { session: A });
    repo.ok(['uninstall', '--purge', '--yes']);
    expect(ours()).toBe('');
  });

  it('changes nothing if it cannot make a backup', () => {
    everything();
    const tip = repo.ref('refs/handoffs/main/auth-refresh') ?? '';
    const path = join(repo.path, '.git', 'objects', tip.slice(0, 2), tip.slice(2));
    const bytes = readFileSync(path);
    repo.run('rm', ['-f', path]);
    const before = ours();
    const refused = repo.handoff(['uninstall', '--purge', '--yes']);
    expect(refused).toMatchObject({
      status: 7,
      stderr: expect.stringContaining('the backup failed, nothing was removed') as string,
    });
    expect([ours(), backups()]).toEqual([before, []]);
    expect(existsSync(join(repo.path, '.git', 'handoff'))).toBe(true);
    expect(repo.git(['config', 'handoff.enabled'])).toBe('true');
    writeFileSync(path, bytes);
    expect(repo.handoff(['uninstall', '--purge', '--yes']).status).toBe(0);
  });
});
