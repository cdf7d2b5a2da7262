import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processTable } from '../../src/host/processes.ts';
import { LAUNCHER, type Run, type RunOptions, finished } from '../support/repository.ts';
import { TOKEN } from '../support/secrets.ts';
import { A, B, TEN, SharingWorld, lines, refusal } from '../support/sharing-world.ts';

let world: SharingWorld;
afterEach(() => world.remove());

const tried = (session: string | undefined, argv: readonly string[], options: RunOptions = {}): Run =>
  world.handoff(['try', ...argv], {
    calls: 'process',
    ...(session === undefined ? {} : { session }),
    ...options,
  });

const tryTree = (...path: readonly string[]) => join(world.path, '.git', 'handoff', 'try', ...path);

/** Writes a file that git ignores, or that nobody should own. */
function put(path: string, content: string, cwd = world.path): void {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), content);
}

const untilThere = async (file: string) => {
  while (!existsSync(file) || readFileSync(file, 'utf8') === '')
    await new Promise((done) => setTimeout(done, 10));
};

const runs = (pid: string) => processTable().runningSince(Number(pid)) !== undefined;

describe('git handoff try beside a peer', () => {
  beforeEach(() => {
    world = new SharingWorld({
      ready: [A, B],
      files: { '.gitignore': 'node_modules\n.venv\nvendor\ndist\n' },
    });
  });

  it('runs a command on HEAD plus the caller’s changes, without anybody else’s', () => {
    world.wrote(A, 'src/a.ts', lines({ 2: 'A' }));
    world.wrote(A, 'shared.md', lines({ 1: 'A' }));
    world.wrote(B, 'shared.md', lines({ 1: 'A', 10: 'B' }));
    world.wrote(B, 'src/b.ts', lines({ 3: 'B' }));
    world.wrote(B, 'new.txt', 'new\n');
    const before = world.status();
    const run = tried(B, ['cat', 'shared.md', 'src/a.ts', 'src/b.ts', 'new.txt']);
    expect(run.stdout).toBe(`${lines({ 10: 'B' })}${TEN}${lines({ 3: 'B' })}new\n`);
    expect(run.status).toBe(0);
    expect(run.stderr.replace(/HEAD \w+/, 'HEAD x')).toMatchInlineSnapshot(`
      "notice: on HEAD x plus 3 changed paths of yours: cat shared.md src/a.ts src/b.ts new.txt
      "
    `);
    expect(world.status()).toEqual(before);
    expect(tried(A, ['cat', 'shared.md', 'src/a.ts', 'src/b.ts']).stdout).toBe(
      lines({ 1: 'A' }) + lines({ 2: 'A' }) + TEN,
    );
  });

  it('fails for the caller’s own breakage and passes despite a peer’s, in the same file and in others', () => {
    const check = ['sh', '-c', '! grep -r BROKEN . --include=*.ts --include=*.md'];
    world.wrote(A, 'shared.md', lines({ 1: 'BROKEN' }));
    world.wrote(A, 'src/peer.ts', 'BROKEN\n');
    world.wrote(B, 'shared.md', lines({ 1: 'BROKEN', 10: 'fine' }));
    expect(tried(B, check).status).toBe(0);
    expect(tried(A, check).status).toBe(1);
    // What only a peer has fixed is still broken for B.
    world.commit('broken', { 'src/b.ts': 'BROKEN\n' });
    world.wrote(A, 'src/b.ts', 'mended\n');
    expect(tried(B, check).status).toBe(1);
  });

  it('removes what an earlier run left, including ignored files, and keeps the times of files that stay', () => {
    const first = tried(B, [
      'sh',
      '-c',
      'mkdir dist sub && echo old >dist/app.js && git init -q sub && echo x >src/a.ts',
    ]);
    expect(first.status).toBe(0);
    const { mtimeMs } = statSync(tryTree('src/b.ts'));
    world.wrote(B, 'src/c.ts', 'c\n');
    expect(tried(B, ['sh', '-c', 'ls dist sub; cat src/a.ts src/c.ts; git status --short']).stdout).toBe(
      `${TEN}c\nA  src/c.ts\n`,
    );
    expect(statSync(tryTree('src/b.ts')).mtimeMs).toBe(mtimeMs);
  });

  it('refuses where the changes of two cannot be told apart, and runs nothing', () => {
    world.wrote(A, 'shared.md', lines({ 5: 'A' }));
    world.wrote(B, 'shared.md', lines({ 5: 'AB' }));
    expect(tried(B, ['touch', join(world.root, 'ran')])).toMatchObject({
      status: 1,
      stderr:
        "error: your changes cannot be separated from others' in shared.md: nothing was run\nhint: git handoff status\n",
    });
    expect(existsSync(join(world.root, 'ran'))).toBe(false);
  });

  it('runs for a person with what no live session has changed, and refuses a file that both have changed', () => {
    world.wrote(A, 'src/a.ts', lines({ 2: 'A' }));
    put('mine.txt', 'mine\n');
    expect(tried(undefined, ['cat', 'src/a.ts', 'mine.txt']).stdout).toBe(`${TEN}mine\n`);
    world.bash(A, 'rm src/b.ts');
    expect(tried(undefined, ['cat', 'src/b.ts'])).toMatchObject({ status: 0 });
    put('src/a.ts', lines({ 2: 'A', 9: 'by hand' }));
    expect(tried(undefined, ['true']).stderr).toContain("cannot be separated from others' in src/a.ts");
    expect(tried(undefined, ['--session', 'bbbbbbbb', 'cat', 'src/a.ts']).stdout).toBe(TEN);
  });

  it('exits like its command, or like a shell that cannot find or run the command', () => {
    put('plain.txt', '');
    const statuses = [
      ['sh', '-c', 'exit 7'],
      ['sh', '-c', 'kill -TERM $$'],
      ['no-such-program'],
      ['./src/a.ts'],
      ['--', 'sh', '-c', 'test "$1" = --json', 'sh', '--json'],
    ].map((argv) => tried(B, argv).status);
    expect(statuses).toEqual([7, 143, 127, 126, 0]);
    expect(tried(B, [])).toMatchObject({ status: 2 });
  });

  it('runs in the same folder of the tried tree, without git’s variables', () => {
    const inside = tried(B, ['sh', '-c', 'pwd; git rev-parse --show-toplevel; env | grep ^GIT_DIR='], {
      cwd: join(world.path, 'src'),
      env: { GIT_INDEX_FILE: join(world.path, '.git', 'index') },
    });
    expect(inside.stdout).toBe(`${tryTree('src')}\n${tryTree()}\n`);
    mkdirSync(join(world.path, 'only-here'));
    const outside = tried(B, ['pwd'], { cwd: join(world.path, 'only-here') });
    expect(outside.stdout).toBe(`${tryTree()}\n`);
    expect(outside.stderr).toContain(
      'notice: only-here is not in the tried tree: the command runs at its top\n',
    );
  });

  it('works in a linked worktree, which shares the tried tree', () => {
    const other = world.worktree('other');
    world.begin(A, other);
    world.wrote(A, 'src/a.ts', lines({ 4: 'there' }), other);
    expect(tried(A, ['cat', 'src/a.ts'], { cwd: other }).stdout).toBe(lines({ 4: 'there' }));
    expect(tried(B, ['cat', 'src/a.ts']).stdout).toBe(TEN);
    expect(readdirSync(join(world.path, '.git', 'worktrees')).sort()).toEqual(['try', 'worktree-other']);
  });

  it('does not count as a place of work: no list has it, and its hooks do not run', () => {
    put('.git/hooks/post-checkout', `#!/bin/sh\ntouch '${world.root}/hook'\n`);
    chmodSync(join(world.path, '.git/hooks/post-checkout'), 0o755);
    world.wrote(A, 'src/a.ts', lines({ 2: 'A' }));
    expect(tried(A, ['true']).status).toBe(0);
    expect(existsSync(join(world.root, 'hook'))).toBe(false);
    for (const verb of ['status', 'sessions', 'overlap', 'list'])
      expect(JSON.stringify(world.json([verb])), verb).not.toContain('handoff/try');
    expect(world.ok(['doctor'])).toContain('handoff/try');
    world.ok(['uninstall', '--yes']);
    expect(existsSync(tryTree())).toBe(false);
    expect(world.git(['worktree', 'list', '--porcelain'])).not.toContain('handoff/try');
  });

  it('makes a new tree if the old one was removed, or belongs to another clone', () => {
    tried(B, ['true']);
    rmSync(tryTree(), { recursive: true });
    expect(tried(B, ['cat', 'src/a.ts']).stdout).toBe(TEN);
    const copy = join(world.root, 'copy');
    execFileSync('cp', ['-r', world.path, copy]);
    expect(tried(undefined, ['git', 'rev-parse', '--git-dir'], { cwd: copy }).stdout).toMatch(
      /copy\/\.git\/worktrees/,
    );
    expect(tried(B, ['git', 'rev-parse', '--git-dir']).stdout).toBe(
      `${join(world.path, '.git/worktrees/try')}\n`,
    );
  });
});

