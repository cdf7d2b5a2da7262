import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, TEN } from '../support/sharing-world.ts';
import { CommitWorld, errorsOf, hintsOf, typedHints } from '../support/commit-hooks-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

/** Commits a new file and an edit as A; returns the commit. */
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

/** Expects that the refusal names A's commit and both files, and that the hint commits B's own work without them. */
function takesBack(stderr: string, commit: string): void {
  const back = (path: string) =>
    `${path}: the commit would undo ${commit.slice(0, 7)} (made by claude aaaaaaaa), because the index is older than HEAD`;
  expect(errorsOf(stderr)).toEqual([back('src/a.ts'), back('src/new.ts')]);
  expect(hintsOf(stderr)).toEqual([
    expect.stringMatching(/^git handoff commit -m B( --no-verify)? -- src\/b\.ts$/),
  ]);
  world.follow(B, stderr);
  expect(world.changed()).toEqual(['src/b.ts']);
  expect(world.ids()).toEqual([B]);
  expect(world.git(['show', 'HEAD:src/new.ts'])).toBe('new');
}

describe('an index that is older than HEAD', () => {
  it.each(['-m', '-nm'])('(a) an index that B keeps elsewhere: commit %s', (flag) => {
    const index = join(world.root, 'index of B');
    copyFileSync(join(world.path, '.git', 'index'), index);
    const commit = commitOfA();
    world.wrote(B, 'src/b.ts', '2\n');
    const env = { GIT_INDEX_FILE: index };
    world.as(B, ['add', 'src/b.ts'], { env });
    takesBack(world.refused(B, ['commit', flag, 'B'], { env }), commit);
  });

  it('(a) with -a, so that the new file is a phantom deletion', () => {
    const index = join(world.root, 'index of B');
    copyFileSync(join(world.path, '.git', 'index'), index);
    const commit = commitOfA();
    const env = { GIT_INDEX_FILE: index };
    world.wrote(B, 'src/b.ts', '2\n');
    const stderr = world.refused(B, ['commit', '-am', 'B'], { env });
    expect(errorsOf(stderr)).toEqual([
      `src/new.ts: the commit would undo ${commit.slice(0, 7)} (made by claude aaaaaaaa), because the index is older than HEAD`,
    ]);
    world.follow(B, stderr);
    expect(world.changed()).toEqual(['src/b.ts']);
  });

  it('(a) older by several commits and contents', () => {
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
      expect.stringContaining(`src/a.ts: the commit would undo ${newest}`),
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
    expect(errorsOf(stderr)).toEqual([expect.stringContaining(':(top)m.md: the commit would undo')]);
  });

  it('(b) the branch was moved meanwhile', () => {
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
    takesBack(world.refused(B, ['commit', '-m', 'B']), commit);
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
    takesBack(run?.stderr ?? '', commit);
  });

  it('(c) with the disk’s older files staged by git add -A, in a separate call', () => {
    const commit = world.commit('far away', { 'src/new.ts': 'new\n' });
    world.git(['reset', '-q', '--hard', 'HEAD~1']);
    world.git(['reset', '-q', '--soft', commit]);
    world.git(['reset', '-q']);
    world.wrote(B, 'src/b.ts', '2\n');
    world.bash(B, 'git add -A');
    expect(errorsOf(world.refused(B, ['commit', '-m', 'B']))).toEqual([
      `src/new.ts: the commit would undo ${commit.slice(0, 7)} (made by somebody else), because the index is older than HEAD`,
    ]);
  });

  it('(d) A committed through an index of its own: phantom deletions in the shared one', () => {
    const index = join(world.root, 'index of A');
    copyFileSync(join(world.path, '.git', 'index'), index);
    const commit = commitOfA({ GIT_INDEX_FILE: index });
    expect(world.status()).toContain('D  src/new.ts');
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', 'src/b.ts']);
    takesBack(world.refused(B, ['commit', '-m', 'B']), commit);
  });

  it('the work of somebody without a session is not undone, either', () => {
    world.git(['commit', '-q', '--allow-empty', '-m', 'between']);
    const old = join(world.root, 'old');
    copyFileSync(join(world.path, '.git', 'index'), old);
    const commit = world.commit('by hand', { 'src/a.ts': 'edit\n' });
    copyFileSync(old, join(world.path, '.git', 'index'));
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', 'src/b.ts']);
    expect(errorsOf(world.refused(B, ['commit', '-m', 'B']))).toEqual([
      `src/a.ts: the commit would undo ${commit.slice(0, 7)} (made by somebody else), because the index is older than HEAD`,
    ]);
  });
});

