import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { A, B, C, SharingWorld, TEN } from '../support/sharing-world.ts';

let world: SharingWorld;
let other: string;

beforeEach(() => {
  world = new SharingWorld({ ready: [A] });
  onTestFinished(() => world.remove());
  other = join(world.root, 'other');
  world.git(['worktree', 'add', '-q', '-b', 'feature/other', other]);
});

const overlap = (words: readonly string[] = [], cwd = world.path) =>
  world.run('git', ['handoff', 'overlap', ...words], { cwd });
const lines = (words: readonly string[] = [], cwd = world.path) => overlap(words, cwd).stdout.split('\n');
const changed = (text: string, line: number, by: string) =>
  text.replace(`line ${line}\n`, `line ${line} by ${by}\n`);

describe('two sessions in two worktrees', () => {
  beforeEach(() => {
    world.begin(B, other);
  });

  it('have no overlap while they change different files', () => {
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.write(B, 'src/b.ts', changed(TEN, 1, 'B'), other);
    expect(overlap()).toMatchObject({
      status: 0,
      stdout:
        'no overlap: compared 2 worktrees and branches; 2 other sessions at work, and no two sessions changed the same file\n',
    });
  });

  it('are shown with a file that both change, even if it would merge', () => {
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.write(B, 'src/a.ts', changed(TEN, 9, 'B'), other);
    const run = overlap();
    expect(run.status).toBe(0);
    expect(run.stdout.split('\n')).toEqual([
      `claude aaaaaaaa  main  ${world.path}`,
      `claude bbbbbbbb  feature/other  ${other}`,
      '  same file  src/a.ts  merges cleanly',
      '',
    ]);
  });

  it('are shown with what would not merge, uncommitted or committed, with exit status 1', () => {
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.write(B, 'src/a.ts', changed(TEN, 1, 'B'), other);
    expect(overlap()).toMatchObject({ status: 1 });
    world.bash(B, 'git commit -qam mine', { cwd: other });
    expect(lines()).toContain('  conflict  src/a.ts');
  });

  it('are shown with a file that one deleted and the other changed', () => {
    world.bash(A, 'git rm -q src/a.ts');
    world.write(B, 'src/a.ts', changed(TEN, 1, 'B'), other);
    expect(lines()).toContain('  gone  src/a.ts  deleted or moved by claude aaaaaaaa');
    expect(lines([], other)).toContain('  gone  src/a.ts  deleted or moved by claude aaaaaaaa');
    expect(overlap().status).toBe(1);
  });

  it('have no overlap in what both changed in the same way', () => {
    world.write(A, 'new.ts', 'same\n');
    world.write(B, 'new.ts', 'same\n', other);
    expect(overlap().status).toBe(0);
    expect(lines()[0]).toMatch(/^no overlap/);
  });

  it('are shown with a file that one moved and the other changed', () => {
    world.bash(A, 'git mv src/a.ts src/renamed.ts');
    world.write(B, 'src/a.ts', changed(TEN, 3, 'B'), other);
    expect(lines()).toContain('  gone  src/a.ts  deleted or moved by claude aaaaaaaa');
  });

  it('overlap in untracked files, links, modes and names with newlines, too', () => {
    world.write(A, 'odd\nname', 'A\n');
    world.write(B, 'odd\nname', 'B\n', other);
    world.bash(A, 'ln -s target link && chmod +x shared.md');
    world.bash(B, 'ln -s elsewhere link && echo more >> shared.md', { cwd: other });
    const { items } = world.json(['overlap']);
    expect(items[0]?.['paths']).toEqual([
      { path: 'link', kind: 'conflict', deletedBy: null },
      { path: 'odd\nname', kind: 'conflict', deletedBy: null },
      { path: 'shared.md', kind: 'same-file', deletedBy: null },
    ]);
  });

  it('are named without a third session that only works beside one of them', () => {
    world.begin(C);
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.write(B, 'src/a.ts', changed(TEN, 1, 'B'), other);
    expect(lines()[0]).toBe(`claude aaaaaaaa  main  ${world.path}`);
  });

  it('are both named, in JSON, as they are known to each other', () => {
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.write(B, 'src/a.ts', changed(TEN, 1, 'B'), other);
    const { items } = world.json(['overlap']);
    expect(items).toEqual([
      {
        sides: [
          {
            worktree: world.path,
            branch: 'main',
            sessions: [{ session: A, client: 'claude', liveness: 'live' }],
          },
          {
            worktree: other,
            branch: 'feature/other',
            sessions: [{ session: B, client: 'claude', liveness: 'live' }],
          },
        ],
        paths: [{ path: 'src/a.ts', kind: 'conflict', deletedBy: null }],
        unknown: null,
      },
    ]);
  });

  it('overlap with what somebody without a session has just changed there', () => {
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    expect(lines()[0]).toMatch(/^no overlap/);
    writeFileSync(join(other, 'src', 'a.ts'), changed(TEN, 1, 'somebody'));
    expect(lines()).toContain('  conflict  src/a.ts');
  });

  it('are merged as the attributes of the file say', () => {
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.write(B, 'src/a.ts', changed(TEN, 1, 'B'), other);
    writeFileSync(join(world.path, '.git', 'info', 'attributes'), '*.ts merge=union\n');
    expect(lines()).toContain('  same file  src/a.ts  merges cleanly');
  });

  it('leave every ref, index, object and file as it was', () => {
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.write(B, 'src/a.ts', changed(TEN, 1, 'B'), other);
    const before = [contentsOf(world.path), contentsOf(other)];
    overlap();
    expect([contentsOf(world.path), contentsOf(other)]).toEqual(before);
  });
});

