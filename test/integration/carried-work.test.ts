import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, TEN } from '../support/sharing-world.ts';
import { TestRepository } from '../support/repository.ts';

/** Not a real token. */
const SECRET = `ghp_1a2B3c4D5e6F7g8H9i0J1a2B3c4D5e6F7g8H`;

const TOPIC = 'half-done';
const changed = (text: string, line: number, by: string) =>
  text.replace(`line ${line}\n`, `line ${line} by ${by}\n`);

let world: TestRepository;
afterEach(() => world.remove());

const put = (path: string, content: string, at = world) => {
  mkdirSync(join(at.path, path, '..'), { recursive: true });
  writeFileSync(join(at.path, path), content);
};
const read = (path: string, at = world) => readFileSync(join(at.path, path), 'utf8');
const write = (...words: string[]) => world.handoff(['write', TOPIC, '-m', 'half', '--with-work', ...words]);
const clean = (at = world) => {
  at.git(['reset', '-q', '--hard']);
  at.git(['clean', '-qfdx']);
};
const status = (at = world) => at.git(['status', '--porcelain']).split('\n').filter(Boolean);
const objects = () => world.git(['cat-file', '--batch-all-objects', '--batch-check']);

describe('a person’s work', () => {
  beforeEach(() => {
    world = new TestRepository();
    world.commit('files', { 'b.txt': TEN, 'dir/c.txt': TEN });
  });

  it('comes back as it was, staged or not', () => {
    put('a.txt', 'staged\n');
    world.git(['add', 'a.txt']);
    put('a.txt', 'on disk\n');
    rmSync(join(world.path, 'b.txt'));
    expect(write()).toMatchObject({ status: 0 });
    const before = status();
    clean();
    expect(world.handoff(['unpack', TOPIC])).toMatchObject({ status: 0 });
    expect(status()).toEqual(before);
    expect(world.git(['show', ':a.txt'])).toBe('staged');
    expect(read('a.txt')).toBe('on disk\n');
    expect(world.handoff(['unpack'])).toMatchObject({ status: 0 });
  });

  it('includes untracked files only if named, and says which it left out', () => {
    put('a.txt', 'x\n');
    put('new.txt', 'n\n');
    expect(write().stderr).toContain('not carried: new.txt; name a path after -- to carry it, too');
    clean();
    world.ok(['unpack', TOPIC]);
    expect(existsSync(join(world.path, 'new.txt'))).toBe(false);
    put('new.txt', 'n\n');
    expect(write('--', 'new.txt')).toMatchObject({ status: 0 });
    clean();
    world.ok(['unpack', TOPIC]);
    expect(status()).toEqual(['?? new.txt']);
  });

  it('leaves out a nested repository, even if named, and says so', () => {
    put('a.txt', 'x\n');
    world.git(['init', '-q', 'nest']);
    put('nest/inner.txt', 'x\n');
    const run = write('--', '.');
    expect(run).toMatchObject({ status: 0 });
    expect(run.stderr).toContain('not carried: nest/: a note cannot carry other repositories');
    expect(run.stderr).not.toContain('name a path after --');
  });

  it('has no list of paths without --with-work', () => {
    const run = world.handoff(['write', TOPIC, '-m', 'half', '--pathspec-from-file', 'nowhere']);
    expect(run).toMatchObject({ status: 2 });
    expect(world.refs('refs/handoffs')).toEqual([]);
  });

  it('is empty if nothing is uncommitted: the note is written and says so', () => {
    const run = write();
    expect(run).toMatchObject({ status: 0 });
    expect(run.stderr).toContain('the note carries no work: no uncommitted change is yours');
    expect(world.handoff(['unpack', TOPIC])).toMatchObject({ status: 1 });
  });

  it.each([
    { what: 'an uncommitted change', path: 'a.txt', why: 'has uncommitted changes' },
    { what: 'an untracked file', path: 'new.txt', why: 'is here already' },
    { what: 'an ignored file', path: 'new.txt', why: 'is here already', ignored: true },
  ])('stops before $what, and changes nothing', ({ path, why, ignored = false }) => {
    put('a.txt', 'x\n');
    put('b.txt', 'y\n');
    put('new.txt', 'n\n');
    write('--', '.');
    clean();
    if (ignored) put('.git/info/exclude', 'new.txt\n');
    put(path, 'mine\n');
    const before = status();
    const run = world.handoff(['unpack', TOPIC]);
    expect(run).toMatchObject({ status: 1 });
    expect(run.stderr).toContain(`${path} ${why}; nothing was changed`);
    expect([read(path), status()]).toEqual(['mine\n', before]);
  });

  it('cannot be sent for a note without work: the hint writes the note again with it', () => {
    world.ok(['write', TOPIC, '-m', 'half']);
    world.git(['remote', 'add', 'origin', '.']);
    const { stderr } = world.handoff(['sync', '--push', '--with-work', TOPIC]);
    const [, hint = ''] = /^hint: (.*)$/m.exec(stderr) ?? [];
    expect(hint).toMatch(/^git handoff show .* --raw \| git handoff write .* --with-work --file -$/);
    put('b.txt', 'x\n');
    expect(world.run('sh', ['-c', hint])).toMatchObject({ status: 0 });
    expect(world.ok(['show', TOPIC, '--raw'])).toBe('half');
  });

  it('stops before a file that git was told not to look at', () => {
    put('a.txt', 'x\n');
    write();
    clean();
    world.git(['update-index', '--assume-unchanged', 'a.txt']);
    put('a.txt', 'hidden\n');
    expect(world.handoff(['unpack', TOPIC])).toMatchObject({ status: 1 });
    expect(read('a.txt')).toBe('hidden\n');
  });

  it('names every path that is in the way', () => {
    put('a.txt', 'x\n');
    put('b.txt', 'y\n');
    write();
    clean();
    put('a.txt', 'mine\n');
    put('b.txt', 'mine\n');
    const { stderr } = world.handoff(['unpack', TOPIC]);
    expect(stderr).toContain('a.txt has uncommitted changes; b.txt has uncommitted changes');
  });

  it('merges with what HEAD has gained, and stops at a conflict unless markers are asked for', () => {
    put('b.txt', changed(TEN, 1, 'work'));
    write();
    clean();
    world.commit('elsewhere', { 'b.txt': changed(TEN, 9, 'HEAD') });
    world.ok(['unpack', TOPIC]);
    expect(read('b.txt')).toBe(changed(changed(TEN, 9, 'HEAD'), 1, 'work'));
    clean();
    world.commit('the same line', { 'b.txt': changed(TEN, 1, 'HEAD') });
    const refused = world.handoff(['unpack', TOPIC]);
    expect(refused).toMatchObject({ status: 1 });
    expect(refused.stderr).toContain('hint: git handoff unpack main/half-done --merge');
    expect(status()).toEqual([]);
    world.ok(['unpack', TOPIC, '--merge']);
    expect(read('b.txt')).toContain(
      '<<<<<<< HEAD\nline 1 by HEAD\n=======\nline 1 by work\n>>>>>>> work of Ada\n',
    );
  });

  it('offers conflict markers only where they can help, else a worktree where it can be unpacked', () => {
    put('a.txt', 'v1\n');
    world.commit('a', { 'a.txt': 'one\n' });
    put('a.txt', 'mine\n');
    write();
    clean();
    world.git(['rm', '-q', 'a.txt']);
    world.git(['commit', '-qm', 'gone']);
    world.ok(['write', TOPIC, '-m', 'more']);
    const cwd = join(world.path, 'dir');
    for (const words of [[], ['--merge']]) {
      const { status: code, stderr } = world.handoff(['unpack', TOPIC, ...words], { cwd });
      expect(code).toBe(1);
      expect(stderr).toContain('a.txt conflicts with HEAD in a way that markers cannot show');
      const hint = /^hint: git (worktree add .*)$/m.exec(stderr)?.[1] ?? '';
      if (words.length === 0) world.git(hint.split(' '), { cwd });
    }
    const beside = join(world.path, '..', TOPIC);
    expect(world.handoff(['unpack', `main/${TOPIC}`], { cwd: beside })).toMatchObject({ status: 0 });
    expect(status()).toEqual([]);
  });

  it('reports first the obstacles that conflict markers do not solve', () => {
    put('b.txt', changed(TEN, 1, 'work'));
    write();
    clean();
    world.commit('the same line', { 'b.txt': changed(TEN, 1, 'HEAD') });
    put('b.txt', 'mine\n');
    for (const words of [[], ['--merge']]) {
      const { status: code, stderr } = world.handoff(['unpack', TOPIC, ...words]);
      expect(code).toBe(1);
      expect(stderr).toContain('b.txt has uncommitted changes; nothing was changed');
      expect(stderr).toContain('hint: git worktree add');
    }
  });

  it('reports a file that is not checked out', () => {
    put('b.txt', 'mine\n');
    write();
    clean();
    world.git(['sparse-checkout', 'set', '--no-cone', 'dir']);
    expect(world.handoff(['unpack', TOPIC]).stderr).toContain('b.txt is not checked out here');
    expect(existsSync(join(world.path, 'b.txt'))).toBe(false);
  });

  it('stops at a link or another repository in the path', () => {
    put('dir/new.txt', 'n\n');
    write('--', 'dir');
    clean();
    rmSync(join(world.path, 'dir'), { recursive: true });
    symlinkSync(world.home, join(world.path, 'dir'));
    expect(world.handoff(['unpack', TOPIC]).stderr).toContain('dir is not a folder');
    expect(existsSync(join(world.home, 'new.txt'))).toBe(false);
  });

  it('replaces a file by a folder and a folder by a file', () => {
    rmSync(join(world.path, 'dir'), { recursive: true });
    put('dir', 'file\n');
    rmSync(join(world.path, 'b.txt'));
    put('b.txt/inner', 'inner\n');
    write('--', '.');
    const before = status();
    clean();
    world.ok(['unpack', TOPIC]);
    expect(status()).toEqual(before);
  });

  it('may contain a staged file in a folder that replaced a file', () => {
    rmSync(join(world.path, 'b.txt'));
    put('b.txt/inner', 'inner\n');
    world.git(['add', '-A']);
    rmSync(join(world.path, 'b.txt'), { recursive: true });
    write('--', '.');
    const before = status();
    expect(before).toEqual(['D  b.txt', 'AD b.txt/inner']);
    clean();
    world.ok(['unpack', TOPIC]);
    expect(status()).toEqual(before);
  });

  it('includes a file that replaces a folder, when staged', () => {
    rmSync(join(world.path, 'dir'), { recursive: true });
    put('dir', 'a file\n');
    world.git(['add', '-A']);
    expect(write()).toMatchObject({ status: 0 });
    clean();
    world.ok(['unpack', TOPIC]);
    expect(status()).toEqual(['A  dir', 'D  dir/c.txt']);
  });

  it('refuses what looks like a secret with its file and line, and stores nothing of it', () => {
    put('a.txt', `one\ntoken = "${SECRET}"\n`);
    const before = objects();
    const run = write('--', 'a.txt', 'b.txt');
    expect(run).toMatchObject({ status: 1 });
    expect(run.stderr).toContain('a.txt: it looks like it contains a secret (line 2: ');
    expect(run.stderr).not.toContain(SECRET);
    expect(objects()).toBe(before);
    expect(world.refs('refs/handoffs')).toEqual([]);
    const again = / (git handoff write .*? --allow-secret -- a.txt b.txt)\n/.exec(run.stderr)?.[1] ?? '';
    expect(world.run('sh', ['-c', again.replace(/^.*or, if it is not a secret: /, '')])).toMatchObject({
      status: 0,
    });
  });

  it('refuses more than the limit, and stores nothing', () => {
    world.git(['config', 'handoff.maxWork', '1k']);
    put('a.txt', 'x'.repeat(2000));
    const before = objects();
    expect(write().stderr).toContain('at most 1024 bytes (handoff.maxWork)');
    expect(objects()).toBe(before);
  });

  it('is refused with a way out if its ref cannot be created, and the text is kept', () => {
    world.git(['update-ref', `refs/handoffs-local/work/main/${TOPIC}`, 'HEAD']);
    put('a.txt', 'x\n');
    const { status: code, stderr } = write();
    expect(code).toBe(6);
    expect(stderr).toContain('; your text is kept');
    expect(stderr).toContain('hint: git handoff doctor');
    expect(world.refs('refs/handoffs')).toEqual([]);
  });

  it('is dropped when the note is refused', () => {
    world.ok(['write', TOPIC, '-m', 'theirs', '--session', A]);
    put('a.txt', 'x\n');
    expect(write()).toMatchObject({ status: 3 });
    expect(world.refs('refs/handoffs-local/work')).toEqual([]);
  });

  it('stays with its note if another write with the same work is refused', () => {
    put('a.txt', 'x\n');
    // With five turns, at least one write is in the same second as the note before it.
    for (let turn = 0; turn < 5; turn++) {
      write();
      expect(write('--expect', 'none')).toMatchObject({ status: 4 });
      const { work } = world.json(['show', TOPIC]);
      const oid = (work as { oid: string }).oid;
      expect(world.refs('refs/handoffs-local/work')).toContain(
        `refs/handoffs-local/work/main/${TOPIC}/${oid}`,
      );
    }
  });

  it('stays with a note that is taken, continued and reopened', () => {
    put('a.txt', 'x\n');
    write();
    clean();
    world.ok(['take', TOPIC, '--session', A]);
    world.ok(['write', TOPIC, '-m', 'more', '--session', A]);
    const { carried } = world.json(['boot', TOPIC]);
    expect(carried).toMatchObject({ size: '1 path, 8 bytes', unpacks: 'cleanly' });
    world.ok(['unpack', TOPIC]);
    expect(world.json(['boot', TOPIC])['carried']).toMatchObject({ unpacks: 'is there' });
  });
});

