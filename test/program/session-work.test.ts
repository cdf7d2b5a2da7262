import { existsSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommitWorld, errorsOf, hintsOf } from '../support/commit-hooks-world.ts';
import { A, B, SED_IN_PLACE, TEN, lines } from '../support/sharing-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld({ ready: [A, B], files: { 'src/c.ts': 'c\n' } });
});
afterEach(() => world.remove());

/** Both have changed shared.md, in lines that are far apart; each has a file of its own. */
function bothChange(): void {
  world.wrote(A, 'src/a.ts', lines({ 2: 'A' }));
  world.wrote(A, 'shared.md', lines({ 1: 'A' }));
  world.wrote(B, 'shared.md', lines({ 1: 'A', 10: 'B' }));
  world.wrote(B, 'src/b.ts', lines({ 3: 'B' }));
}

function patchOf(words: readonly string[], session?: string): string {
  const run = world.handoff(words, session === undefined ? {} : { session });
  expect(run).toMatchObject({ status: 0, stderr: '' });
  return run.stdout;
}

/** Applies a patch to HEAD's files in another worktree, and returns the content of files there. */
function appliedTo(patch: string, ...paths: readonly string[]): string[] {
  const cwd = join(world.root, 'applied');
  world.git(['worktree', 'add', '-q', '--detach', cwd, 'HEAD']);
  world.git(['apply', '--allow-empty'], { cwd, input: patch });
  return paths.map((path) => world.read(path, cwd));
}

