import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, C, SharingWorld, refusal, contextText } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

describe('a file that another live session has changed', () => {
  it('is not edited: the refusal says who, what, and that the session will be told', () => {
    world.write(A, 'src/a.ts', 'one\n');
    const text = refusal(world.write(B, 'src/a.ts', 'two\n'));
    expect(text).toContain('src/a.ts: claude aaaaaaaa changed it just now');
    expect(text).toContain('claude aaaaaaaa will be told. Work on something else');
    expect(text).not.toContain('take');
    expect(world.read('src/a.ts')).toBe('one\n');
  });

  it('is edited after the command of the refusal if its session waits for its user; that session is told', () => {
    world.write(A, 'src/a.ts', 'one\n');
    world.stop(A);
    const command = /git handoff take .*$/m.exec(refusal(world.write(B, 'src/a.ts', 'two\n')))?.[0] ?? '';
    expect(world.bash(B, command).run).toMatchObject({ status: 0 });
    expect(world.write(B, 'src/a.ts', 'two\n').kind).toBe('silent');
    expect(contextText(world.may(A, 'make'))).toMatch(/claude bbbbbbbb took src\/a\.ts/i);
    expect(contextText(world.may(A, 'make'))).toBe('');
    expect(refusal(world.write(A, 'src/a.ts', 'three\n'))).toContain('claude bbbbbbbb took it over');
  });

  it.each([
    'sed -i s/line/LINE/ src/a.ts',
    'echo x >> src/a.ts',
    'rm src/a.ts',
    'mv src/b.ts src/a.ts',
    'cd src && tee a.ts < b.ts',
  ])('is not changed by %s either', (command) => {
    world.write(A, 'src/a.ts', 'one\n');
    expect(refusal(world.may(B, command))).toContain('claude aaaaaaaa');
  });

  it('is free again when its change is committed, by anybody', () => {
    world.write(A, 'src/a.ts', 'one\n');
    world.as(A, ['commit', '-qm', 'a', '--', 'src/a.ts']);
    expect(world.write(B, 'src/a.ts', 'two\n').kind).toBe('silent');
  });

  it('is free again when it is as HEAD has it', () => {
    world.write(A, 'src/a.ts', 'one\n');
    world.git(['checkout', '--', 'src/a.ts']);
    expect(world.write(B, 'src/a.ts', 'two\n').kind).toBe('silent');
    // A claim does not come back after its path has been seen clean.
    world.git(['checkout', '--', 'src/a.ts']);
    expect(world.write(B, 'src/a.ts', 'one\n').kind).toBe('silent');
  });

  it('is free again when its session ends', () => {
    world.write(A, 'src/a.ts', 'one\n');
    world.end(A);
    world.write(B, 'src/a.ts', 'two\n');
    expect(world.read('src/a.ts')).toBe('two\n');
  });

  it('is refused to the session that it was taken from, which hears who took it', () => {
    world.write(A, 'src/a.ts', 'one\n');
    world.stop(A);
    world.ok(['take', '--', 'src/a.ts'], { session: B });
    const text = refusal(world.write(A, 'src/a.ts', 'two\n'));
    expect(text).toContain('src/a.ts: claude bbbbbbbb took it over from you, and has not committed it.');
    world.stop(B);
    world.ok(['take', '--', 'src/a.ts'], { session: A });
    expect(refusal(world.write(B, 'src/a.ts', 'three\n'))).toContain('claude aaaaaaaa took it over from you');
    expect(world.write(A, 'src/a.ts', 'four\n').kind).not.toBe('deny');
  });

  it('is not edited where `.git` is a file that names a relative path', () => {
    renameSync(join(world.path, '.git'), join(world.root, 'elsewhere.git'));
    writeFileSync(join(world.path, '.git'), 'gitdir: ../elsewhere.git\n');
    const below = join(world.path, 'src');
    world.write(A, 'a.ts', 'one\n', below);
    expect(refusal(world.write(B, 'a.ts', 'two\n', below))).toContain('claude aaaaaaaa changed it');
  });

  it('is not edited if its name is pathspec magic', () => {
    world.write(A, ':(top)x.md', 'one\n');
    expect(refusal(world.write(B, ':(top)x.md', 'two\n'))).toContain('claude aaaaaaaa changed it');
  });

  it('blocks what is done to its folder, but not to a folder whose name begins alike', () => {
    world.write(A, 'src-old/x.ts', 'one\n');
    expect(world.may(B, 'mv src moved').kind).toBe('silent');
    expect(refusal(world.may(B, 'mv src-old moved'))).toContain('src-old/x.ts');
  });

  it('causes a warning or nothing, as handoff.contention says', () => {
    world.write(A, 'src/a.ts', 'one\n');
    world.git(['config', 'handoff.contention', 'warn']);
    expect(contextText(world.write(B, 'src/a.ts', 'two\n'))).toContain('claude aaaaaaaa changed it');
    world.git(['config', 'handoff.contention', 'off']);
    expect(world.write(C, 'src/a.ts', 'three\n').kind).toBe('silent');
  });
});