describe('git handoff try and dependencies', () => {
  beforeEach(() => {
    world = new SharingWorld({
      ready: [A, B],
      files: {
        '.gitignore': 'node_modules\n.venv\nvendor\n',
        'packages/lib/index.js': 'module.exports = "committed";\n',
        'packages/app/index.js': 'console.log(require("@ws/lib"), require("third"));\n',
      },
    });
  });

  it('links a workspace of npm into the tried tree, and only others’ packages to the working tree', () => {
    put('node_modules/third/index.js', 'module.exports = "third";\n');
    mkdirSync(join(world.path, 'node_modules/@ws'));
    symlinkSync('../../packages/lib', join(world.path, 'node_modules/@ws/lib'));
    put('packages/app/node_modules/own/index.js', 'module.exports = "own";\n');
    put('node_modules/.bin/lib', '#!/bin/sh\necho bin\n');
    chmodSync(join(world.path, 'node_modules/.bin/lib'), 0o755);
    world.wrote(A, 'packages/lib/index.js', 'throw new Error("half done");\n');
    const app = join(world.path, 'packages', 'app');
    expect(tried(B, ['node', 'index.js'], { cwd: app })).toMatchObject({
      status: 0,
      stdout: 'committed third\n',
    });
    expect(tried(A, ['node', 'index.js'], { cwd: app }).status).toBe(1);
    const words =
      'node -p "require(\'own\')" && ../../node_modules/.bin/lib && mkdir ../../node_modules/.cache';
    expect(tried(B, ['sh', '-c', words], { cwd: app }).stdout).toBe('own\nbin\n');
    expect(existsSync(join(world.path, 'node_modules/.cache'))).toBe(false);
  });

  it('links what handoff.tryLinks names, and nothing else', () => {
    put('node_modules/third/index.js', '');
    put('vendor/x', 'x\n');
    world.git(['config', 'handoff.tryLinks', 'vendor']);
    expect(tried(B, ['ls']).stdout).toBe('a.txt\npackages\nshared.md\nsrc\nvendor\n');
  });

  const python = (() => {
    try {
      return execFileSync('python3', ['-c', 'import venv, sys; print(sys.executable)'], {
        encoding: 'utf8',
      }).trim();
    } catch {
      return undefined;
    }
  })();
  it.skipIf(python === undefined)(
    'imports an editable install from the tried tree (skipped without python3)',
    () => {
      world.commit('python', { 'lib/mine/__init__.py': 'name = "committed"\n' });
      execFileSync(python ?? '', ['-m', 'venv', '--without-pip', join(world.path, '.venv')]);
      const [version = ''] = readdirSync(join(world.path, '.venv/lib'));
      const site = `.venv/lib/${version}/site-packages`;
      put(`${site}/__editable__.mine.pth`, `${join(world.path, 'lib')}\n`);
      put(`${site}/third/__init__.py`, 'name = "third"\n');
      put('.venv/bin/tool', `#!${join(world.path, '.venv/bin/python')}\nimport mine; print(mine.name)\n`);
      chmodSync(join(world.path, '.venv/bin/tool'), 0o755);
      world.wrote(A, 'lib/mine/__init__.py', 'raise SystemExit("half done")\n');
      world.wrote(A, 'lib/other.py', '');
      const words = 'import mine, third; print(mine.name, third.name)';
      expect(tried(B, ['.venv/bin/python', '-c', words])).toMatchObject({
        status: 0,
        stdout: 'committed third\n',
      });
      // PATH as in an activated Python environment.
      const env = { PATH: `${join(world.path, '.venv/bin')}:${world.env()['PATH']}` };
      expect(tried(B, ['python', '-c', words], { env }).stdout).toBe('committed third\n');
      expect(tried(B, ['tool'], { env }).stdout).toBe('committed\n');
      expect(tried(B, ['python', '-c', 'import other'], { env }).status).toBe(1);
    },
  );

  const hasGo = (() => {
    try {
      return execFileSync('go', ['version']).length > 0;
    } catch {
      return false;
    }
  })();
  it.skipIf(!hasGo)('tests a module of Go (skipped without go)', () => {
    world.commit('go', { 'go.mod': 'module m\n\ngo 1.20\n', 'm_test.go': 'package m\n' });
    world.wrote(A, 'broken.go', 'package\n');
    const env = { HOME: world.home, GOFLAGS: '-mod=mod', PATH: process.env['PATH'] };
    expect(tried(B, ['go', 'vet', './...'], { env }).status).toBe(0);
    expect(tried(A, ['go', 'vet', './...'], { env }).status).not.toBe(0);
  });
});