describe('work of sessions in one tree', () => {
  let sharing: SharingWorld;
  beforeEach(() => {
    sharing = new SharingWorld({ ready: [A, B] });
    world = sharing;
  });

  it('contains each session’s own files, and its hunks of a file that both changed', () => {
    sharing.write(A, 'src/a.ts', 'A\n');
    sharing.write(B, 'src/b.ts', 'B\n');
    world.git(['config', 'handoff.contention', 'warn']);
    sharing.write(A, 'shared.md', changed(TEN, 1, 'A'));
    sharing.write(B, 'shared.md', changed(changed(TEN, 1, 'A'), 9, 'B'));
    world.ok(['write', TOPIC, '-m', 'half', '--with-work'], { session: A });
    clean();
    world.ok(['unpack', TOPIC], { session: A });
    expect(status()).toEqual([' M shared.md', ' M src/a.ts']);
    expect(read('shared.md')).toBe(changed(TEN, 1, 'A'));
  });

  it('never contains that of another session at work', () => {
    sharing.write(B, 'src/b.ts', 'B\n');
    const run = world.handoff(['write', TOPIC, '-m', 'half', '--with-work', '--', 'src/b.ts'], {
      session: A,
    });
    expect(run).toMatchObject({ status: 3 });
    expect(run.stderr).toContain('hint: git handoff status');
  });

  it('belongs to the session that unpacked it', () => {
    sharing.write(A, 'src/a.ts', 'A\n');
    world.ok(['write', TOPIC, '-m', 'half', '--with-work'], { session: A });
    clean();
    world.ok(['unpack', TOPIC], { session: B });
    expect(world.handoff(['commit', '-m', 'done'], { session: B })).toMatchObject({ status: 0 });
    expect(world.git(['log', '-1', '--format=%(trailers:key=Claude-Session-Id,valueonly)'])).toContain(B);
    expect(status()).toEqual([]);
  });

  it('stays its owner’s if it is still there when another session unpacks it', () => {
    sharing.write(A, 'src/a.ts', 'A\n');
    sharing.write(B, 'src/b.ts', 'B\n');
    world.ok(['write', TOPIC, '-m', 'half', '--with-work'], { session: A });
    const run = world.handoff(['unpack', TOPIC], { session: B });
    expect(run).toMatchObject({ status: 0 });
    expect(run.stderr).toContain('is here already, and still belongs to claude aaaaaaaa\n');
    expect(sharing.write(A, 'src/a.ts', 'A and more\n')).toMatchObject({ kind: 'silent' });
    expect(sharing.claimed(B)).toEqual(['src/b.ts']);
  });
});