describe('a file that a session left uncommitted when it ended', () => {
  beforeEach(() => {
    world.begin(C);
    world.write(A, 'src/a.ts', 'of A\n');
    world.end(A);
  });

  it('is kept before it is overwritten, and the session that overwrites it hears once whose it was', () => {
    const text = contextText(world.write(B, 'src/a.ts', 'of B\n'));
    expect(text).toBe(
      'git-handoff: src/a.ts: uncommitted work of claude aaaaaaaa, no longer at work here. It was saved before your change: git handoff rescue show 1',
    );
    expect(world.ok(['rescue', 'show', '--raw', '1'])).toBe('of A');
    expect(world.ok(['rescue', 'list'])).toContain('before Write (claude bbbbbbbb)');
    expect(contextText(world.write(B, 'src/a.ts', 'of B again\n'))).toBe('');
    expect(world.handoff(['rescue', 'show', '2']).status).toBe(1);
  });

  it('is kept before a command overwrites it, too', () => {
    const { before } = world.bash(B, 'echo of B >src/a.ts');
    expect(contextText(before)).toContain('git handoff rescue show 1');
    expect(world.ok(['rescue', 'show', '--raw', '1'])).toBe('of A');
  });

  it('is anybody’s to change once it is committed', () => {
    world.git(['commit', '-qam', 'by hand']);
    expect(world.write(B, 'src/a.ts', 'of B\n').kind).toBe('silent');
  });

  it('is reported as not kept if it exceeds the limits', () => {
    world.git(['config', 'handoff.rescue.maxSize', '1']);
    expect(contextText(world.write(B, 'src/a.ts', 'of B\n'))).toContain('It could not be saved.');
  });
});

it('uninstall is refused to a session beside others; it may see the plan', () => {
  const { stderr } = world.handoff(['uninstall', '--yes'], { session: A });
  expect(stderr).toBe(
    'error: nothing would protect the work of claude bbbbbbbb any more\nhint: ask the user to type: git handoff uninstall\n',
  );
  expect(world.handoff(['uninstall', '--diff'], { session: A }).status).toBe(0);
  expect(world.git(['config', 'handoff.enabled'])).toBe('true');
});

it('uninstall says who is still at work', () => {
  world.end(B);
  const { stderr } = world.handoff(['uninstall']);
  expect(stderr).toContain('still at work here, without git-handoff from now on: claude aaaaaaaa');
  expect(stderr).not.toContain('bbbbbbbb');
});

describe('names that steer', () => {
  it.each([
    'new\nline.txt',
    "it's.txt",
    '-rf',
    'a b.txt',
    '\u001b[31mred.txt',
    'ünïcode.txt',
    '*.ts',
    '$(id).txt',
  ])('are guarded as they are: %j', (name) => {
    world.write(A, name, 'one\n');
    world.stop(A);
    const text = refusal(world.write(B, name, 'two\n'));
    // eslint-disable-next-line no-control-regex -- the text must contain none of these
    expect(text).not.toMatch(/[\u0000-\u001f\u007f]/);
    const command = /git handoff take .*$/.exec(text)?.[0] ?? '';
    expect(world.bash(B, command).run).toMatchObject({ status: 0 });
    expect(world.write(B, name, 'two\n').kind).toBe('silent');
  });
});

