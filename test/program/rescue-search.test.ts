import { mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Snapshot } from '../support/disk-snapshot.ts';
import { LOSSES } from '../support/losses.ts';
import { type RepositoryOptions, TestRepository } from '../support/repository.ts';
import { TEN, lines } from '../support/sharing-world.ts';

/** Content that was lost without git-handoff: nobody has run `init` here. */

let world: TestRepository;
afterEach(() => world.remove());

function lose(how: string, path: string, options: RepositoryOptions = {}): string {
  world = new TestRepository(options);
  world.commit('files', { [path]: TEN, 'other.txt': 'other\n' });
  const lost = lines({ 3: 'lost', 7: 'lost, too' });
  LOSSES[how]?.(world, { path, lost, other: lines({ 3: 'other' }) });
  return lost;
}

/** Searches, which must not change anything, and returns what is printed. */
function search(words: readonly string[], cwd = world.path): string {
  const before = new Snapshot(world.path);
  const text = world.ok(['rescue', 'search', ...words], { cwd });
  expect([...before.changed()]).toEqual([]);
  return text;
}

/** Types the printed command that brings the first content back. */
function typed(text: string, cwd = world.path): void {
  const [, command = ''] = /^To bring back: (.*)$/m.exec(text) ?? [];
  expect(world.run('bash', ['-c', command], { cwd })).toMatchObject({ status: 0 });
}

const read = (path: string) => readFileSync(join(world.path, path), 'utf8');
const put = (path: string, content: string) => writeFileSync(join(world.path, path), content);

/** The rows without names and times. */
const rows = (text: string) =>
  [...text.matchAll(/^[0-9a-f]{12} {2}(?:.* ago|just now|-) +(.*?) *$/gm)].map(([, row]) => row);

it.each(Object.keys(LOSSES))('lists first, and brings back: %s', (how) => {
  const lost = lose(how, 'src/a.ts');
  const text = search(['src/a.ts']);
  world.git(['reset', '-q', '--hard']);
  typed(text);
  expect(read('src/a.ts')).toBe(lost);
});