describe('git handoff try and processes', () => {
  beforeEach(() => {
    world = new SharingWorld({ ready: [A, B] });
  });

  const start = (session: string, script: string) =>
    world.start(LAUNCHER, ['try', 'sh', '-c', script], { session });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('leaves nothing running after %s', async (signal) => {
    const file = join(world.root, 'pids');
    const child = start(A, `sleep 300 & echo $! >'${file}'; echo $$ >>'${file}'; wait`);
    const end = finished(child);
    await untilThere(file);
    process.kill(child.pid ?? 0, signal);
    expect((await end).status).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal]);
    expect(readFileSync(file, 'utf8').trim().split('\n').filter(runs)).toEqual([]);
    expect(readdirSync(join(world.path, '.git')).filter((name) => name.startsWith('handoff-try'))).toEqual(
      [],
    );
  });

  it('ends what the command leaves in the background', () => {
    const file = join(world.root, 'pid');
    expect(tried(A, ['sh', '-c', `sleep 300 >/dev/null 2>&1 & echo $! >'${file}'`]).status).toBe(0);
    expect(runs(readFileSync(file, 'utf8'))).toBe(false);
  });

  it('waits for another session’s run, and says whose it is', async () => {
    const [begun, go] = [join(world.root, 'begun'), join(world.root, 'go')];
    const first = finished(
      start(A, `echo x >'${begun}'; while [ ! -e '${go}' ]; do sleep 0.02; done; echo first`),
    );
    await untilThere(begun);
    const child = start(B, 'echo second');
    const said = new Promise<string>((done) =>
      child.stderr?.once('data', (text: Buffer) => done(text.toString())),
    );
    const second = finished(child);
    expect(await said).toBe(
      'notice: claude aaaaaaaa runs git handoff try in this clone; waiting until it is done\n',
    );
    writeFileSync(go, '');
    expect((await first).stdout).toBe('first\n');
    expect((await second).stdout).toBe('second\n');
  });

  it('ends the command of a run that was killed, and continues', async () => {
    const file = join(world.root, 'pid');
    const child = start(A, `echo $$ >'${file}'; exec sleep 300`);
    const end = new Promise((done) => child.once('exit', done));
    await untilThere(file);
    await untilThere(join(world.path, '.git', 'handoff-try.group'));
    process.kill(child.pid ?? 0, 'SIGKILL');
    await end;
    const pid = readFileSync(file, 'utf8');
    expect(runs(pid)).toBe(true);
    expect(world.handoff(['doctor']).stdout).toMatch(/leftovers .*handoff-try\.lock/);
    expect(tried(B, ['echo', 'healed'])).toMatchObject({ status: 0, stdout: 'healed\n' });
    expect(runs(pid)).toBe(false);
  });
});