describe('a merge driver', () => {
  it('is never started: what it merges is not judged', () => {
    world.begin(B, other);
    const ran = join(world.root, 'ran');
    writeFileSync(join(world.path, '.git', 'info', 'attributes'), '*.ts merge=mine\n');
    world.git(['config', 'merge.mine.driver', `touch ${ran}`]);
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.write(B, 'src/a.ts', changed(TEN, 9, 'B'), other);
    expect(overlap()).toMatchObject({ status: 0 });
    expect(lines()).toContain('  not judged  src/a.ts  too large, or a merge driver merges it');
    expect(() => statSync(ran)).toThrow();
  });
});

describe('two sessions in one worktree', () => {
  it('do not count as alone, whatever they have not committed', () => {
    world.begin(B);
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.write(B, 'src/b.ts', changed(TEN, 1, 'B'));
    const words = ['overlap', '--session', B];
    expect(world.ok(words)).toBe(
      'no overlap: 1 other session at work, and no two sessions changed the same file',
    );
    world.end(A);
    expect(world.ok(words)).toMatch(/^nobody else is at work in this repository/);
  });

  it('are shown with what both have changed there', () => {
    world.begin(B);
    world.git(['config', 'handoff.contention', 'warn']);
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.write(B, 'src/a.ts', changed(changed(TEN, 1, 'A'), 9, 'B'));
    expect(lines()).toContain('  same tree  src/a.ts');
    expect(lines(['feature/other'])).not.toContain('  same tree  src/a.ts');
    expect(overlap().status).toBe(0);
  });
});

describe('the branch that a worktree will be merged into', () => {
  beforeEach(() => {
    world.begin(B, other);
    world.end(A);
    world.write(B, 'src/a.ts', changed(TEN, 1, 'B'), other);
  });

  it('is compared, too', () => {
    world.commit('on main', { 'src/a.ts': changed(TEN, 1, 'main') });
    expect(lines([], other)).toEqual([
      `claude bbbbbbbb  feature/other  ${other}`,
      'main             as committed',
      '  conflict  src/a.ts',
      '',
    ]);
  });
});

describe('names', () => {
  beforeEach(() => {
    world.begin(B, other);
    world.git(['branch', 'idle']);
    world.git(['worktree', 'add', '-q', '-b', 'third', join(world.root, 'third')]);
    world.begin(C, join(world.root, 'third'));
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.write(B, 'src/a.ts', changed(TEN, 1, 'B'), other);
    world.write(C, 'src/a.ts', changed(TEN, 1, 'C'), join(world.root, 'third'));
  });
  const pairs = (...words: string[]) =>
    world
      .json(['overlap', ...words])
      .items.map(({ sides }) => (sides as { branch: string }[]).map(({ branch }) => branch).join(' '));

  it.each([
    ['none', [], ['main feature/other', 'main third', 'feature/other third']],
    ['a session', ['bbbbbbbb'], ['main feature/other', 'feature/other third']],
    ['a branch', ['third'], ['main third', 'feature/other third']],
    ['a folder', ['../other'], ['main feature/other', 'feature/other third']],
    ['two', ['bbbbbbbb', 'third'], ['feature/other third']],
  ])('%s', (_, words, expected) => {
    expect(pairs(...words).sort()).toEqual(expected.sort());
  });

  it('that match nothing are refused, with the command that lists what there is', () => {
    expect(overlap(['nothing'])).toMatchObject({
      status: 2,
      stderr:
        'error: nothing is no session, branch or worktree of this repository\nhint: git handoff sessions\n',
    });
  });
});

describe('what cannot be compared', () => {
  it('is a worktree without a commit, or with a history of its own', () => {
    world.begin(B, other);
    world.write(A, 'src/a.ts', changed(TEN, 1, 'A'));
    world.git(['checkout', '-q', '--orphan', 'fresh'], { cwd: other });
    expect(lines()).toContain('  not known: there is no commit yet');
    world.git(['commit', '-q', '--no-verify', '-m', 'own history'], { cwd: other });
    expect(lines()).toContain('  not known: they have no common history here');
    expect(overlap().status).toBe(0);
  });

  it('is a worktree whose folder is gone', () => {
    rmSync(other, { recursive: true });
    expect(lines([other])).toContain('  not known: git cannot read a worktree');
  });
});

describe('a repository without git-handoff', () => {
  it('is compared, and gets nothing of ours', () => {
    const bare = new SharingWorld();
    onTestFinished(() => bare.remove());
    bare.ok(['uninstall', '--yes']);
    bare.git(['branch', 'topic']);
    bare.commit('on main', { 'src/a.ts': changed(TEN, 1, 'main') });
    bare.git(['checkout', '-q', 'topic']);
    writeFileSync(join(bare.path, 'src', 'a.ts'), changed(TEN, 1, 'topic'));
    const before = contentsOf(bare.path);
    expect(bare.run('git', ['handoff', 'overlap']).stdout).toContain('  conflict  src/a.ts\n');
    expect(contentsOf(bare.path)).toEqual(before);
  });
});

/** Every file in a folder, including `.git`, with its content. */
function contentsOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(
    names
      .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true)
      .map((name) => [name, readFileSync(join(folder, name), 'latin1')]),
  );
}