/** Publishes a change of line 1 of src/a.ts from another clone, and fetches it here. */
function published(edit = TEN.replace('line 1\n', 'published\n')): string {
  const upstream = join(world.root, 'upstream.git');
  const clone = join(world.root, 'clone');
  world.git(['clone', '-q', '--bare', world.path, upstream], { cwd: world.root });
  world.git(['clone', '-q', upstream, clone], { cwd: world.root });
  world.git(['remote', 'add', 'origin', upstream]);
  const commit = world.commit('far away', { 'src/a.ts': edit }, clone);
  world.git(['push', '-q'], { cwd: clone });
  world.git(['fetch', '-q', 'origin']);
  return commit;
}

describe('a file with an edit of B’s own that is older than HEAD, however HEAD got there', () => {
  const MOVES = [
    'git reset -q --soft origin/main',
    'git update-ref refs/heads/main origin/main',
    'git branch -q moved origin/main && git symbolic-ref HEAD refs/heads/moved',
    'git fetch -q --update-head-ok origin main:main',
    'git worktree add -q ../else -b else && git -C ../else update-ref refs/heads/main origin/main',
  ];

  it.each(MOVES)('%s: the commit is refused, and B’s part goes in by git handoff commit', (move) => {
    const commit = published();
    world.wrote(B, 'src/a.ts', `${TEN}of B\n`);
    const { run } = world.bash(B, `${move} && git add src/a.ts && git commit -m B`);
    expect(run).toMatchObject({ status: 1 });
    const stderr = run?.stderr ?? '';
    expect(errorsOf(stderr).find((line) => line.startsWith('src/a.ts'))).toMatch(commit.slice(0, 7));
    world.follow(B, stderr);
    expect(world.changed()).toEqual(['src/a.ts']);
    expect(world.git(['show', 'HEAD:src/a.ts'])).toBe(`${TEN.replace('line 1\n', 'published\n')}of B`);
    // The file on the disk still lacks the published line, so a later commit of it is refused, too.
    expect(errorsOf(world.refused(B, ['commit', '-am', 'again']))).toHaveLength(1);
  });

  it('edited after HEAD moved: the same', () => {
    published();
    world.git(['reset', '-q', '--soft', 'origin/main']);
    world.write(B, 'src/a.ts', `${TEN}of B\n`);
    world.follow(B, world.refused(B, ['commit', '-am', 'B']));
    expect(world.git(['show', 'HEAD:src/a.ts'])).toMatch(/^published\n[^]*of B$/);
  });

  it('left on the disk by a mixed reset, and swept up by commit -a: the hints commit the rest', () => {
    const commit = published();
    world.write(B, 'src/b.ts', '2\n');
    world.bash(B, 'git reset -q origin/main');
    const { run } = world.bash(B, "git commit -a -m 'it'");
    const stderr = run?.stderr ?? '';
    expect(errorsOf(stderr)).toEqual([expect.stringMatching(`^src/a\\.ts: .* ${commit.slice(0, 7)} `)]);
    expect(hintsOf(stderr)).toEqual(['git handoff commit -m it -- src/b.ts']);
    for (const hint of typedHints(stderr)) expect(world.bash(B, hint).run).toMatchObject({ status: 0 });
    expect(world.changed()).toEqual(['src/b.ts']);
    expect(world.git(['show', 'HEAD:src/a.ts'])).toMatch(/^published\n/);
  });

  it('and HEAD changed the same lines: the hint commits the rest, and another shows the file', () => {
    published(TEN.replace('line 10\n', 'published\n'));
    world.wrote(B, 'src/a.ts', TEN.replace('line 10\n', 'of B\n'));
    world.wrote(B, 'src/b.ts', '2\n');
    // With the real time, so that in the reflog HEAD moves after B's edit.
    world.bash(B, 'git update-ref HEAD origin/main', { env: { GIT_COMMITTER_DATE: undefined } });
    const refused = world.handoff(['commit', '-m', 'it'], { session: B });
    expect(refused).toMatchObject({ status: 3 });
    expect(hintsOf(refused.stderr)).toEqual([
      'git handoff commit -m it -- src/b.ts',
      'git diff HEAD -- src/a.ts',
    ]);
    for (const hint of typedHints(refused.stderr))
      expect(world.bash(B, hint).run).toMatchObject({ status: 0 });
    expect(world.changed()).toEqual(['src/b.ts']);
  });

  it('that B has updated by hand: passes', () => {
    published();
    world.wrote(B, 'src/a.ts', `${TEN}of B\n`);
    world.bash(B, MOVES[0] ?? '');
    world.wrote(B, 'src/a.ts', `${TEN.replace('line 1\n', 'published\n')}of B\n`);
    world.commits(B, ['-am', 'B']);
  });

  it('that knowingly removes what was published: passes', () => {
    published();
    world.bash(B, 'git merge -q origin/main');
    world.wrote(B, 'src/a.ts', TEN);
    world.commits(B, ['-am', 'B']);
  });

  it('that HEAD deleted: refused, since the commit would bring it back', () => {
    const upstream = join(world.root, 'gone.git');
    world.git(['clone', '-q', '--bare', world.path, upstream], { cwd: world.root });
    world.git(['--git-dir', upstream, 'update-ref', 'refs/heads/main', deletion()]);
    world.git(['fetch', '-q', upstream, 'main:gone']);
    world.wrote(B, 'src/b.ts', '2\n');
    const { run } = world.bash(B, 'git reset -q --soft gone && git add src/b.ts && git commit -m B');
    expect(errorsOf(run?.stderr ?? '')).toEqual([
      expect.stringMatching(/^src\/a\.ts: the commit would undo/),
    ]);
    function deletion(): string {
      const env = { GIT_INDEX_FILE: join(world.root, 'index of nobody') };
      world.git(['read-tree', 'HEAD'], { env });
      world.git(['rm', '-q', '--cached', 'src/a.ts'], { env });
      const tree = world.git(['write-tree'], { env });
      const commit = world.git(['commit-tree', tree, '-p', 'HEAD', '-m', 'gone']);
      world.git(['push', '-q', upstream, `${commit}:refs/heads/gone`]);
      return commit;
    }
  });
});

