import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommitWorld, errorsOf } from '../support/commit-hooks-world.ts';
import { A, B, C, TEN, contextText, lines } from '../support/sharing-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld({ ready: [A, B], files: { 'src/c.ts': 'c\n' } });
});
afterEach(() => world.remove());

const put = (path: string, text: string) => writeFileSync(join(world.path, path), text);

/** Undoes A's changes. Returns a function that runs the command to bring them back. */
function undoneAndBack() {
  const text = world.ok(['undo'], { session: A });
  const [, command = 'false'] = /^To bring them back: (.*)$/m.exec(text) ?? [];
  return () => world.run('sh', ['-c', command], { session: A });
}

describe('the rescue of an undo', () => {
  it('brings back the session’s part of a file that another session has changed since, and leaves that one its part', () => {
    world.wrote(A, 'shared.md', lines({ 1: 'A' }));
    world.wrote(B, 'shared.md', lines({ 1: 'A', 9: 'B' }));
    const back = undoneAndBack();
    world.wrote(B, 'shared.md', lines({ 5: 'later', 9: 'B2' }));
    expect(back()).toMatchObject({ status: 0, stderr: '' });
    expect(world.read('shared.md')).toBe(lines({ 1: 'A', 5: 'later', 9: 'B2' }));
    world.ok(['undo'], { session: A });
    expect(world.read('shared.md')).toBe(lines({ 5: 'later', 9: 'B2' }));
    world.commits(B, ['-m', 'B', '--', 'shared.md']);
    expect(world.git(['show', 'HEAD:shared.md'])).toBe(lines({ 5: 'later', 9: 'B2' }).trimEnd());
  });

  it('stages the session’s staged part of a file, but not another session’s unstaged part', () => {
    world.wrote(A, 'shared.md', lines({ 1: 'A' }));
    world.git(['add', 'shared.md']);
    world.wrote(B, 'shared.md', lines({ 1: 'A', 9: 'B' }));
    const back = undoneAndBack();
    expect(world.status()).toEqual([' M shared.md']);
    expect(back()).toMatchObject({ status: 0, stderr: '' });
    expect(world.git(['show', ':shared.md'])).toBe(lines({ 1: 'A' }).trimEnd());
    expect(world.read('shared.md')).toBe(lines({ 1: 'A', 9: 'B' }));
  });

  it('does not bring back what another session has withdrawn', () => {
    world.wrote(A, 'shared.md', lines({ 1: 'A' }));
    world.wrote(B, 'shared.md', lines({ 1: 'A', 5: 'B', 9: 'B' }));
    const back = undoneAndBack();
    world.wrote(B, 'shared.md', lines({ 9: 'B' }));
    expect(back()).toMatchObject({ status: 0 });
    expect(world.read('shared.md')).toBe(lines({ 1: 'A', 9: 'B' }));
  });

  it('overwrites no line that a session at work has written in its place, not even with --force', () => {
    world.wrote(A, 'shared.md', lines({ 1: 'A' }));
    world.wrote(B, 'shared.md', lines({ 1: 'A', 9: 'B' }));
    const back = undoneAndBack();
    world.wrote(B, 'shared.md', lines({ 1: 'B', 9: 'B' }));
    const { status, stderr } = back();
    expect(status).toBe(3);
    expect(errorsOf(stderr)).toEqual([
      'shared.md has uncommitted changes of claude bbbbbbbb, which is at work',
    ]);
    expect(world.handoff(['rescue', 'restore', '--force', '1'], { session: A }).status).toBe(3);
    expect(world.read('shared.md')).toBe(lines({ 1: 'B', 9: 'B' }));
  });

  it('brings a session’s lines back beside those that a person has typed', () => {
    put('shared.md', lines({ 9: 'by hand' }));
    world.write(A, 'shared.md', lines({ 1: 'A', 9: 'by hand' }));
    const back = undoneAndBack();
    put('shared.md', lines({ 5: 'more', 9: 'by hand' }));
    expect(back()).toMatchObject({ status: 0, stderr: '' });
    expect(world.read('shared.md')).toBe(lines({ 1: 'A', 5: 'more', 9: 'by hand' }));
    world.ok(['undo'], { session: A });
    expect(world.read('shared.md')).toBe(lines({ 5: 'more', 9: 'by hand' }));
  });
});