describe('what is found', () => {
  it('is described, and can be shown', () => {
    lose('git add, then reset --hard', 'a.ts');
    put('a.ts', lines({ 1: 'stashed' }));
    world.git(['stash', '-q'], { env: { GIT_COMMITTER_DATE: '1760000000 +0000' } });
    world.git(['stash', 'drop', '-q']);
    LOSSES['branch -D']?.(world, { path: 'a.ts', lost: lines({ 1: 'on a branch' }), other: '' });
    const text = search(['a.ts']);
    const stable = text
      .replaceAll(/\b[0-9a-f]{12}\b/g, '<name>')
      .replaceAll(/\b[0-9a-f]{7}\b/g, '<name>')
      .replaceAll(/ {2,}/g, '  ');
    expect(stable.replaceAll(/just now|\d+ \w+ ago/g, '<time>')).toMatchInlineSnapshot(`
      "3 lost contents of a.ts, the likeliest first:
      <name>  <time>  commit "the lost change", which no branch has
      <name>  <time>  dropped stash "WIP on main: <name> files"
      <name>  <time>  staged about then, its name is not recorded; 79 % like HEAD's a.ts

      To look: git show <name>
      To bring back: git handoff rescue restore <name> -- a.ts"
    `);
    const [, look = ''] = /^To look: git (.*)$/m.exec(text) ?? [];
    expect(world.git(look.split(' '))).toContain('on a branch');
  });

  it('is in neither HEAD, the index, the disk, the stash nor the history of a ref', () => {
    world = new TestRepository();
    world.commit('files', { 'a.ts': TEN });
    put('a.ts', lines({ 1: 'in a branch' }));
    world.git(['commit', '-qam', 'kept']);
    world.git(['branch', 'kept']);
    world.git(['reset', '-q', '--hard', 'HEAD~']);
    for (const text of ['stashed first', 'stashed last']) {
      put('a.ts', lines({ 1: text }));
      world.git(['stash', '-q']);
    }
    const other = world.worktree('elsewhere');
    writeFileSync(join(other, 'a.ts'), lines({ 1: 'staged elsewhere' }));
    world.git(['add', 'a.ts'], { cwd: other });
    put('a.ts', lines({ 1: 'on the disk' }));
    world.git(['add', 'a.ts']);
    put('a.ts', lines({ 1: 'staged here' }));
    world.git(['add', 'a.ts']);
    put('a.ts', lines({ 1: 'on the disk' }));
    expect(search(['a.ts'])).toBe('git has no lost content of a.ts');
  });

  it('must resemble the path if it has no name; for an unknown path, each is shown with its first lines', () => {
    world = new TestRepository();
    world.commit('files', { 'a.ts': TEN });
    put('new.py', 'def lost():\n    return 1\n');
    world.git(['add', 'new.py']);
    world.git(['reset', '-q', '--hard']);
    expect(search(['a.ts'])).toBe('git has no lost content of a.ts');
    const text = search(['new.py']);
    expect(rows(text)).toEqual([
      'staged about then, its name is not recorded; there is no version of new.py to compare it with. It begins: def lost():',
    ]);
    typed(text);
    expect(read('new.py')).toBe('def lost():\n    return 1\n');
  });

  it('may be a folder, searched and restored from another one', () => {
    world = new TestRepository();
    world.commit('files', { 'src/a.ts': TEN, 'src/deep/b.ts': TEN });
    mkdirSync(join(world.path, 'docs'));
    put('src/a.ts', lines({ 1: 'lost' }));
    put('src/deep/b.ts', lines({ 2: 'lost' }));
    world.git(['commit', '-qam', 'both']);
    world.git(['reset', '-q', '--hard', 'HEAD~']);
    const cwd = join(world.path, 'docs');
    const text = search(['../src'], cwd);
    expect(rows(text)).toEqual([
      'src/a.ts       commit "both", which no branch has',
      'src/deep/b.ts  commit "both", which no branch has',
    ]);
    typed(text, cwd);
    const which = /^[0-9a-f]{12}/m.exec(text)?.[0] ?? '';
    world.ok(['rescue', 'restore', which, '--', '../src'], { cwd });
    expect(read('src/deep/b.ts')).toBe(lines({ 2: 'lost' }));
  });

  it('needs --force if its place has uncommitted changes, which are kept', () => {
    const lost = lose('commit --amend', 'a.ts');
    const text = search(['a.ts']);
    put('a.ts', 'mine\n');
    const which = /^[0-9a-f]{12}/m.exec(text)?.[0] ?? '';
    const refused = world.handoff(['rescue', 'restore', which, '--', 'a.ts']);
    expect(refused.stderr).toContain(`hint: git handoff rescue restore --force ${which} -- a.ts`);
    world.ok(['rescue', 'restore', '--force', which, '--', 'a.ts']);
    expect(read('a.ts')).toBe(lost);
    world.ok(['rescue', 'restore', '--force', '--', 'a.ts']);
    expect(read('a.ts')).toBe('mine\n');
  });
});

describe('it works', () => {
  it('with sha256', () => {
    const lost = lose('stash drop', 'a.ts', { objectFormat: 'sha256' });
    typed(search(['a.ts']));
    expect(read('a.ts')).toBe(lost);
  });

  it('in a linked worktree, with packed objects, and where some are missing', () => {
    const lost = lose('git add, then reset --hard', 'a.ts');
    LOSSES['commit, then reset --hard']?.(world, { path: 'a.ts', lost: 'another\n', other: '' });
    const cwd = world.worktree('linked');
    const missing = world.git(['rev-parse', 'ORIG_HEAD^{tree}']);
    unlinkSync(join(world.path, '.git', 'objects', missing.slice(0, 2), missing.slice(2)));
    const packed = world.git(['hash-object', '--stdin'], { input: lost });
    world.git(['pack-objects', '-q', join(world.path, '.git/objects/pack/pack')], { input: `${packed}\n` });
    world.git(['prune-packed', '-q']);
    const text = search(['a.ts'], cwd);
    expect(rows(text)).toEqual(["staged about then, its name is not recorded; 79 % like HEAD's a.ts"]);
    typed(text, cwd);
    expect(readFileSync(join(cwd, 'a.ts'), 'utf8')).toBe(lost);
  });

  it('with names that contain codes for a terminal or a shell', () => {
    for (const path of ["it's\n\u001b[31m$(x)", ':(top)a', '-f', '*']) {
      const lost = lose('branch -D', path);
      const text = search(['--', path]);
      expect(text).not.toContain('\u001b');
      typed(text);
      expect(read(path)).toBe(lost);
      world.remove();
    }
    lose('branch -D', 'last');
  });
});

it('needs one path', () => {
  world = new TestRepository();
  for (const words of [[], ['a', 'b'], ['a', '--', 'b']])
    expect(world.handoff(['rescue', 'search', ...words])).toMatchObject({ status: 2 });
});