describe('reset --soft', () => {
  it('over B’s own commits for a squash passes', () => {
    for (const n of [1, 2, 3]) {
      world.wrote(B, `src/${n}.ts`, `${n}\n`);
      world.bash(B, `git add src/${n}.ts && git commit -qm ${n}`);
    }
    const { run } = world.bash(B, 'git reset -q --soft HEAD~3 && git commit -qm squashed');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(world.changed()).toEqual(['src/1.ts', 'src/2.ts', 'src/3.ts']);
  });

  it.each(['id', 'off'])('over A’s commit: its paths are A’s (handoff.trailer = %s)', (trailer) => {
    world.git(['config', 'handoff.trailer', trailer]);
    commitOfA();
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['reset', '-q', '--soft', 'HEAD~1']);
    world.git(['add', 'src/b.ts']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([
      expect.stringMatching(/^src\/a\.ts: claude aaaaaaaa/),
      expect.stringMatching(/^src\/new\.ts: claude aaaaaaaa/),
    ]);
    world.follow(B, stderr);
    expect(world.changed()).toEqual(['src/b.ts']);
  });

  const BACK = ['--soft', '--mixed'].flatMap((how) => [
    [how, 'git commit -qam all'],
    [how, 'git handoff commit -m all'],
  ]);

  it.each(BACK)(
    'reset %s over a commit of its own, beside a later edit of the file: %s commits both',
    (how, commit) => {
      world.edit(B, 'src/a.ts', 'line 1\n', 'first\n');
      world.bash(B, 'git commit -qam first');
      world.edit(B, 'src/a.ts', 'line 9\n', 'second\n');
      const { run } = world.bash(B, `git reset -q ${how} HEAD~1 && ${commit}`);
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(world.status()).toEqual([]);
    },
  );

  it.each(BACK)(
    'reset %s over the commit that created a file, beside an edit: %s commits the whole file',
    (how, commit) => {
      world.commit('by hand', { 'src/new.ts': TEN });
      world.edit(B, 'src/new.ts', 'line 1\n', 'first\n');
      // With the real time, so that in the reflog HEAD moves after B's edit.
      world.bash(B, `git reset -q ${how} HEAD~1`, { env: { GIT_COMMITTER_DATE: undefined } });
      expect(
        world.bash(B, commit.replace(' -qam', ' -qm').replace('git c', 'git add -A; git c')).run,
      ).toMatchObject({ status: 0, stderr: '' });
      expect(world.status()).toEqual([]);
    },
  );

  it.each(['git commit -qam B', 'git handoff commit -m B -- src/a.ts'])(
    'over A’s commit, in a file with an edit of B’s own: %s commits B’s part',
    (commit) => {
      world.edit(A, 'src/a.ts', 'line 1\n', 'of A\n');
      world.bash(A, 'git commit -qam A');
      world.edit(B, 'src/a.ts', 'line 9\n', 'of B\n');
      world.git(['reset', '-q', '--soft', 'HEAD~1']);
      const { run } = world.bash(B, commit);
      if (run?.status !== 0) world.follow(B, run?.stderr ?? '');
      expect(world.git(['show', 'HEAD:src/a.ts'])).toBe(TEN.replace('line 9', 'of B').trimEnd());
      expect(world.read('src/a.ts')).toContain('of A\n');
    },
  );

  it.each(BACK)(
    'reset %s over a commit of its own on top of a line that the file lacks: %s leaves that line',
    (how, commit) => {
      world.edit(B, 'src/a.ts', 'line 1\n', 'of B\n');
      const ours = world.read('src/a.ts');
      const away = world.commit('far away', { 'src/a.ts': TEN.replace('line 9', 'far away') });
      world.git(['reset', '-q', '--hard', 'HEAD~1']);
      world.git(['reset', '-q', '--soft', away]);
      writeFileSync(join(world.path, 'src/a.ts'), ours);
      const first = world.bash(B, 'git handoff commit -m first').run;
      expect(first).toMatchObject({ status: 0, stderr: expect.stringContaining('lacks a change') as string });
      world.bash(B, `git reset -q ${how} HEAD~1`, { env: { GIT_COMMITTER_DATE: undefined } });
      const { run } = world.bash(B, commit);
      if (run?.status !== 0) world.follow(B, run?.stderr ?? '');
      expect(world.git(['show', 'HEAD:src/a.ts'])).toBe(
        TEN.replace('line 1\n', 'of B\n').replace('line 9', 'far away').trimEnd(),
      );
    },
  );

  it('over a commit that A made again, with neighbouring lines changed since: nothing of it is A’s any more', () => {
    const ofA = TEN.replace('line 3', 'of A');
    world.write(A, 'src/a.ts', ofA);
    world.bash(A, 'git commit -qam A');
    world.bash(A, 'git reset -q --soft HEAD~1');
    world.bash(A, 'git commit -qm again');
    const byHand = ofA.replace('line 4', 'by hand');
    world.commit('by hand', { 'src/a.ts': byHand });
    const last = world.commit('by hand again', { 'src/a.ts': byHand.replace('line 5', 'again') });
    world.git(['reset', '-q', '--hard', 'HEAD~1']);
    world.git(['reset', '-q', '--soft', last]);
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', 'src/b.ts']);
    const { stderr } = world.as(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([
      `src/a.ts: the commit would undo ${last.slice(0, 7)} (made by somebody else), because the index is older than HEAD`,
    ]);
  });
});

describe('a session’s own removal or older content passes', () => {
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

  it.each(['id', 'short'])('an undone commit of its own, with handoff.trailer = %s', (trailer) => {
    world.git(['config', 'handoff.trailer', trailer]);
    world.wrote(B, 'src/a.ts', '1\n');
    world.commits(B, ['-am', 'B1']);
    world.git(['checkout', '-q', 'HEAD~', '--', 'src/a.ts']);
    world.commits(B, ['-m', 'B2']);
    expect(world.changed()).toEqual(['src/a.ts']);
  });
});
