import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, TEN } from '../support/sharing-world.ts';
import { CommitWorld, errorsOf, hintsOf, typedHints } from '../support/commit-hooks-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld();
});
afterEach(() => world.remove());

function begin(): void {
  world.begin(A);
  world.begin(B);
}

const A_CHANGED = 'src/a.ts: claude aaaaaaaa changed it just now and has not committed it';

/** A has changed src/a.ts, B src/b.ts; both files are tracked. */
function bothEdit(): void {
  begin();
  world.wrote(A, 'src/a.ts', '1\n');
  world.wrote(B, 'src/b.ts', '2\n');
}

/** Expects that the command of the refusal's hint commits B's work, and leaves A's change uncommitted. */
function followsToOwnCommit(stderr: string, paths: readonly string[] = ['src/b.ts']): void {
  world.follow(B, stderr);
  expect(world.changed()).toEqual(paths);
  expect(world.ids()).toEqual([B]);
  expect(world.read('src/a.ts')).toBe('1\n');
  expect(world.status().filter((line) => line.endsWith(' src/a.ts'))).toHaveLength(1);
}

describe('a commit that would sweep in another session’s file', () => {
  it.each<[string, string[], string[]]>([
    ['git add -A', ['add', '-A'], ['commit', '-m', 'B']],
    ['--no-verify', ['add', '-A'], ['commit', '--no-verify', '-m', 'B']],
    [
      '--no-verify with an editor',
      ['add', '-A'],
      ['-c', 'core.editor=true', 'commit', '-n', '-e', '-m', 'B'],
    ],
    ['-a', [], ['commit', '-a', '-m', 'B']],
    ['-am', [], ['commit', '-am', 'B']],
    ['--only', [], ['commit', '-m', 'B', '--only', '--', 'src/a.ts', 'src/b.ts']],
    ['a folder', ['add', 'src'], ['commit', '-m', 'B']],
    ['A’s file staged first', ['add', 'src/a.ts'], ['commit', '-m', 'B', '-i', 'src/b.ts']],
    ['an editor', ['add', '-A'], ['-c', 'core.editor=true', 'commit', '-e', '-m', 'B']],
  ])('%s: refused, named, and the next command works', (_, stage, commit) => {
    bothEdit();
    if (stage.length > 0) world.git(stage);
    const stderr = world.refused(B, commit);
    expect(errorsOf(stderr)).toEqual([A_CHANGED]);
    const checked = commit.some((word) => /^(?:-n|--no-verify)$/.test(word)) ? ' --no-verify' : '';
    expect(typedHints(stderr)).toEqual([`git -C ${world.path} handoff commit -m B${checked} -- src/b.ts`]);
    followsToOwnCommit(stderr);
  });

  it('the hint keeps the options for author, trailers and message', () => {
    bothEdit();
    world.git(['add', '-A']);
    const typed = "git commit -s --author='A U Thor <a@u>' -m \"it's\n\nso\" -m two";
    const run = world.run('dash', ['-c', typed], { session: B });
    expect(typedHints(run.stderr)).toEqual([
      `git -C ${world.path} handoff commit -m 'it'\\''s\n\nso' -m two --signoff --author='A U Thor <a@u>' -- src/b.ts`,
    ]);
    followsToOwnCommit(run.stderr);
    expect(world.git(['log', '-1', '--format=%an|%B'])).toMatch(
      /^A U Thor\|it's\n\nso\n\ntwo\n\nSigned-off-by: /,
    );
  });

  it.each([
    ['a here-document', [], "git commit -F - <<'END'\nfeat: x\n\n- \u200b`a` $b\nEND"],
    ['a pipe', [], "printf 'feat: x\\n\\n- \u200b`a` $b\\n' | git commit -F -"],
    ['a pipe, without hooks', [], "printf 'feat: x\\n\\n- \u200b`a` $b\\n' | git commit -nF -"],
    ['-m', [], "git commit -m 'feat: x' -m '- \u200b`a` $b'"],
    ['a file, from the folder above', ['..'], 'git -C repo commit -F ../message'],
  ])('the message of %s is kept', (_, [up = ''], typed) => {
    bothEdit();
    world.git(['add', '-A']);
    writeFileSync(join(world.path, '..', 'message'), 'feat: x\n\n- \u200b`a` $b\n');
    const cwd = join(world.path, up);
    const command = typed.replace('-C repo', `-C ${world.path}`);
    const run = world.run('dash', ['-c', command], { session: B, cwd });
    world.follow(B, run.stderr, { cwd: world.home });
    expect(world.git(['log', '-1', '--format=%B'])).toContain('feat: x\n\n- \u200b`a` $b');
    expect(world.changed()).toEqual(['src/b.ts']);
  });

  it('a file that A has staged itself', () => {
    bothEdit();
    world.as(A, ['add', 'src/a.ts']);
    world.as(B, ['add', 'src/b.ts']);
    followsToOwnCommit(world.refused(B, ['commit', '-m', 'B']));
    world.commits(A, ['-m', 'A']);
    expect(world.changed()).toEqual(['src/a.ts']);
    expect(world.ids()).toEqual([A]);
    expect(world.status()).toEqual([]);
  });

  it('a rename', () => {
    bothEdit();
    world.bash(A, 'mv src/a.ts src/moved.ts');
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([A_CHANGED, A_CHANGED.replace('a.ts', 'moved.ts')]);
    world.follow(B, stderr);
    expect(world.changed()).toEqual(['src/b.ts']);
    expect(world.read('src/moved.ts')).toBe('1\n');
  });

  it('beside a rename of B’s own', () => {
    begin();
    world.wrote(A, 'src/z.ts', '1\n');
    world.bash(B, 'git mv src/b.ts src/c.ts');
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([A_CHANGED.replace('a.ts', 'z.ts')]);
  });

  it('beside a rename on a detached HEAD, where not the hook but Node asks git what is staged', () => {
    begin();
    world.bash(B, 'git checkout -q --detach');
    world.wrote(A, 'src/z.ts', '1\n');
    world.bash(B, 'git mv src/b.ts src/c.ts');
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([A_CHANGED.replace('a.ts', 'z.ts')]);
  });

  it('a deletion', () => {
    begin();
    world.bash(A, 'rm src/a.ts');
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([A_CHANGED]);
    world.follow(B, stderr);
    expect(world.changed()).toEqual(['src/b.ts']);
  });

  it('a deletion of B’s own is committed by the hint', () => {
    begin();
    world.wrote(A, 'src/a.ts', '1\n');
    world.bash(B, 'git rm -q src/b.ts');
    world.git(['add', '-A']);
    followsToOwnCommit(world.refused(B, ['commit', '-m', 'B']));
    expect(world.status()).toEqual(['M  src/a.ts']);
  });

  it('a new untracked file, which a later switch would then take away', () => {
    begin();
    world.wrote(A, 'src/foreign.ts', 'WIP\n');
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', 'src']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([A_CHANGED.replace('a.ts', 'foreign.ts')]);
    world.follow(B, stderr);
    expect(world.changed()).toEqual(['src/b.ts']);
    expect(world.read('src/foreign.ts')).toBe('WIP\n');
  });

  it('a file name with a newline, a quote and a star', () => {
    const name = "src/it's\n*.ts";
    begin();
    world.wrote(A, name, '1\n');
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([
      "src/it's\\n*.ts: claude aaaaaaaa changed it just now and has not committed it",
      'no staged change is this session’s to commit',
    ]);
    world.follow(B, stderr);
    expect(world.status()).toEqual([`A  ${name}`]);
  });

  it('a name that B’s own path would match as a pattern', () => {
    begin();
    for (const name of ['x*.ts', 'x1.ts']) writeFileSync(join(world.path, name), '0\n');
    world.git(['add', '-A']);
    world.commits(undefined, ['-m', 'odd names']);
    world.wrote(A, 'x1.ts', '1\n');
    world.wrote(B, 'x*.ts', '2\n');
    world.git(['add', '-A']);
    world.follow(B, world.refused(B, ['commit', '-m', 'B']));
    expect(world.changed()).toEqual(['x*.ts']);
  });

  it('from a subfolder: the hint works wherever it is typed', () => {
    bothEdit();
    world.git(['add', '-A']);
    const cwd = join(world.path, 'src');
    const stderr = world.refused(B, ['commit', '-m', 'B'], { cwd });
    world.follow(B, stderr, { cwd: world.home });
    expect(world.changed()).toEqual(['src/b.ts']);
  });

  it('a submodule that A has moved', () => {
    const other = join(world.root, 'other');
    world.git(['init', '-q', other], { cwd: world.root });
    world.git(['commit', '-q', '--allow-empty', '-m', '1'], { cwd: other });
    world.git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'sub']);
    world.commits(undefined, ['-m', 'sub']);
    begin();
    world.bash(A, 'git -C sub commit -q --allow-empty -m 2');
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([A_CHANGED.replace('src/a.ts', 'sub')]);
    world.follow(B, stderr);
    expect(world.changed()).toEqual(['src/b.ts']);
  });

  it('in a linked worktree', () => {
    const cwd = world.worktree('side');
    world.begin(A, cwd);
    world.begin(B, cwd);
    world.wrote(A, 'src/a.ts', '1\n', cwd);
    world.wrote(B, 'src/b.ts', '2\n', cwd);
    world.git(['add', '-A'], { cwd });
    for (const commit of [['commit'], ['commit', '-n']]) {
      const stderr = world.refused(B, [...commit, '-m', 'B'], { cwd });
      expect(errorsOf(stderr)).toEqual([A_CHANGED]);
    }
    world.follow(B, world.refused(B, ['commit', '-am', 'B'], { cwd }), { cwd });
    expect(world.changed('HEAD', cwd)).toEqual(['src/b.ts']);
    expect(world.ids('HEAD', cwd)).toEqual([B]);
  });

  it('without a change of B’s own: the refusal says so, the hint shows the owner, and A’s file stays staged', () => {
    begin();
    world.wrote(A, 'src/a.ts', '1\n');
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([A_CHANGED, 'no staged change is this session’s to commit']);
    expect(hintsOf(stderr)).toEqual(['git handoff status']);
    world.follow(B, stderr);
    expect(world.status()).toEqual(['M  src/a.ts']);
    expect(hintsOf(world.refused(B, ['commit', '-am', 'B']))).toEqual(['git handoff status']);
  });

  it('beside a new file of B’s: the hint is our own command, since git cannot commit such a file by path everywhere', () => {
    bothEdit();
    world.wrote(B, 'src/new.ts', '3\n');
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', "B's"]);
    expect(hintsOf(stderr)).toEqual(["git handoff commit -m 'B'\\''s' -- src/b.ts src/new.ts"]);
    followsToOwnCommit(stderr, ['src/b.ts', 'src/new.ts']);
    expect(world.git(['log', '-1', '--format=%s'])).toBe("B's");
  });

  it('a file that A or the user changed before B came', () => {
    world.begin(A);
    writeFileSync(join(world.path, 'src/a.ts'), '1\n');
    world.begin(B);
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([
      'src/a.ts: claude aaaaaaaa or the user changed it and has not committed it',
    ]);
    followsToOwnCommit(stderr);
  });

  it('a file that A changed after its commit, or left out of it', () => {
    bothEdit();
    world.commits(A, ['-m', 'A1', '--', 'src/a.ts']);
    world.wrote(A, 'src/a.ts', 'more\n');
    world.git(['add', '-A']);
    expect(errorsOf(world.refused(B, ['commit', '-m', 'B']))).toEqual([A_CHANGED]);
    world.wrote(A, 'src/a.ts', 'more and more\n');
    world.git(['reset', '-q', '--', 'src/b.ts']);
    world.commits(A, ['-m', 'A2']);
    expect(world.git(['show', 'HEAD:src/a.ts'])).toBe('more');
    world.git(['add', '-A']);
    expect(errorsOf(world.refused(B, ['commit', '-m', 'B']))).toEqual([A_CHANGED]);
  });

  it('fifty files: the refusal names twenty, and the hint commits none of A’s', () => {
    begin();
    for (let n = 0; n < 50; n += 1) world.write(n < 25 ? A : B, `many/${n}.ts`, TEN);
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toHaveLength(21);
    expect(errorsOf(stderr).at(-1)).toBe('and 5 more');
    world.follow(B, stderr);
    expect(world.changed()).toHaveLength(25);
  });
});