describe('git handoff diff', () => {
  it('shows a session its own changes, only its hunks of a shared file, as a patch for HEAD', () => {
    bothChange();
    const patch = patchOf(['diff'], B);
    expect(patch).toMatchInlineSnapshot(`
      "diff --git a/shared.md b/shared.md
      index fa2da6e55caa540725b55c04d13f1e42b4c725ce..dcb8733baa32bdae7f5bd9b614914621a8c2459f 100644
      --- a/shared.md
      +++ b/shared.md
      @@ -7,4 +7,4 @@ line 6
       line 7
       line 8
       line 9
      -line 10
      +B
      diff --git a/src/b.ts b/src/b.ts
      index fa2da6e55caa540725b55c04d13f1e42b4c725ce..4e9533ef7d66d6c609d16a93de4bd09371d30ebe 100644
      --- a/src/b.ts
      +++ b/src/b.ts
      @@ -1,6 +1,6 @@
       line 1
       line 2
      -line 3
      +B
       line 4
       line 5
       line 6
      "
    `);
    expect(appliedTo(patch, 'shared.md', 'src/b.ts', 'src/a.ts')).toEqual([
      lines({ 10: 'B' }),
      lines({ 3: 'B' }),
      TEN,
    ]);
  });

  it('shows another session’s changes by its short name, or those of some paths', () => {
    bothChange();
    const patch = patchOf(['diff', 'aaaaaaaa', '--', 'src'], B);
    expect(appliedTo(patch, 'shared.md', 'src/a.ts')).toEqual([TEN, lines({ 2: 'A' })]);
    expect(world.ok(['diff', 'aaaaaaaa', '--stat'])).toMatchInlineSnapshot(`
      " shared.md | 2 +-
       src/a.ts  | 2 +-
       2 files changed, 2 insertions(+), 2 deletions(-)"
    `);
  });

  it('shows a person each session’s part and the rest, which together are what differs from HEAD', () => {
    bothChange();
    writeFileSync(join(world.path, 'by hand.txt'), 'x\n');
    writeFileSync(join(world.path, 'src/b.ts'), lines({ 3: 'B', 8: 'by hand' }));
    unlinkSync(join(world.path, 'src/c.ts'));
    const patch = patchOf(['diff']);
    expect(patch.match(/^# .*/gm)).toMatchInlineSnapshot(`
      [
        "# claude aaaaaaaa",
        "# claude bbbbbbbb",
        "# the user, an unknown session, or several at once",
      ]
    `);
    const cwd = join(world.root, 'applied');
    appliedTo(patch);
    world.git(['add', '-A'], { cwd });
    world.git(['add', '-A']);
    expect(world.git(['write-tree'], { cwd })).toBe(world.git(['write-tree']));
  });

  it('leaves out a file in which the changes overlap, and says so', () => {
    world.wrote(A, 'shared.md', lines({ 5: 'A' }));
    world.wrote(B, 'shared.md', lines({ 5: 'AB' }));
    world.wrote(B, 'src/b.ts', lines({ 3: 'B' }));
    const run = world.handoff(['diff'], { session: B });
    expect(run.stdout.match(/^diff --git .*/gm)).toEqual(['diff --git a/src/b.ts b/src/b.ts']);
    expect(run.stderr).toMatchInlineSnapshot(`
      "notice: shared.md: the changes of claude bbbbbbbb overlap or touch those of claude aaaaaaaa; the file is left out
      "
    `);
    expect(world.handoff(['diff']).stdout.match(/^#.*\ndiff --git .*/gm)).toMatchInlineSnapshot(`
      [
        "# claude bbbbbbbb
      diff --git a/src/b.ts b/src/b.ts",
        "# the user, an unknown session, or several at once
      diff --git a/shared.md b/shared.md",
      ]
    `);
  });

  it('shows what a lone session has changed, without the changes that were there before it', () => {
    world.end(B);
    world.end(A);
    writeFileSync(join(world.path, 'shared.md'), lines({ 1: 'by hand' }));
    world.begin(A);
    writeFileSync(join(world.path, 'shared.md'), lines({ 1: 'by hand', 9: 'A' }));
    expect(appliedTo(patchOf(['diff'], A), 'shared.md')).toEqual([lines({ 9: 'A' })]);
  });

  it('starts, for a lone session, from what it has committed', () => {
    world.end(B);
    world.bash(
      A,
      `${SED_IN_PLACE} 's/line 5/once/' shared.md; git commit -qam once; ${SED_IN_PLACE} 's/once/twice/' shared.md`,
    );
    expect(patchOf(['diff'], A)).toContain('\n-once\n+twice\n');
    world.ok(['undo'], { session: A });
    expect(world.status()).toEqual([]);
  });

  it('takes modes, links, bytes that are no text, new and removed files', () => {
    world.bash(A, 'chmod +x src/a.ts; ln -s a.ts src/link; printf "\\0\\1" >bytes; git rm -q shared.md');
    const patch = patchOf(['diff'], A);
    const cwd = join(world.root, 'applied');
    appliedTo(patch);
    world.git(['add', '-A'], { cwd });
    world.git(['add', '-A']);
    expect(world.git(['write-tree'], { cwd })).toBe(world.git(['write-tree']));
  });

  it('shows an ignored file that was taken out of the index as removed, though it is there, and so does a try', () => {
    world.bash(A, 'git rm -q --cached src/c.ts && echo c.ts >.gitignore');
    const diff = ['diff', '--stat', '--', 'src'];
    expect([patchOf(diff, A), patchOf(diff)]).toEqual(
      Array(2).fill(expect.stringContaining('src/c.ts | 1 -')),
    );
    const tried = world.handoff(['try', 'git', 'status', '--short'], { session: A, calls: 'process' });
    expect(tried.stdout).toBe('A  .gitignore\nD  src/c.ts\n');
  });

  it('is empty if nothing is changed, and fails for an unknown session', () => {
    expect(patchOf(['diff'], A)).toBe('');
    const run = world.handoff(['diff', 'auth-refresh'], { session: A });
    expect(run).toMatchObject({ status: 1, stdout: '' });
    expect(errorsOf(run.stderr)).toEqual(['no session here is named auth-refresh']);
  });
});

describe('git handoff undo', () => {
  it('takes a session’s own changes back, only its hunks of a shared file, and says how they come back', () => {
    bothChange();
    world.git(['add', '-A']);
    expect(world.ok(['undo'], { session: A })).toMatchInlineSnapshot(`
      "undid the changes of claude aaaaaaaa in 2 files:
        shared.md
        src/a.ts
      To bring them back: git handoff rescue restore 1"
    `);
    expect(world.read('shared.md')).toBe(lines({ 10: 'B' }));
    expect(world.read('src/a.ts')).toBe(TEN);
    expect(world.read('src/b.ts')).toBe(lines({ 3: 'B' }));
    expect(world.status()).toEqual(['M  shared.md', 'M  src/b.ts']);
    expect(world.git(['diff', '--stat'])).toBe('');
    expect(world.whose(B)).toEqual({ 'shared.md': `mine ${B}`, 'src/b.ts': `mine ${B}` });
    world.commits(B, ['-m', 'B']);
  });

  it('is undone by the rescue that it names, byte for byte, with what was staged, removed and new', () => {
    world.bash(A, 'chmod +x src/a.ts; rm src/b.ts; mkdir new; printf "x\\r\\n" >new/file; git add new');
    world.edit(A, 'shared.md', '5', 'five');
    world.bash(A, 'git rm -q --cached src/c.ts');
    const before = world.git(['status', '--porcelain', '-uall']);
    const text = world.ok(['undo'], { session: A });
    expect(world.status()).toEqual([]);
    expect(existsSync(join(world.path, 'new'))).toBe(false);
    const [, command = ''] = /^To bring them back: (.*)$/m.exec(text) ?? [];
    world.run('sh', ['-c', command], { session: A });
    expect(world.git(['status', '--porcelain', '-uall'])).toBe(before);
    expect(world.read('new/file')).toBe('x\r\n');
    expect(world.whose(A)).toMatchObject({ 'src/b.ts': `mine ${A}`, 'shared.md': `mine ${A}` });
  });

  it('changes nothing when one file cannot be told apart, and names the rest', () => {
    world.wrote(A, 'shared.md', lines({ 5: 'A' }));
    world.wrote(B, 'shared.md', lines({ 5: 'AB' }));
    world.wrote(A, 'src/a.ts', lines({ 3: 'A' }));
    const run = world.handoff(['undo'], { session: A });
    expect(run).toMatchObject({ stdout: '' });
    expect(run.stderr.replaceAll(world.path, '<top>')).toMatchInlineSnapshot(`
      "error: nothing was undone: shared.md: its changes overlap or touch those of others (claude bbbbbbbb)
      hint: git -C <top> handoff undo -- src/a.ts
      "
    `);
    expect(world.read('src/a.ts')).toBe(lines({ 3: 'A' }));
    world.follow(A, run.stderr);
    expect(world.read('src/a.ts')).toBe(TEN);
    expect(world.read('shared.md')).toBe(lines({ 5: 'AB' }));
  });

  it('takes a line back to the state that another session had given it', () => {
    world.wrote(A, 'shared.md', lines({ 5: 'A' }));
    world.wrote(B, 'shared.md', lines({ 5: 'AB' }));
    world.ok(['undo'], { session: B });
    expect(world.read('shared.md')).toBe(lines({ 5: 'A' }));
    expect(world.whose(A)).toEqual({ 'shared.md': `mine ${A}` });
  });

  it('refuses an agent the work of a session at work, and leaves that session a request', () => {
    bothChange();
    const { stderr, status } = world.handoff(['undo', 'bbbbbbbb'], { session: A });
    expect(status).toBe(3);
    expect(stderr.replaceAll(world.path, '<top>')).toMatchInlineSnapshot(`
      "error: claude bbbbbbbb is at work: only the user may undo its changes; nothing was undone
      hint: git -C <top> handoff diff bbbbbbbb-2222-4222-8222-222222222222 --stat
      "
    `);
    expect(world.read('src/b.ts')).toBe(lines({ 3: 'B' }));
    world.end(B);
    world.ok(['undo', 'bbbbbbbb'], { session: A });
    expect(world.read('src/b.ts')).toBe(TEN);
  });

  it('lets a person undo any session’s work, and the session hears it', () => {
    bothChange();
    expect(world.handoff(['undo'])).toMatchObject({ status: 2, stdout: '' });
    world.ok(['undo', 'bbbbbbbb', '--', 'src']);
    expect(world.read('src/b.ts')).toBe(TEN);
    expect(world.read('shared.md')).toBe(lines({ 1: 'A', 10: 'B' }));
    const { after } = world.bash(B, 'true');
    expect(after).toMatchInlineSnapshot(`
      {
        "kind": "context",
        "text": "git-handoff: Ada undid your changes in src/b.ts: do not restore them. They are kept; to look: git handoff rescue show 1",
      }
    `);
  });

  it('names the git revert that undoes what is committed', () => {
    bothChange();
    world.commits(B, ['-qm', 'B', '--', 'src/b.ts']);
    const commit = world.git(['rev-parse', '--short=7', 'HEAD']).trim();
    expect(world.ok(['undo'], { session: B })).toContain(
      `Its commit stays; to undo it: git revert --no-edit ${commit}`,
    );
    const run = world.handoff(['undo'], { session: B });
    expect(run.status).toBe(1);
    expect(hintsOf(run.stderr)).toEqual([`git revert --no-edit ${commit}`]);
    expect(world.read('shared.md')).toBe(lines({ 1: 'A' }));
  });

  it('keeps what a person had changed before the session did', () => {
    world.end(B);
    world.end(A);
    writeFileSync(join(world.path, 'notes.txt'), 'by hand\n');
    writeFileSync(join(world.path, 'shared.md'), lines({ 1: 'by hand' }));
    world.begin(A);
    world.begin(B);
    world.write(A, 'shared.md', lines({ 1: 'by hand', 9: 'A' }));
    world.ok(['undo'], { session: A });
    expect(world.read('shared.md')).toBe(lines({ 1: 'by hand' }));
    expect(world.read('notes.txt')).toBe('by hand\n');
  });
});
