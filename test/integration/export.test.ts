import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readExported } from '../../src/domain/formats/texts.ts';
import { PredecessorWorld } from '../support/predecessors.ts';

const [a, b] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
const NOTE = '# Goal\r\n\r\nShip — it\n\nNo line end';
let world: PredecessorWorld;
beforeAll(() => {
  world = new PredecessorWorld();
  world.ok(['write', 'auth-refresh'], { session: a, input: NOTE });
});
afterAll(() => world.remove());

const text = (name: string) => readFileSync(join(world.path, name), 'utf8');
const exported = (...args: string[]) => world.handoff(['export', ...args], { session: a });

describe('an exported copy', () => {
  it('goes to standard output unless a file is named, and begins by saying what it is', () => {
    const oid = world.ref('refs/handoffs/main/auth-refresh');
    const before = world.git(['status', '--porcelain']);
    for (const args of [[], ['auth-refresh'], ['main/auth-refresh', '-o', '-']]) {
      const { stdout, status } = exported(...args);
      expect(status).toBe(0);
      expect(stdout).toMatch(
        /^<!-- git-handoff: a copy of main\/auth-refresh at [0-9a-f]{40,64}\. .* -->\n# Goal\r\n/,
      );
      expect(stdout.slice(stdout.indexOf('\n') + 1)).toBe(NOTE);
      expect(readExported(stdout)?.oid).toBe(oid);
    }
    expect(world.git(['status', '--porcelain'])).toBe(before);
    const answer = world.json(['export']);
    expect(answer).toMatchObject({ items: [{ file: null, format: 'markdown', oid }] });
    expect(String(answer['note']).endsWith(NOTE)).toBe(true);
  });

  it('has the owner on line 1 for claude-handoff-guard, and a Metadata section for handover', () => {
    expect(exported('--format', 'guard').stdout).toMatch(
      /^<!-- claude-session: aaaaaaaa-1111 --> <!-- git-handoff: a copy /,
    );
    const handover = exported('--format', 'handover').stdout;
    const head = world.git(['rev-parse', 'HEAD']);
    expect(handover).toContain(`## Metadata\n\n- Updated: `);
    expect(handover).toContain(`\n- Branch: main\n- HEAD: ${head}\n`);
    expect(handover.endsWith(`<!-- git-handoff: the note begins -->\n${NOTE}`)).toBe(true);
  });

  it('of nothing is an error', () => {
    expect(exported('no-such').status).toBe(1);
    expect(exported('--format', 'nope').status).toBe(2);
  });
});

describe('a file that is written', () => {
  it('is replaced by a later copy, and left alone when it is up to date', () => {
    expect(exported('-o', 'copy.md').stdout).toBe('copy.md  written  main/auth-refresh\n');
    const { ino } = lstatSync(join(world.path, 'copy.md'));
    expect(exported('-o', 'copy.md').stdout).toBe('copy.md  up to date  main/auth-refresh\n');
    expect(lstatSync(join(world.path, 'copy.md')).ino).toBe(ino);
    world.ok(['write', 'auth-refresh', '-m', 'second'], { session: a });
    // An unchanged copy may be replaced even by one in another format.
    expect(exported('-o', 'copy.md', '--format', 'handover').status).toBe(0);
    expect(text('copy.md')).toMatch(/second\n$/);
    expect(readdirSync(world.path).filter((name) => name.includes('git-handoff'))).toEqual([]);
  });

  it('is not replaced if somebody has changed it, unless forced', () => {
    exported('-o', 'edited.md');
    appendFileSync(join(world.path, 'edited.md'), 'by hand\n');
    const { status, stderr } = exported('-o', 'edited.md');
    expect(status).toBe(1);
    expect(stderr).toContain('edited.md was changed since it was exported');
    expect(stderr).toContain('hint: git handoff import --dry-run -- edited.md\n');
    expect(text('edited.md')).toMatch(/by hand\n$/);
    expect(exported('-o', 'edited.md', '--force').status).toBe(0);
    expect(text('edited.md')).not.toContain('by hand');
  });

  it('is not replaced if it is something else; the hint works', () => {
    writeFileSync(join(world.path, 'other.md'), 'mine\n');
    const { status, stderr } = exported('-o', 'other.md');
    expect(status).toBe(1);
    const hint = /^hint: git handoff (.*)$/m.exec(stderr)?.[1] ?? '';
    expect(text('other.md')).toBe('mine\n');
    expect(world.handoff(hint.split(' '), { session: a }).status).toBe(0);
    expect(readExported(text('other.md'))).toBeDefined();
  });

  it('is not replaced if it is a copy of another handoff', () => {
    world.ok(['write', 'other-topic', '-m', 'x'], { session: a });
    exported('other-topic', '-o', 'taken.md');
    expect(exported('auth-refresh', '-o', 'taken.md').status).toBe(1);
  });

  it("is never another session's handoff file", () => {
    const theirs = `<!-- claude-session: ${b} -->\ntheirs\n`;
    writeFileSync(join(world.path, 'handoff-main-auth-refresh.md'), theirs);
    const { status, stderr } = exported(
      'auth-refresh',
      '--format',
      'guard',
      '--force',
      '-o',
      'handoff-main-auth-refresh.md',
    );
    expect(status).toBe(3);
    expect(stderr).toContain('is a handoff file of session bbbbbbbb');
    expect(text('handoff-main-auth-refresh.md')).toBe(theirs);
  });
});

