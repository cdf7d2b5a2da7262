import { chmodSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { typedHints } from '../support/commit-hooks-world.ts';
import { A, B, C, SharingWorld, TEN, contextText } from '../support/sharing-world.ts';

let world: SharingWorld;
/** There is one rescue: A itself threw away its changed `src/a.ts` and its new `lib/new.ts`. */
beforeEach(() => {
  world = new SharingWorld({ files: { '.gitignore': '*.log\n' }, ready: [A] });
  writeFileSync(join(world.path, 'src/a.ts'), 'WIP a\n');
  mkdirSync(join(world.path, 'lib'));
  writeFileSync(join(world.path, 'lib/new.ts'), 'WIP new\n');
  writeFileSync(join(world.path, 'trace.log'), 'ignored\n');
  world.bash(A, 'git reset -q --hard && git clean -qfd');
});

const restore = (...words: string[]) => world.handoff(['rescue', 'restore', ...words]);
const put = (path: string, content: string) => writeFileSync(join(world.path, path), content);

describe('git handoff rescue restore', () => {
  it('brings back one file, a folder, or all, from any folder', () => {
    expect(restore('1', '--', 'lib').status).toBe(0);
    expect([world.read('lib/new.ts'), world.read('src/a.ts')]).toEqual(['WIP new\n', TEN]);
    const below = world.handoff(['rescue', 'restore', '--', 'a.ts'], { cwd: join(world.path, 'src') });
    expect(below.status, below.stderr).toBe(0);
    expect(world.read('src/a.ts')).toBe('WIP a\n');
    expect(restore('1').stdout).toContain('src/a.ts was there already');
  });

  it('brings back a file that only its owner may read with that mode', () => {
    const modes = { 'secret.env': 0o600, 'tool.sh': 0o700, 'plain.txt': 0o644, 'run.sh': 0o755 };
    for (const [name, mode] of Object.entries(modes)) {
      put(name, `${name}\n`);
      chmodSync(join(world.path, name), mode);
    }
    world.bash(A, 'git clean -qfd');
    expect(restore('2').status).toBe(0);
    for (const [name, mode] of Object.entries(modes)) {
      const isPrivate = (mode & 0o077) === 0;
      const back = statSync(join(world.path, name)).mode & 0o777;
      expect(isPrivate ? back : (back & 0o700) | 0o044, name).toBe(isPrivate ? mode : (mode & 0o700) | 0o044);
    }
  });

  it('overwrites nothing uncommitted except with --force, and then keeps it first', () => {
    put('src/a.ts', 'later\n');
    const refused = restore('1');
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('src/a.ts');
    expect(existsSync(join(world.path, 'lib/new.ts')), 'all or none').toBe(false);
    const hint = /git handoff (rescue restore --force \d+)/.exec(refused.stderr)?.[1] ?? '';
    const forced = world.handoff(hint.split(' '));
    expect(forced.status, forced.stderr).toBe(0);
    expect(world.read('src/a.ts')).toBe('WIP a\n');
    const back = /rescue restore --force (\d+)/.exec(forced.stdout)?.[1] ?? '';
    expect(restore('--force', back).status).toBe(0);
    expect(world.read('src/a.ts')).toBe('later\n');
  });

  it('overwrites no untracked or ignored file', () => {
    writeFileSync(join(world.path, 'trace.log'), 'x');
    world.ok(['rescue', 'restore', '1', '--', 'lib/new.ts']);
    put('lib/new.ts', 'mine\n');
    expect(restore('1', '--', 'lib/new.ts').status).toBe(1);
    put('.gitignore', '*.log\nlib/\n');
    expect(restore('1', '--', 'lib/new.ts').status).toBe(1);
    expect(restore('1', '--force', '--', 'lib/new.ts').status).toBe(0);
    expect(world.read('lib/new.ts')).toBe('WIP new\n');
    expect(world.handoff(['rescue', 'show', '--raw', '2']).stdout).toBe('mine\n');
  });

  it('keeps first what is in a file that git ignores and no longer tracks', () => {
    world.git(['rm', '-q', '--cached', 'src/a.ts']);
    put('.gitignore', 'src/a.ts\n');
    put('src/a.ts', 'mine\n');
    expect(restore('1', '--force', '--', 'src/a.ts').status).toBe(0);
    expect(world.read('src/a.ts')).toBe('WIP a\n');
    expect(world.handoff(['rescue', 'show', '--raw', '2']).stdout).toBe('mine\n');
  });

  it('never writes out of the tree through a link, or in the place of a folder', () => {
    const outside = join(world.path, '..', 'outside');
    mkdirSync(outside, { recursive: true });
    symlinkSync(outside, join(world.path, 'lib'));
    expect(restore('1', '--force').status).toBe(1);
    expect(existsSync(join(outside, 'new.ts'))).toBe(false);
    rmSync(join(world.path, 'lib'));
    mkdirSync(join(world.path, 'lib/new.ts'), { recursive: true });
    expect(restore('1', '--force').stderr).toContain('is a folder');
    expect(world.read('src/a.ts')).toBe(TEN);
    rmSync(join(world.path, 'lib'), { recursive: true });
    put('lib', 'a file');
    expect(restore('1').stderr).toContain('is not a folder');
  });

  it('says, in any folder, how to see what it cannot bring back', () => {
    const cwd = join(world.path, 'src');
    put('lib', 'a file');
    const { stderr } = world.handoff(['rescue', 'restore', '1'], { cwd });
    expect(world.run('sh', ['-c', typedHints(stderr)[0] ?? ''], { cwd }).stdout).toBe('WIP new\n');
    rmSync(join(world.path, 'lib'));
    mkdirSync(join(world.path, 'lib'));
    put('lib/new.ts', 'x'.repeat(11 << 20));
    const refused = world.handoff(['rescue', 'restore', '--force', '1'], { cwd });
    expect(world.run('sh', ['-c', typedHints(refused.stderr)[0] ?? ''], { cwd }).status).toBe(0);
    expect(world.handoff(['rescue', 'restore', '1'], { cwd }).status).toBe(0);
  });

  it('notices that the same bytes are there already, whatever git would store', () => {
    world.git(['config', 'core.autocrlf', 'true']);
    put('src/a.ts', 'one\r\n');
    put('new.ts', 'two\r\n');
    world.bash(A, 'git checkout -q -- src/a.ts && rm new.ts');
    for (let times = 0; times < 2; times++) expect(restore('2').status).toBe(0);
    expect(restore('2').stdout).toContain('new.ts was there already');
  });

  it.each(['sha1', 'sha256'] as const)(
    'notices that a link is there already, with %s names',
    (objectFormat) => {
      world = new SharingWorld({ objectFormat, ready: [A] });
      symlinkSync('src/a.ts', join(world.path, 'link'));
      world.bash(A, 'git clean -qfd');
      expect(restore('1').status).toBe(0);
      expect(restore('1').stdout).toContain('link was there already');
    },
  );

  it('replaces any number of files that are as in HEAD', () => {
    const names = Array.from({ length: 520 }, (_, n) => `many-${n}.ts`);
    world.commit('many', Object.fromEntries(names.map((name) => [name, 'HEAD\n'])));
    for (const name of names) put(name, 'WIP\n');
    world.bash(A, 'git reset -q --hard');
    expect(restore('2').status).toBe(0);
    expect(new Set(names.map((name) => world.read(name)))).toEqual(new Set(['WIP\n']));
  });

  it('never overwrites another live session’s uncommitted change, even with --force', () => {
    world.begin(B);
    world.write(A, 'src/a.ts', "A's\n");
    const refused = world.handoff(['rescue', 'restore', '--force', '1'], { session: B });
    expect(refused.status).toBe(3);
    expect(refused.stderr).toContain('aaaaaaaa');
    expect(refused.stderr).toContain('hint: git handoff status');
    expect(world.read('src/a.ts')).toBe("A's\n");
  });

  it('gives what came back to the session that it was taken from, if that is at work', () => {
    world.begin(B);
    expect(world.handoff(['rescue', 'restore', '1'], { session: B }).status).toBe(0);
    const { stdout } = world.handoff(['status', '--json']);
    const { items } = JSON.parse(stdout) as { items: { path: string; owner: string }[] };
    expect(items.map(({ path, owner }) => [path, owner])).toEqual([
      ['lib/new.ts', A],
      ['src/a.ts', A],
    ]);
  });

  it('says so if HEAD has moved, since the whole file comes back', () => {
    world.commit('later', { 'src/b.ts': 'x\n' });
    expect(restore('1').stderr).toContain('HEAD has moved');
  });

  it('finds by session, by path and by age, and says if there is nothing', () => {
    world.begin(B);
    world.write(B, 'src/b.ts', "B's\n");
    world.bash(B, 'git checkout -q -- src/b.ts');
    const list = (...words: string[]) =>
      (
        JSON.parse(world.handoff(['rescue', 'list', '--json', ...words]).stdout) as {
          items: { number: number }[];
        }
      ).items.map(({ number }) => number);
    expect(list()).toEqual([2, 1]);
    expect(world.ok(['rescue', 'list'])).toContain('before git checkout -q -- src/b.ts (claude bbbbbbbb)');
    expect(world.ok(['rescue', 'show', '2'])).toContain('== src/b.ts (4 bytes, claude bbbbbbbb)');
    expect(list('bbbb')).toEqual([2]);
    expect(list('aaaaaaaa')).toEqual([1]);
    expect(list('--', 'src')).toEqual([2, 1]);
    expect(list('--', 'lib/new.ts')).toEqual([1]);
    expect(world.ok(['rescue', 'list', 'cccccccc'])).toBe('nothing to bring back');
    expect(restore('cccccccc').stderr).toContain('git handoff rescue list');
    expect(restore().status).toBe(2);
    expect(restore('1', '2').status).toBe(2);
    expect(world.handoff(['rescue', 'show', '--', '../outside']).status).toBe(2);
  });
});

describe('the limits of rescues', () => {
  it('remove the oldest; one always stays', () => {
    world.git(['config', 'handoff.rescue.maxCount', '2']);
    for (const text of ['one', 'two', 'three']) {
      put('src/a.ts', `${text}\n`);
      world.bash(A, 'git checkout -q -- src/a.ts');
    }
    const numbers = () =>
      world.git(['for-each-ref', '--format=%(refname:lstrip=-1)', 'refs/handoffs-local/rescue']);
    expect(numbers().split('\n')).toEqual(['3', '4']);
    world.git(['config', 'handoff.rescue.maxSize', '8']);
    put('src/a.ts', 'four\n');
    world.bash(A, 'git checkout -q -- src/a.ts');
    expect(numbers()).toBe('5');
    // A file that alone exceeds the limit for all rescues is not kept, and the session is told so.
    put('src/a.ts', 'more than eight bytes\n');
    expect(contextText(world.may(A, 'git checkout -q -- src/a.ts'))).toContain('src/a.ts (too big)');
    expect(numbers()).toBe('5');
  });

  it('allow one numbering for the repository: a number identifies a rescue, whichever worktree made it', () => {
    const second = world.worktree('second');
    world.begin(C, second);
    writeFileSync(join(second, 'src/a.ts'), 'second\n');
    world.bash(C, 'git checkout -q -- src/a.ts', { cwd: second });
    const refs = world.git(['for-each-ref', '--format=%(refname)', 'refs/handoffs-local/rescue']).split('\n');
    expect(refs.map((ref) => ref.slice(ref.lastIndexOf('/') + 1)).sort()).toEqual(['1', '2']);
    expect(new Set(refs.map((ref) => ref.split('/')[3])).size).toBe(2);
    expect(world.handoff(['rescue', 'show', '--raw', '2']).stdout).toBe('second\n');
  });
});