describe('work on its way', () => {
  let server: TestRepository;
  let away: TestRepository;
  beforeEach(() => {
    server = new TestRepository({ bare: true, folder: 'server.git' });
    world = new TestRepository();
    world.git(['remote', 'add', 'origin', server.path]);
    world.git(['push', '-qf', 'origin', 'main']);
  });
  afterEach(() => {
    for (const one of [server, away]) one.remove();
  });
  const cloneFor = (person: string) => {
    away = new TestRepository({ cloneOf: { url: server.path, words: ['--no-local'] }, person });
  };
  const sendWork = () => {
    put('a.txt', 'x\n');
    write('--', '.');
    return world.ok(['sync', '--push', '--with-work', TOPIC]);
  };

  it('is sent only on request, and fetched only by unpack', () => {
    put('a.txt', 'x\n');
    write();
    const pushed = world.handoff(['sync', '--push']);
    expect(pushed.stderr).toContain(
      'stays on this machine; to send it: git handoff sync --push --with-work main/half-done',
    );
    expect(server.refs('refs/handoffs-work')).toEqual([]);
    cloneFor('Ada');
    away.ok(['sync', '--fetch']);
    expect(away.handoff(['unpack', TOPIC]).stderr).toContain('is not on origin');
    world.ok(['sync', '--push', '--with-work', TOPIC]);
    away.ok(['sync']);
    expect(away.json(['boot', TOPIC])['carried']).toMatchObject({ unpacks: 'not fetched' });
    const unpacked = away.handoff(['unpack', TOPIC]);
    expect(unpacked).toMatchObject({ status: 0 });
    expect(unpacked.stderr).toContain(
      'fetching the work of Ada <ada@example.org>, 1 path, 8 bytes, from origin',
    );
    expect(read('a.txt', away)).toBe('x\n');
  });

  it('is kept while it is still in the worktree where it was unpacked', () => {
    cloneFor('Ada');
    sendWork();
    clean();
    const beside = join(world.root, 'beside');
    world.git(['worktree', 'add', '-q', '--detach', beside]);
    world.ok(['unpack', `main/${TOPIC}`], { cwd: beside });
    world.commit('something else there', { 'a.txt': 'other\n' });
    world.ok(['sync', '--push']);
    expect(server.refs('refs/handoffs-work')).toHaveLength(1);
    expect(world.refs('refs/handoffs-local/work')).toHaveLength(1);
    world.git(['commit', '-qam', 'done'], { cwd: beside });
    world.ok(['sync', '--push'], { cwd: beside });
    expect(server.refs('refs/handoffs-work')).toEqual([]);
  });

  it('is found on the remote that has it', () => {
    cloneFor('Ada');
    const second = join(world.root, 'second.git');
    world.git(['init', '-q', '--bare', second]);
    for (const at of [world, away]) at.git(['remote', 'add', 'second', second]);
    put('a.txt', 'mine\n');
    write();
    world.ok(['sync', '--push', 'second', '--with-work', TOPIC]);
    away.ok(['sync', '--fetch', 'second']);
    away.ok(['unpack', TOPIC]);
    expect(read('a.txt', away)).toBe('mine\n');
  });

  it('of another person needs that person’s name', () => {
    sendWork();
    cloneFor('Eve');
    away.ok(['sync', '--fetch']);
    const refused = away.handoff(['unpack', TOPIC]);
    expect(refused).toMatchObject({ status: 1 });
    const hint = /hint: git (handoff unpack .*)\n/.exec(refused.stderr)?.[1] ?? '';
    expect(hint).toBe('handoff unpack main/half-done --from ada@example.org');
    expect(away.run('git', hint.split(' '))).toMatchObject({ status: 0 });
    expect(read('a.txt', away)).toBe('x\n');
  });

  it('is removed from the remote once it is committed there, or its note is closed', () => {
    sendWork();
    cloneFor('Ada');
    away.ok(['sync', '--fetch']);
    away.ok(['unpack', TOPIC]);
    away.ok(['sync', '--push']);
    expect(server.refs('refs/handoffs-work')).toHaveLength(1);
    away.git(['commit', '-qam', 'done']);
    away.ok(['sync', '--push']);
    expect(server.refs('refs/handoffs-work')).toEqual([]);
    clean();
    put('a.txt', 'again\n');
    write();
    world.ok(['sync', '--push', '--with-work', TOPIC]);
    expect(server.refs('refs/handoffs-work')).toHaveLength(1);
    world.ok(['close', TOPIC]);
    world.ok(['sync', '--push']);
    expect(server.refs('refs/handoffs-work')).toEqual([]);
  });

  it.each(['.envrc', '.claude/settings.json', 'sub/AGENTS.md', '.husky/pre-commit', '.gitattributes'])(
    'brings no %s from another clone unless it is named',
    (path) => {
      put(path, 'x\n');
      sendWork();
      cloneFor('Ada');
      away.ok(['sync', '--fetch']);
      const refused = away.handoff(['unpack', TOPIC]);
      expect(refused).toMatchObject({ status: 1 });
      expect(status(away)).toEqual([]);
      const hint = /hint: git (handoff unpack .*)\n/.exec(refused.stderr)?.[1] ?? '';
      expect(away.run('sh', ['-c', `git ${hint}`])).toMatchObject({ status: 0 });
      expect(read(path, away)).toBe('x\n');
    },
  );

  it('brings no link that leads out of the working tree', () => {
    symlinkSync('/etc/passwd', join(world.path, 'innocent'));
    sendWork();
    cloneFor('Ada');
    away.ok(['sync', '--fetch']);
    expect(away.handoff(['unpack', TOPIC]).stderr).toContain('innocent; nothing was changed');
    expect(existsSync(join(away.path, 'innocent'))).toBe(false);
  });

  it('is not sent if it has a secret that its commit does not allow', () => {
    put('a.txt', `token = "${SECRET}"\n`);
    world.git(['config', 'handoff.secretScan', 'off']);
    write();
    world.git(['config', '--unset', 'handoff.secretScan']);
    cloneFor('Ada');
    const run = world.handoff(['sync', '--push', '--with-work', TOPIC]);
    expect(run).toMatchObject({ status: 1 });
    expect(run.stderr).toContain('a.txt: line 1: ');
    expect(server.refs('refs/handoffs')).toEqual([]);
    expect(server.refs('refs/handoffs-work')).toEqual([]);
  });

  it('keeps the executable bit and bytes that a checkout would change', () => {
    world.git(['config', 'core.autocrlf', 'input']);
    put('a.txt', 'one\r\ntwo\n');
    chmodSync(join(world.path, 'a.txt'), 0o755);
    sendWorkAsIs();
    cloneFor('Ada');
    away.ok(['sync', '--fetch']);
    away.ok(['unpack', TOPIC]);
    expect(read('a.txt', away)).toBe('one\r\ntwo\n');
    expect(away.git(['ls-files', '--stage', 'a.txt'])).toMatch(/^100644/);
    expect(away.git(['diff', '--summary'])).toContain('mode change 100644 => 100755 a.txt');
  });
  const sendWorkAsIs = () => {
    write();
    world.ok(['sync', '--push', '--with-work', TOPIC]);
  };
});
