import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, TEN } from '../support/sharing-world.ts';
import { CommitWorld, errorsOf, hintsOf } from '../support/commit-hooks-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

/** A commits a new file and an edit; returns the commit. */
function commitOfA(env: Record<string, string> = {}): string {
  world.wrote(A, 'src/new.ts', 'new\n');
  world.wrote(A, 'src/a.ts', 'edit\n');
  for (const args of [
    ['add', 'src/new.ts', 'src/a.ts'],
    ['commit', '-q', '-m', 'A'],
  ]) {
    expect(world.as(A, args, { env })).toMatchObject({ status: 0 });
  }
  return world.git(['rev-parse', 'HEAD']);
}

/** The refusal names A's commit and both files; the hint brings the index to HEAD, and B's own can go in. */
function takesBack(stderr: string, commit: string, retry: () => void): void {
  const back = (path: string) =>
    `${path}: the commit would take back ${commit.slice(0, 7)} by session aaaaaaaa; the index is older than HEAD`;
  expect(errorsOf(stderr)).toEqual([back('src/a.ts'), back('src/new.ts')]);
  expect(hintsOf(stderr)).toEqual([expect.stringMatching(/git reset -q -- src\/a\.ts src\/new\.ts$/)]);
  world.follow(B, stderr);
  retry();
  expect(world.changed()).toEqual(['src/b.ts']);
  expect(world.ids()).toEqual([B]);
  expect(world.git(['show', 'HEAD:src/new.ts'])).toBe('new');
}

describe('F7: an index that is older than HEAD', () => {
  it.each(['-m', '-nm'])('(a) one that B keeps elsewhere: commit %s', (flag) => {
    const index = join(world.root, 'index of B');
    copyFileSync(join(world.path, '.git', 'index'), index);
    const commit = commitOfA();
    world.wrote(B, 'src/b.ts', '2\n');
    const env = { GIT_INDEX_FILE: index };
    world.as(B, ['add', 'src/b.ts'], { env });
    takesBack(world.refused(B, ['commit', flag, 'B'], { env }), commit, () =>
      world.commits(B, [flag, 'B'], { env }),
    );
  });

  it('(a) with -a, where the new file is a phantom deletion', () => {
    const index = join(world.root, 'index of B');
    copyFileSync(join(world.path, '.git', 'index'), index);
    const commit = commitOfA();
    const env = { GIT_INDEX_FILE: index };
    world.wrote(B, 'src/b.ts', '2\n');
    const stderr = world.refused(B, ['commit', '-am', 'B'], { env });
    expect(errorsOf(stderr)).toEqual([
      `src/new.ts: the commit would take back ${commit.slice(0, 7)} by session aaaaaaaa; the index is older than HEAD`,
    ]);
    world.follow(B, stderr);
    world.commits(B, ['-am', 'B'], { env });
    expect(world.changed()).toEqual(['src/b.ts']);
  });

  it('(a) by several commits and contents', () => {
    const index = join(world.root, 'index of B');
    copyFileSync(join(world.path, '.git', 'index'), index);
    for (const text of ['one\n', 'two\n']) {
      world.wrote(A, 'src/a.ts', text);
      world.commits(A, ['-am', text]);
    }
    const env = { GIT_INDEX_FILE: index };
    world.wrote(B, 'src/b.ts', '2\n');
    world.as(B, ['add', 'src/b.ts'], { env });
    const newest = world.git(['rev-parse', '--short=7', 'HEAD']);
    expect(errorsOf(world.refused(B, ['commit', '-m', 'B'], { env }))).toEqual([
      expect.stringContaining(`src/a.ts: the commit would take back ${newest}`),
    ]);
  });

  it('(a) of a file whose name is pathspec magic', () => {
    world.commit('magic', { ':(top)m.md': 'old\n' });
    const index = join(world.root, 'index of B');
    copyFileSync(join(world.path, '.git', 'index'), index);
    world.wrote(A, ':(top)m.md', 'new\n');
    expect(world.as(A, ['commit', '-qam', 'A'])).toMatchObject({ status: 0 });
    const env = { GIT_INDEX_FILE: index };
    world.wrote(B, 'src/b.ts', '2\n');
    world.as(B, ['add', 'src/b.ts'], { env });
    const stderr = world.refused(B, ['commit', '-m', 'B'], { env });
    expect(errorsOf(stderr)).toEqual([expect.stringContaining(':(top)m.md: the commit would take back')]);
  });

  it('(b) the branch was moved underneath', () => {
    const other = join(world.root, 'other index');
    copyFileSync(join(world.path, '.git', 'index'), other);
    const env = { GIT_INDEX_FILE: other };
    world.wrote(A, 'src/new.ts', 'new\n');
    world.wrote(A, 'src/a.ts', 'edit\n');
    world.git(['add', 'src/new.ts', 'src/a.ts'], { env });
    const tree = world.git(['write-tree'], { env });
    const commit = world.git(['commit-tree', tree, '-p', 'HEAD', '-m', 'A', '-m', `Claude-Session-Id: ${A}`]);
    world.git(['update-ref', 'refs/heads/main', commit]);
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', 'src/b.ts']);
    takesBack(world.refused(B, ['commit', '-m', 'B']), commit, () => world.commits(B, ['-m', 'B']));
  });

  it('(c) reset --soft to where another session’s fetch moved the upstream', () => {
    const upstream = join(world.root, 'upstream.git');
    const clone = join(world.root, 'clone');
    world.git(['clone', '-q', '--bare', world.path, upstream], { cwd: world.root });
    world.git(['clone', '-q', upstream, clone], { cwd: world.root });
    world.git(['remote', 'add', 'origin', upstream]);
    const commit = world.commit(
      `far away\n\nClaude-Session-Id: ${A}`,
      { 'src/new.ts': 'new\n', 'src/a.ts': 'x\n' },
      clone,
    );
    world.git(['push', '-q'], { cwd: clone });
    world.git(['fetch', '-q', 'origin']);
    world.wrote(B, 'src/b.ts', '2\n');
    const { run } = world.bash(B, 'git reset -q --soft origin/main && git add src/b.ts && git commit -m B');
    expect(run).toMatchObject({ status: 1 });
    takesBack(run?.stderr ?? '', commit, () => world.commits(B, ['-m', 'B']));
  });

  it('(d) A committed through an index of its own: phantom deletions in the shared one', () => {
    const index = join(world.root, 'index of A');
    copyFileSync(join(world.path, '.git', 'index'), index);
    const commit = commitOfA({ GIT_INDEX_FILE: index });
    expect(world.status()).toContain('D  src/new.ts');
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', 'src/b.ts']);
    takesBack(world.refused(B, ['commit', '-m', 'B']), commit, () => world.commits(B, ['-m', 'B']));
  });

  it('the work of somebody without a session is not taken back either', () => {
    world.git(['commit', '-q', '--allow-empty', '-m', 'between']);
    const old = join(world.root, 'old');
    copyFileSync(join(world.path, '.git', 'index'), old);
    const commit = world.commit('by hand', { 'src/a.ts': 'edit\n' });
    copyFileSync(old, join(world.path, '.git', 'index'));
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', 'src/b.ts']);
    expect(errorsOf(world.refused(B, ['commit', '-m', 'B']))).toEqual([
      `src/a.ts: the commit would take back ${commit.slice(0, 7)} of somebody else; the index is older than HEAD`,
    ]);
  });
});