describe('an undo', () => {
  /** Expects a refusal that leaves each of these files as before. */
  function refuses(why: string, files: Readonly<Record<string, string>>): void {
    const run = world.handoff(['undo'], { session: A });
    expect(run.status).not.toBe(0);
    expect(errorsOf(run.stderr)).toEqual([`nothing was undone: ${why}`]);
    for (const [path, text] of Object.entries(files)) expect(world.read(path)).toBe(text);
  }

  it('does not overwrite an ignored file that is no longer in the index', () => {
    world.bash(A, 'git rm -q --cached src/c.ts; echo src/c.ts >.git/info/exclude; echo A >new');
    put('src/c.ts', 'by hand\n');
    refuses('src/c.ts: something that git does not list is in the way', {
      'src/c.ts': 'by hand\n',
      new: 'A\n',
    });
  });

  it('changes nothing if a folder in a file’s place holds others’ files', () => {
    world.bash(A, 'rm src/c.ts; mkdir src/c.ts; echo A >src/c.ts/a; echo A >new');
    world.write(B, 'src/c.ts/b', 'B\n');
    refuses('src/c.ts: something that git does not list is in the way', {
      'src/c.ts/a': 'A\n',
      'src/c.ts/b': 'B\n',
      new: 'A\n',
    });
  });

  it('puts a file back in the place of a folder that holds only the session’s files', () => {
    world.bash(A, 'rm src/c.ts; mkdir src/c.ts; echo A >src/c.ts/a');
    world.ok(['undo'], { session: A });
    expect(world.read('src/c.ts')).toBe('c\n');
  });

  it('takes no person’s lines, even among more changed files than a look reads', () => {
    world.write(A, 'zz.txt', 'A\n');
    put('zz.txt', 'A\nby hand\n');
    for (let n = 0; n < 501; n += 1) put(`f${n}`, '');
    const run = world.handoff(['undo'], { session: A });
    expect(errorsOf(run.stderr)).toEqual([
      'nothing was undone: zz.txt: its changes overlap or touch those of others',
    ]);
    put('zz.txt', 'A\n');
    world.ok(['undo'], { session: A });
    expect(existsSync(join(world.path, 'zz.txt'))).toBe(false);
  });

  it.each([
    ['a filter drops', 'filter.strip.clean', 'sed s/SECRET.*/SECRET/', 'SECRET=1', '\n'],
    ['git would write with other line ends', 'core.autocrlf', 'input', 'by hand', '\r\n'],
  ])('does not rewrite a file with text of others that %s', (_, name, setting, text, end) => {
    world.git(['config', name, setting]);
    put('.git/info/attributes', name.startsWith('filter') ? 'shared.md filter=strip\n' : '');
    const of = (changes: Readonly<Record<number, string>>) => lines(changes).replaceAll('\n', end);
    put('shared.md', of({ 9: text }));
    world.write(A, 'shared.md', of({ 1: 'A', 9: text }));
    refuses('shared.md: git would write the rest of it differently (filters, line endings)', {
      'shared.md': of({ 1: 'A', 9: text }),
    });
  });

  it('leaves a person’s staged changes staged', () => {
    put('shared.md', lines({ 8: 'by hand' }));
    world.git(['add', 'shared.md']);
    put('shared.md', TEN);
    world.write(A, 'shared.md', lines({ 1: 'A' }));
    world.ok(['undo'], { session: A });
    expect(world.git(['show', ':shared.md'])).toBe(lines({ 8: 'by hand' }).trimEnd());
    expect(world.read('shared.md')).toBe(TEN);
  });

  it('keeps a file private that only its owner may read', () => {
    put('shared.md', lines({ 9: 'by hand' }));
    chmodSync(join(world.path, 'shared.md'), 0o600);
    world.write(A, 'shared.md', lines({ 1: 'A', 9: 'by hand' }));
    world.ok(['undo'], { session: A });
    expect(statSync(join(world.path, 'shared.md')).mode & 0o777).toBe(0o600);
  });

  it('takes nothing out of an unfinished merge, and names the rest', () => {
    world.git(['checkout', '-q', '-b', 'side']);
    put('src/a.ts', lines({ 1: 'side' }));
    put('shared.md', lines({ 1: 'side' }));
    world.git(['commit', '-qam', 'side']);
    world.git(['checkout', '-q', '-']);
    put('shared.md', lines({ 1: 'main' }));
    world.git(['commit', '-qam', 'main']);
    world.bash(A, 'git merge side');
    world.write(A, 'shared.md', lines({ 1: 'both' }));
    world.bash(A, 'git add shared.md');
    world.write(A, 'src/b.ts', lines({ 3: 'A' }));
    const run = world.handoff(['undo'], { session: A });
    const why = 'it is part of an unfinished merge, pick or revert';
    expect(errorsOf(run.stderr)).toEqual([`nothing was undone: shared.md: ${why}, src/a.ts: ${why}`]);
    world.follow(A, run.stderr);
    expect(world.read('src/b.ts')).toBe(TEN);
    expect(world.read('src/a.ts')).toBe(lines({ 1: 'side' }));
  });
});

describe('an undo of the work of a session that is over', () => {
  it('is refused to an agent if a live session that the ended one started has changed some of it', () => {
    world.begin(C);
    const [ref = ''] = world.refs('refs/handoffs-local/live').filter((name) => name.endsWith(C));
    const record = JSON.parse(world.git(['cat-file', 'blob', ref])) as object;
    const input = `${JSON.stringify({ ...record, parent: A })}\n`;
    const blob = world.run('git', ['hash-object', '-w', '--stdin'], { input }).stdout;
    world.git(['update-ref', ref, blob.trim()]);
    world.wrote(A, 'src/a.ts', lines({ 1: 'A' }));
    world.wrote(C, 'src/b.ts', lines({ 1: 'C' }));
    world.end(A);
    const run = world.handoff(['undo', 'aaaaaaaa'], { session: B });
    expect(run.status).toBe(3);
    expect(errorsOf(run.stderr)[0]).toMatch(
      /^claude cccccccc is at work: only the user may undo its changes/,
    );
    expect(world.read('src/b.ts')).toBe(lines({ 1: 'C' }));
    world.ok(['undo', 'aaaaaaaa', '--', 'src/a.ts'], { session: B });
    expect(world.read('src/a.ts')).toBe(TEN);
  });

  it('is reported to the session that continues its conversation', () => {
    world.write(A, 'src/a.ts', lines({ 1: 'A' }));
    world.end(A, world.path, 'clear');
    world.begin(C, world.path, 'clear');
    world.ok(['undo', 'aaaaaaaa']);
    expect(world.read('src/a.ts')).toBe(TEN);
    expect(contextText(world.bash(C, 'true').after)).toContain('Ada undid your changes in src/a.ts');
  });
});
