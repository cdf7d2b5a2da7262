import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { A, B, C, SharingWorld, TEN } from '../support/sharing-world.ts';

let world: SharingWorld;
let other: string;

const beat = (session = '') => join(world.path, '.git', 'handoff', 'beat', session);

/** Nobody has called for a minute. */
function wait(): void {
  const then = Date.now() / 1000 - 60;
  for (const name of readdirSync(beat())) {
    if (statSync(beat(name)).mtimeMs / 1000 > then + 30) utimesSync(beat(name), then, then);
  }
}

const changed = (line: number, by: string) => TEN.replace(`line ${line}\n`, `line ${line} by ${by}\n`);
const overlap = () => world.run('git', ['handoff', 'overlap']);
const lines = () => overlap().stdout.split('\n');
const NONE = 'no overlap: compared 2 worktrees and branches';
const CONFLICT = '  conflict  src/a.ts';

beforeEach(() => {
  world = new SharingWorld({ ready: [A] });
  onTestFinished(() => world.remove());
  other = join(world.root, 'other');
  world.git(['worktree', 'add', '-q', '-b', 'feature/other', other]);
  world.begin(B, other);
  world.write(A, 'src/a.ts', changed(1, 'A'));
});

describe('a worktree whose session has not called since it was looked at', () => {
  beforeEach(() => {
    wait();
    expect(lines()[0]).toBe(NONE);
  });

  it('counts as it was, and says when that was', () => {
    writeFileSync(join(other, 'src', 'a.ts'), changed(1, 'somebody'));
    expect(lines()[0]).toBe(`${NONE}, seen just now`);
    expect(world.json(['overlap'])).toMatchObject({ items: [], asOf: expect.stringMatching(/Z$/) as string });
    wait();
    world.write(A, 'src/b.ts', changed(1, 'A'));
    expect(lines()[0]).toBe(`${NONE}, seen just now`);
  });

  it.each<[string, () => unknown]>([
    ['a file tool', () => world.write(B, 'src/a.ts', changed(1, 'B'), other)],
    ['a shell command', () => world.bash(B, `sed -i '1s/$/ by B/' src/a.ts`, { cwd: other })],
    [
      'a commit that no session made',
      () => {
        writeFileSync(join(other, 'src', 'a.ts'), changed(1, 'somebody'));
        world.git(['commit', '-qam', 'by hand'], { cwd: other });
      },
    ],
    [
      'a path that somebody staged',
      () => {
        writeFileSync(join(other, 'src', 'a.ts'), changed(1, 'somebody'));
        world.git(['add', 'src/a.ts'], { cwd: other });
      },
    ],
    [
      'a second session',
      () => {
        writeFileSync(join(other, 'src', 'a.ts'), changed(1, 'somebody'));
        world.begin(C, other);
        wait();
      },
    ],
    [
      'a call that a clock behind ours dates before the look',
      () => {
        writeFileSync(join(other, 'src', 'a.ts'), changed(1, 'B'));
        const then = Date.now() / 1000 - 50;
        utimesSync(beat(B), then, then);
      },
    ],
  ])('is looked at again after %s', (_, change) => {
    change();
    expect(lines()).toContain(CONFLICT);
  });

  it('is looked at again while a command of it runs', () => {
    world.may(B, 'make', other);
    wait();
    writeFileSync(join(other, 'src', 'a.ts'), changed(1, 'B'));
    expect(lines()).toContain(CONFLICT);
  });
});

describe('what was changed when it was looked at', () => {
  beforeEach(() => {
    world.write(B, 'src/a.ts', changed(1, 'B'), other);
    wait();
    expect(lines()).toContain(CONFLICT);
    wait();
  });

  it('is named with the age of that look', () => {
    expect(lines()).toContain(`claude bbbbbbbb  feature/other  ${other}, seen just now`);
    const [item] = world.json(['overlap']).items as { sides: { asOf?: string }[] }[];
    expect(item?.sides.map(({ asOf }) => asOf !== undefined)).toEqual([false, true]);
  });

  it('is read again when the file is another, whoever wrote it', () => {
    writeFileSync(join(other, 'src', 'a.ts'), changed(9, 'somebody'));
    expect(lines()).toContain('  same file  src/a.ts  merges cleanly');
  });

  it('is merged again when objects were removed meanwhile', () => {
    world.write(A, 'src/a.ts', changed(1, 'A again'));
    rmSync(join(world.path, '.git', 'handoff', 'objects'), { recursive: true });
    expect(lines()).toContain(CONFLICT);
  });

  it('is kept in loose objects, however many: that is how they are removed again', () => {
    const make = 'for n in 1 2 3 4 5 6 7 8 9; do mkdir folder-$n; echo $n >folder-$n/new.ts; done';
    world.bash(B, make, { cwd: other });
    expect(lines()).toContain(CONFLICT);
    const folders = readdirSync(join(world.path, '.git', 'handoff', 'objects'));
    expect(folders.length).toBeGreaterThan(10);
    expect(folders.filter((name) => !/^[0-9a-f]{2}$/.test(name))).toEqual([]);
  });

  it('is merged again where git merges that file otherwise now', () => {
    writeFileSync(join(world.path, '.git', 'info', 'attributes'), '*.ts merge=union\n');
    expect(lines()).toContain('  same file  src/a.ts  merges cleanly');
  });

  it('is merged again when a program of the user merges that file now', () => {
    writeFileSync(join(world.path, '.git', 'info', 'attributes'), '*.ts merge=mine\n');
    world.git(['config', 'merge.mine.driver', 'false']);
    expect(lines()).toContain('  not judged  src/a.ts  a merge driver merges it');
    world.git(['config', '--unset', 'merge.mine.driver']);
    expect(lines()).toContain(CONFLICT);
  });

  it('is found out again from a file of ours that is torn', () => {
    writeFileSync(join(world.path, '.git', 'handoff', 'overlap'), '[]\n\0 {\t\t\t{"report"\nx y\t1\t\t{');
    expect(lines()).toContain(CONFLICT);
  });
});

describe('worktrees whose files were renamed', () => {
  it('meet where git follows the rename', () => {
    world.bash(A, 'git mv src moved');
    world.write(B, 'src/new.ts', 'new\n', other);
    const { items } = world.json(['overlap']);
    expect(items[0]?.['paths']).toMatchObject([{ kind: 'conflict' }]);
  });

  it('meet where one has a file and the other a folder of that name', () => {
    world.write(A, 'name', 'file\n');
    world.write(B, 'name/inner', 'file in a folder\n', other);
    expect(world.json(['overlap']).items).toHaveLength(1);
  });
});