describe('what the session did itself', () => {
  it('git rm in a tool call, and a commit in the next', () => {
    commitOfA();
    world.bash(B, 'git rm -q src/new.ts');
    world.commits(B, ['-m', 'B']);
    expect(world.changed()).toEqual(['src/new.ts']);
  });

  it.each(['git rm -q src/new.ts', 'git rm -q --cached src/new.ts', 'git checkout -q HEAD~ -- src/a.ts'])(
    '%s and the commit in one tool call',
    (command) => {
      commitOfA();
      const { run } = world.bash(B, `${command} && git commit -qm B`);
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(world.changed()).toHaveLength(1);
    },
  );

  it('git rm --cached in a tool call, and a commit in the next', () => {
    commitOfA();
    world.bash(B, 'git rm -q --cached src/new.ts');
    world.commits(B, ['-m', 'B']);
    expect(world.changed()).toEqual(['src/new.ts']);
    expect(world.read('src/new.ts')).toBe('new\n');
  });

  it('an older content, written by its own tool', () => {
    commitOfA();
    world.wrote(B, 'src/a.ts', TEN);
    world.commits(B, ['-am', 'B']);
    expect(world.changed()).toEqual(['src/a.ts']);
  });

  it.each(['id', 'short'])('taking back a commit of its own, with handoff.trailer = %s', (trailer) => {
    world.git(['config', 'handoff.trailer', trailer]);
    world.wrote(B, 'src/a.ts', '1\n');
    world.commits(B, ['-am', 'B1']);
    world.git(['checkout', '-q', 'HEAD~', '--', 'src/a.ts']);
    world.commits(B, ['-m', 'B2']);
    expect(world.changed()).toEqual(['src/a.ts']);
  });
});