describe('commands over the whole tree', () => {
  const carry = [
    'git switch -c other',
    'git checkout -b other',
    'git checkout other',
    'git switch other',
    'git stash',
    'git stash push -u',
    'git stash -m x',
    'git -C src stash',
  ];
  const destroy = [
    'git reset --hard',
    'git reset --hard HEAD~0',
    'git checkout -f other',
    'git checkout -- .',
    'git checkout .',
    'git restore .',
    'git restore src',
    'git checkout HEAD -- src/a.ts',
    'git switch -f other',
    'git clean -fd',
    'cd src && git restore a.ts',
  ];

  beforeEach(() => {
    world.git(['branch', 'other']);
    world.write(A, 'src/a.ts', 'one\n');
    world.write(A, 'new.txt', 'one\n');
    world.write(B, 'src/b.ts', 'two\n');
  });

  it.each([...carry, ...destroy])('%s is refused with the paths and their owner', (command) => {
    const text = refusal(world.may(B, command));
    expect(text).toContain('claude aaaaaaaa');
    expect(text).toMatch(/src\/a\.ts|new\.txt/);
    expect(text).not.toContain('src/b.ts,');
  });

  it.each([
    'git stash push -- src/b.ts',
    'git restore src/b.ts',
    'git checkout -- src/b.ts',
    'git switch main',
    'git checkout',
    'git reset',
    'git reset --soft HEAD',
    'git stash list',
    'git clean -n',
    'git branch x',
    'git status',
    'git restore --staged .',
    'git worktree add -b mine ../mine',
  ])('%s leaves the others alone and is allowed', (command) => {
    expect(world.may(B, command).kind).toBe('silent');
  });

  it.each(['git clean -fd', 'git checkout-index -f -a'])(
    '%s reaches only what is in the folder where it is typed',
    (command) => {
      const [src, lib] = [`${world.path}/src`, `${world.path}/lib`];
      mkdirSync(lib);
      world.write(A, 'src/new.ts', 'one\n');
      expect(refusal(world.may(B, command, src))).toMatch(/work of claude aaaaaaaa: src\/(?:new|a)\.ts\./);
      expect(world.may(B, command, lib).kind).toBe('silent');
    },
  );

  it('come with a command that does the same for the session’s own files, and works', () => {
    const stash = /git stash push .*$/.exec(refusal(world.may(B, 'git stash')))?.[0] ?? '';
    expect(world.bash(B, stash).run).toMatchObject({ status: 0 });
    expect(world.status()).toEqual([' M src/a.ts', '?? new.txt']);
    world.git(['stash', 'pop', '-q']);
    world.wrote(B, 'src/b.ts', 'two\n');
    const undo = /git restore .*$/.exec(refusal(world.may(B, 'git reset --hard')))?.[0] ?? '';
    expect(world.bash(B, undo).run).toMatchObject({ status: 0 });
    expect(world.status()).toEqual([' M src/a.ts', '?? new.txt']);
    const tree = /git worktree add .*$/.exec(refusal(world.may(B, 'git switch other')))?.[0] ?? '';
    expect(world.bash(B, tree).run).toMatchObject({ status: 0 });
    expect(world.git(['branch', '--show-current'], { cwd: `${world.root}/other` })).toBe('other');
  });

  it('are refused through a configured alias, too', () => {
    world.git(['config', 'alias.zap', 'stash push']);
    world.git(['config', '--global', 'alias.Sw', '!git switch']);
    expect(refusal(world.may(B, 'git zap'))).toContain('claude aaaaaaaa');
    expect(refusal(world.may(B, 'git sw -c third'))).toContain('claude aaaaaaaa');
    expect(world.may(B, 'git zap -- src/b.ts').kind).toBe('silent');
  });

  it('are allowed to a session while nobody else has changed anything', () => {
    world.bash(B, 'git restore src/b.ts');
    for (const command of [...carry, ...destroy]) expect(world.may(A, command).kind).not.toBe('deny');
  });

  it('are allowed in another working tree', () => {
    const path = world.worktree('elsewhere');
    expect(world.may(B, 'git stash', path).kind).toBe('silent');
    expect(world.may(B, `git -C ${path} reset --hard`).kind).toBe('silent');
  });
});

describe('a session that works alone', () => {
  it('is never refused and keeps no claims', () => {
    const alone = new SharingWorld();
    try {
      alone.begin(A);
      alone.write(A, 'src/a.ts', 'one\n');
      for (const command of ['git stash', 'git stash pop', 'git switch -c other', 'git reset --hard'])
        expect(alone.bash(A, command).before.kind).toBe('silent');
      expect(alone.claimed(A)).toEqual([]);
    } finally {
      alone.remove();
    }
  });
});

describe('a shell command that reaches into another working tree', () => {
  it.each([
    'git -C ../repository stash',
    'cd ../repository && git stash',
    'git -C ../repository reset --hard',
    'git -C ../repository switch -c zz',
    'echo x > ../repository/src/a.ts',
    'sed -i s/l/L/ ../repository/src/a.ts',
  ])('%s is refused there, by a session that is alone in its own', (command) => {
    const other = new SharingWorld();
    try {
      const path = other.worktree('elsewhere');
      other.begin(A);
      other.write(A, 'src/a.ts', 'one\n');
      other.begin(B, path);
      expect(refusal(other.may(B, command, path))).toContain('claude aaaaaaaa');
      expect(other.may(B, 'git -C ../repository status', path).kind).not.toBe('deny');
    } finally {
      other.remove();
    }
  });
});

describe('a path of another working tree', () => {
  it('is claimed there: the path counts, not where the session works', () => {
    const path = world.worktree('elsewhere');
    world.begin(C, path);
    world.write(C, 'src/a.ts', 'one\n', path);
    // B works in the main tree and names files of the other one.
    const there = '../worktree-elsewhere/src';
    expect(refusal(world.write(B, `${there}/a.ts`, 'two\n'))).toContain('claude cccccccc');
    expect(world.write(B, `${there}/b.ts`, 'two\n').kind).not.toBe('deny');
    expect(refusal(world.write(C, 'src/b.ts', 'three\n', path))).toContain('claude bbbbbbbb');
    expect(world.write(A, 'src/b.ts', 'main\n').kind).toBe('silent');
  });
});