describe('what is let through', () => {
  it('a session’s own changes, and those that nobody has claimed', () => {
    begin();
    writeFileSync(join(world.path, 'nobody.txt'), 'by hand\n');
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', '-A']);
    expect(world.commits(B, ['-m', 'B'])).toBe('');
    expect(world.changed()).toEqual(['nobody.txt', 'src/b.ts']);
  });

  it('A’s file once A has committed it, and once A is over', () => {
    bothEdit();
    world.commits(A, ['-m', 'A', '--', 'src/a.ts']);
    writeFileSync(join(world.path, 'src/a.ts'), 'by hand\n');
    world.commits(B, ['-am', 'B']);
    world.wrote(A, 'src/a.ts', 'more\n');
    world.end(A);
    writeFileSync(join(world.path, 'src/b.ts'), 'more\n');
    world.commits(B, ['-am', 'B']);
    expect(world.changed()).toEqual(['src/a.ts', 'src/b.ts']);
  });

  it('a path that both have changed and B has staged its own part of', () => {
    begin();
    world.wrote(A, 'shared.md', TEN.replace('line 1\n', 'A\n'));
    world.wrote(B, 'shared.md', world.read('shared.md').replace('line 10\n', 'B\n'));
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([
      'shared.md: changed by this session (claude bbbbbbbb) and by claude aaaaaaaa',
    ]);
    world.follow(B, stderr);
    expect(world.git(['show', '--format=', '-U0', 'HEAD'])).toContain('-line 10\n+B');
    expect(world.git(['show', '--format=', '-U0', 'HEAD'])).not.toContain('+A');
    expect(world.read('shared.md')).toContain('A\n');
  });

  it('with a warning: a file that changed while a command of A also ran', () => {
    begin();
    world.may(B, 'make');
    writeFileSync(join(world.home, 'generate'), 'echo gen >gen.ts\n');
    world.bash(A, 'python3 -c "import os; os.system(\'sh ~/generate\')"');
    world.git(['add', 'gen.ts']);
    expect(world.commits(B, ['-m', 'B'])).toBe(
      'warning: gen.ts was also changed while a command of claude aaaaaaaa ran; check this commit: git show\n',
    );
    expect(world.changed()).toEqual(['gen.ts']);
  });

  it('a mode, a move and a removal of the session’s own', () => {
    begin();
    world.wrote(A, 'shared.md', '1\n');
    world.bash(B, 'chmod +x src/b.ts && git mv src/a.ts src/c.ts && git add -u src');
    world.commits(B, ['-m', 'B']);
    expect(world.changed()).toEqual(['src/a.ts', 'src/b.ts', 'src/c.ts']);
  });
});