describe('a path that leads elsewhere', () => {
  it.each<[string, string, RegExp, () => void]>([
    ['a link', 'link.md', /symbolic link/, () => symlinkSync('/etc/passwd', join(world.path, 'link.md'))],
    [
      'a dangling link',
      'dangling.md',
      /symbolic link/,
      () => symlinkSync(join(world.root, 'x'), join(world.path, 'dangling.md')),
    ],
    ['a folder', 'folder', /it is a folder/, () => mkdirSync(join(world.path, 'folder'))],
    ['a folder by its slash', 'folder/', /is a folder/, () => undefined],
    ['a FIFO', 'pipe', /not a regular file/, () => void world.run('mkfifo', [join(world.path, 'pipe')])],
    [
      'a folder that is a link',
      'linked/x.md',
      /a symbolic link is on the way there/,
      () => symlinkSync(world.root, join(world.path, 'linked')),
    ],
    ["git's own folder", '.git/x.md', /git's own folder/, () => undefined],
    ['nowhere', 'no/such/x.md', /there is no folder/, () => undefined],
  ])('is refused: %s', (_, path, why, make) => {
    make();
    const before = readdirSync(world.root);
    const { status, stderr } = exported('auth-refresh', '--force', '-o', path);
    expect([1, 2]).toContain(status);
    expect(stderr).toMatch(why);
    expect(readdirSync(world.root)).toEqual(before);
  });
});

describe('export and import', () => {
  it("is never in git's own folder: of a bare repository, or of the main working tree", () => {
    const bare = new PredecessorWorld({ bare: true });
    bare.ok(['write', 'main/auth-refresh', '-m', 'x'], { session: a });
    const config = readFileSync(join(bare.path, 'config'), 'utf8');
    for (const name of ['config', 'objects/x', join(bare.path, 'hooks', 'x')]) {
      const said = bare.handoff(['export', 'main/auth-refresh', '--force', '-o', name], { session: a });
      expect([said.status, said.stderr]).toEqual([1, expect.stringMatching(/git's own folder/)]);
    }
    expect(readFileSync(join(bare.path, 'config'), 'utf8')).toBe(config);
    bare.remove();
    const linked = join(world.root, 'linked');
    world.git(['worktree', 'add', '-q', '--detach', linked]);
    const file = join(world.path, '.git', 'config');
    const said = world.handoff(['export', 'main/auth-refresh', '--force', '-o', file], { cwd: linked });
    expect([said.status, said.stderr]).toEqual([1, expect.stringMatching(/git's own folder/)]);
  });

  it.each(['markdown', 'guard', 'handover'])('are a round trip: %s', (format) => {
    const from = new PredecessorWorld();
    const to = new PredecessorWorld();
    const bytes = Buffer.from([0x23, 0x20, 0xff, 0x00, 0x0d, 0x0a, 0x62]);
    from.handoff(['write', 'auth-refresh'], { session: a, input: bytes });
    const file = join(to.root, 'copy.md');
    from.ok(['export', '--format', format, '-o', file], { session: a });
    expect(to.imported([file], b)).toEqual({
      'copy.md': `create main/auth-refresh ${format === 'guard' ? a : b} open`,
    });
    expect(to.handoff(['show', 'auth-refresh', '--raw']).bytes.equals(bytes)).toBe(true);
    expect(from.imported([file], b)).toEqual({ 'copy.md': `unchanged main/auth-refresh ${a} open` });
    from.remove();
    to.remove();
  });

  it('bring back an edited copy as the next version if the note has not changed since', () => {
    const repo = new PredecessorWorld();
    repo.ok(['write', 'auth-refresh', '-m', 'first'], { session: a });
    repo.ok(['export', '-o', 'copy.md'], { session: a });
    appendFileSync(join(repo.path, 'copy.md'), 'edited\n');
    expect(repo.handoff(['import', 'copy.md'], { session: b }).stderr).toContain(
      'git handoff take main/auth-refresh',
    );
    expect(repo.imported(['copy.md'], a)).toEqual({ 'copy.md': `update main/auth-refresh ${a} open` });
    expect(repo.ok(['show', '--raw'])).toBe('first\nedited');
    repo.ok(['write', 'auth-refresh', '-m', 'second'], { session: a });
    appendFileSync(join(repo.path, 'copy.md'), 'again\n');
    expect(repo.imported(['copy.md'], a)).toEqual({ 'copy.md': `create main/auth-refresh-2 ${a} open` });
    repo.remove();
  });
});
