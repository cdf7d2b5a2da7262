import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GuardWorld } from '../support/guard.ts';
import { A, B, SharingWorld, refusal, contextText } from '../support/sharing-world.ts';

/** Whether git knows reftables (2.45 or later). All other tests check the same with refs in files. */
const isKnown = spawnSync('git', ['init', '-h'], { encoding: 'utf8' }).stdout.includes('ref-format');

describe.skipIf(!isKnown)('a repository whose refs are in reftables', () => {
  let world: SharingWorld;
  beforeEach(() => {
    world = new SharingWorld({ refFormat: 'reftable' });
  });
  afterEach(() => world.remove());

  it('keeps one owner per note, and finds what was moved behind its back', () => {
    const tip = world.noted(['write', 'auth-refresh', '-m', 'one'], { session: A });
    expect(world.handoff(['write', 'auth-refresh', '-m', 'two'], { session: B }).status).toBe(3);
    world.ok(['take', 'auth-refresh'], { session: B });
    world.git(['update-ref', 'refs/handoffs/main/auth-refresh', tip]);
    expect(world.handoff(['list'], { session: B }).stderr).toContain("behind git-handoff's back");
    world.ok(['doctor', '--fix']);
    expect(world.handoff(['list'], { session: B }).stderr).toBe('');
  });

  it.each(['cherry-pick side', 'revert -n HEAD'])('notices git %s, which leaves only a ref', (words) => {
    world.git(['switch', '-qc', 'side']);
    world.commit('side', { 'src/b.ts': 'side\n' });
    world.git(['switch', '-q', 'main']);
    world.commit('main', { 'src/b.ts': 'main\n' });
    for (const session of [A, B]) world.begin(session);
    world.bash(A, `git ${words}`);
    writeFileSync(join(world.path, 'src/b.ts'), 'resolved\n');
    world.git(['add', '-A']);
    expect(world.as(B, ['commit', '-qm', 'x']).stderr).toContain('claude aaaaaaaa began a');
    expect(world.as(A, ['commit', '-qm', 'x'])).toMatchObject({ status: 0 });
  });

  it('refuses a reset of another session’s uncommitted work', () => {
    for (const session of [A, B]) world.begin(session);
    world.write(A, 'src/a.ts', 'of A\n');
    expect(refusal(world.may(B, 'git reset --hard'))).toContain('src/a.ts');
  });

  it.each(['git reset -q --soft HEAD~1', 'git update-ref refs/heads/main HEAD~1'])(
    'refuses to take another session’s commit off the branch: %s',
    (command) => {
      for (const session of [A, B]) world.begin(session);
      world.write(A, 'src/a.ts', 'of A\n');
      expect(world.bash(A, 'git commit -qam work').run).toMatchObject({ status: 0 });
      expect(refusal(world.may(B, command))).toContain('of claude aaaaaaaa');
    },
  );

  it('refuses to delete the branch that another session works on', () => {
    const linked = world.worktree('linked');
    world.begin(A, linked);
    world.begin(B);
    expect(refusal(world.may(B, 'git branch -D linked'))).toContain('on which claude aaaaaaaa is at work');
  });

  it('notices at a session’s next file that a commit without our hooks took its work', () => {
    for (const session of [A, B]) world.begin(session);
    world.wrote(A, 'src/a.ts', 'of A\n');
    world.bash(A, 'true; echo >/dev/null');
    world.git(['-c', 'core.hooksPath=/dev/null', 'commit', '-qam', 'by hand']);
    expect(contextText(world.wrote(A, 'src/b.ts', 'of A\n'))).toContain(
      'took your uncommitted changes in src/a.ts',
    );
  });

  it('is guarded without init, once handoffs are there, like one with ref files', () => {
    const fetched = new GuardWorld({ refFormat: 'reftable', initialised: false, calls: 'process' });
    symlinkSync(fetched.file, join(fetched.path, 'l'));
    expect(fetched.before('Bash', { command: 'echo x >l' })).toMatchObject({ kind: 'deny' });
    fetched.git(['update-ref', '-d', 'refs/handoffs/main/auth-refresh']);
    expect(fetched.before('Bash', { command: 'echo x >l' })).toMatchObject({ kind: 'silent' });
    fetched.remove();
  });

  it('names the lock that a killed git left, and removes it', () => {
    world.ok(['write', 'auth-refresh', '-m', 'one'], { session: A });
    const lock = join(world.path, '.git/reftable/tables.list.lock');
    writeFileSync(lock, '');
    const then = Date.now() / 1000 - 601;
    utimesSync(lock, then, then);
    const failed = world.handoff(['write', 'auth-refresh', '-m', 'two'], { session: A });
    expect(failed).toMatchObject({ status: 7 });
    expect(failed.stderr).toMatch(/\nhint: git handoff doctor\n$/);
    expect(world.handoff(['doctor']).stdout).toContain(
      'reftable/tables.list.lock is 10 min old and blocks writes',
    );
    world.handoff(['doctor', '--fix']);
    expect(existsSync(lock)).toBe(false);
    world.ok(['write', 'auth-refresh', '-m', 'two'], { session: A });
  });

  it.each(['.git/reftable -type f', '.git/reftable -name tables.list', ".git -name '*.ref'"])(
    'refuses a find that deletes the tables: %s',
    (which) => {
      world.ok(['write', 'auth-refresh', '-m', 'one'], { session: A });
      for (const session of [A, B]) world.begin(session);
      expect(refusal(world.may(B, `find ${which} -delete`))).toContain("behind git-handoff's back");
    },
  );

  it('keeps no name of a purged note, even in a linked worktree', () => {
    const linked = join(world.root, 'linked');
    world.git(['worktree', 'add', '-q', linked]);
    world.ok(['write', 'secret-topic', '-m', 'one'], { session: A });
    const found = () => world.run('grep', ['-rlaF', 'secret-topic', '.git/reftable']).stdout;
    expect(found()).not.toBe('');
    world.ok(['delete', 'main/secret-topic', '--yes'], { cwd: linked });
    expect(found()).toBe('');
  });
});