describe('the result of git handoff try', () => {
  const findings = (session: string) =>
    (world.json(['boot'], { session })['findings'] as { axis: string; verdict: string; text: string }[])
      .filter(({ axis }) => axis === 'tests')
      .map(({ verdict, text }) => `${verdict}: ${text}`);
  const write = (session: string) => world.ok(['write', 'auth-refresh', '-m', 'where I am'], { session });

  beforeEach(() => {
    world = new SharingWorld({ ready: [A, B] });
  });

  it('is recorded in the next note, and boot says whether it still holds', () => {
    world.wrote(A, 'src/a.ts', lines({ 2: 'A' }));
    write(A);
    expect(findings(B)).toEqual(['unknown: not proven: the session of the note tried nothing']);
    tried(A, ['sh', '-c', 'exit 3']);
    tried(A, ['true']);
    write(A);
    const here = ["changed: sh -c 'exit 3' failed (3) on this tree", 'ok: proven on this tree: true'];
    expect(findings(B)).toEqual(here);
    // A peer's changes do not count.
    world.wrote(B, 'src/b.ts', lines({ 3: 'B' }));
    expect(findings(B)).toEqual(here);
    world.wrote(A, 'src/a.ts', lines({ 2: 'A', 3: 'more' }));
    expect(findings(B)).toEqual([
      "changed: outdated: sh -c 'exit 3' failed (3) on another tree",
      'changed: outdated: true passed on another tree',
    ]);
  });

  it('holds after the commit, and through a take', () => {
    world.wrote(A, 'src/a.ts', lines({ 2: 'A' }));
    tried(A, ['true']);
    write(A);
    world.ok(['commit', '-m', 'done', '--', 'src/a.ts'], { session: A });
    world.end(A);
    expect(findings(B)).toEqual(['ok: proven on this tree: true']);
    world.ok(['take', 'auth-refresh'], { session: B });
    expect(findings(B)).toEqual(['ok: proven on this tree: true']);
  });

  it('names no command that holds a secret, and escapes the others', () => {
    tried(A, ['true', TOKEN]);
    tried(A, ['true', 'a\u202eb', 'two\nlines']);
    write(A);
    const [, trailer = ''] = /^Handoff-Tried: (.*)$/m.exec(world.git(['log', '-1', '--format=%B', 'refs/handoffs/main/auth-refresh'])) ?? []; // prettier-ignore
    expect(trailer).not.toContain(TOKEN);
    expect(findings(B)).toHaveLength(1);
    expect(findings(B)[0]).not.toMatch(/\u202e|\n/);
  });

  it('works for a lone session', () => {
    world.end(B);
    world.wrote(A, 'src/a.ts', lines({ 2: 'A' }));
    expect(tried(A, ['cat', 'src/a.ts']).stdout).toBe(lines({ 2: 'A' }));
  });

  it('has the tree and the status in JSON', () => {
    const answer = tried(A, ['--json', 'sh', '-c', 'exit 4']);
    expect(answer.status).toBe(4);
    expect(JSON.parse(answer.stdout)).toEqual({
      schema: 1,
      ok: true,
      command: "sh -c 'exit 4'",
      status: 4,
      head: world.git(['rev-parse', 'HEAD']),
      tree: world.git(['rev-parse', 'HEAD^{tree}']),
    });
  });

  it('counts for the guard as a command that runs elsewhere', () => {
    world.wrote(A, 'src/a.ts', lines({ 2: 'A' }));
    expect(world.may(B, 'git handoff try -- sh -c "echo x >src/a.ts; git stash"').kind).toBe('silent');
    expect(world.may(B, 'git handoff try npm test').kind).toBe('silent');
    expect(refusal(world.may(B, `git handoff try -- rm '${join(world.path, 'src/a.ts')}'`))).toContain(
      'src/a.ts',
    );
    expect(
      refusal(world.may(B, 'git handoff try -- git update-ref -d refs/handoffs/main/auth-refresh')),
    ).toContain('refs/handoffs/main/auth-refresh');
  });
});