describe('two sessions commit in turn', () => {
  it('each commit holds one session’s files, nothing is lost and the index is right', () => {
    bothEdit();
    mkdirSync(join(world.path, 'new'));
    world.wrote(A, 'new/a.ts', '1\n');
    world.bash(B, 'rm shared.md');
    renameSync(join(world.path, 'a.txt'), join(world.path, 'kept.txt'));
    renameSync(join(world.path, 'kept.txt'), join(world.path, 'a.txt'));
    world.git(['add', '-A']);
    world.follow(B, world.refused(B, ['commit', '-m', 'B']));
    world.git(['add', '-A']);
    world.commits(A, ['-m', 'A']);
    expect(world.changed('HEAD~')).toEqual(['shared.md', 'src/b.ts']);
    expect(world.changed()).toEqual(['new/a.ts', 'src/a.ts']);
    expect([world.ids('HEAD~'), world.ids()]).toEqual([[B], [A]]);
    expect(world.status()).toEqual([]);
    expect(world.git(['fsck', '--no-progress', '--no-dangling'])).toBe('');
  });

  it('a commit leaves nothing behind but its own marks', () => {
    bothEdit();
    world.commits(B, ['-m', 'B', '--', 'src/b.ts']);
    const files = world.run('find', ['.git', '-maxdepth', '1', '-name', 'handoff*']).stdout;
    expect(files.split('\n').filter(Boolean).sort()).toEqual([
      '.git/handoff',
      '.git/handoff-checked',
      '.git/handoff-committing',
      '.git/handoff-id',
    ]);
    rmSync(join(world.path, '.git', 'handoff-checked'));
    expect(world.locks()).toEqual([]);
  });
});
