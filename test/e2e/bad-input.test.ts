import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAUNCHER, type Run, type RunOptions, TestRepository } from '../support/repository.ts';

const session = 'aaaaaaaa-1111';
let repo: TestRepository;

beforeEach(() => {
  repo = new TestRepository();
});
afterEach(() => repo.remove());

const write = (input: string | Uint8Array, options: RunOptions = {}, topic = 'auth-refresh') =>
  repo.handoff(['write', topic], { session, input, ...options });

/** Expects `error:` and `hint:` on stderr, nothing on stdout, and no internal details. */
function expectRefusal(run: Run, status: number, what: RegExp): void {
  expect({ status: run.status, stdout: run.stdout }, run.stderr).toEqual({ status, stdout: '' });
  expect(run.stderr).toMatch(/^error: .*\n(?:hint: .*\n)?$/);
  expect(run.stderr).toMatch(what);
  expect(run.stderr).not.toMatch(/ at .*\.cjs:/);
}

/** The kept text, read from where the refusal says that it is. */
function keptText({ stderr }: Run): string {
  const file = /your text is kept in (.*?)(?:\n|$)/.exec(stderr)?.[1];
  if (file !== undefined) return readFileSync(file, 'utf8');
  const [, command] = /print it with: (git .*)/.exec(stderr) ?? [];
  return repo.run('sh', ['-c', command ?? 'false'], { session }).stdout;
}

describe('a note', () => {
  it.each(['', '  \n\t\n', '\n'])('of %j is refused as empty', (text) => {
    expectRefusal(write(text), 2, /^error: the note is empty/);
    expect(repo.refs('refs/handoffs')).toEqual([]);
  });

  it('of 2 MiB is refused, and can be read back', () => {
    const text = `# big\n${'x'.repeat(2 * 1024 * 1024)}\n`;
    const refused = write(text);
    expectRefusal(refused, 2, /at most 1048576 \(1 MiB\)/);
    expect(keptText(refused) === text).toBe(true);
    expect(repo.ref('refs/handoffs/main/auth-refresh')).toBeUndefined();
  });

  it('of exactly 1 MiB is accepted, one byte more is not', () => {
    expect(write('x'.repeat(1024 * 1024)).status).toBe(0);
    expect(write('x'.repeat(1024 * 1024 + 1)).status).toBe(2);
  });

  it('of any bytes comes back byte for byte', () => {
    const bytes = Buffer.from(Array.from({ length: 1024 }, (_, at) => (at * 7 + (at >> 8)) % 256));
    expect(write(bytes).status).toBe(0);
    expect(repo.handoff(['show', '--raw'], { session }).bytes).toEqual(bytes);
    expect(repo.json(['show'], { session })['noteBase64']).toBe(bytes.toString('base64'));
    const shown = repo.handoff(['show'], { session }).stdout;
    expect(shown).not.toMatch(/[^\P{Cc}\n\t]/u);
  });

  it('from a file that cannot be read is refused, naming the file', () => {
    const refused = repo.handoff(['write', 'auth-refresh', '--file', "no such 'file'"], { session });
    expectRefusal(refused, 2, /^error: cannot read .*ENOENT/);
  });

  it('from two places at once is refused', () => {
    const refused = repo.handoff(['write', 'auth-refresh', '-m', 'x', '--file', 'a.txt'], { session });
    expectRefusal(refused, 2, /exclude each other/);
  });
});

describe('a topic', () => {
  it.each(['fix', 'fix-test', '../x', 'Auth-Refresh', 'a b', ''])(
    '%j is refused, with the text kept',
    (topic) => {
      const refused = write('precious\n', {}, topic);
      expectRefusal(refused, 2, /^error: not a (topic|branch name): /);
      expect(keptText(refused)).toBe('precious\n');
      expect(repo.refs('refs/handoffs')).toEqual([]);
    },
  );

  it('that looks like an option is refused as an unknown option', () => {
    expectRefusal(write('x', {}, '-d'), 2, /^error: unknown option -d/);
  });

  it.each([
    [[], 'an argument is missing'],
    [['auth-refresh', 'more'], 'more'],
  ])('given as %j is refused', (words, what) => {
    expectRefusal(repo.handoff(['write', ...words], { session, input: 'x' }), 2, new RegExp(what));
  });

  it('on a branch that does not exist is refused, with the text kept', () => {
    const refused = write('precious\n', {}, 'no-such-branch/auth-refresh');
    expectRefusal(refused, 2, /^error: there is no branch no-such-branch/);
    expect(keptText(refused)).toBe('precious\n');
  });

  it('that nobody wrote is not found', () => {
    expectRefusal(repo.handoff(['show', 'auth-refresh'], { session }), 1, /^error: there is no handoff/);
    expectRefusal(repo.handoff(['take', 'auth-refresh'], { session }), 1, /^error: there is no handoff/);
    expectRefusal(repo.handoff(['show'], { session }), 1, /^error: there is no open handoff/);
  });
});

describe('the place', () => {
  it('is reported, with the text kept, if it is no repository', () => {
    const refused = write('precious\n', { cwd: repo.home });
    expectRefusal(refused, 7, /^error: not a git repository/);
    expect(keptText(refused)).toBe('precious\n');
  });

  it('is reported, with the text kept, if git is not on PATH', () => {
    const bin = join(repo.root, 'bin');
    mkdirSync(bin);
    for (const name of ['sh', 'readlink', 'dirname', 'env']) symlinkSync(`/usr/bin/${name}`, join(bin, name));
    symlinkSync(process.execPath, join(bin, 'node'));
    const refused = write('precious\n', { env: { PATH: bin } });
    expectRefusal(refused, 7, /^error: git could not be started.*\nhint: install git/s);
    expect(keptText(refused)).toBe('precious\n');
  });

  it('is reported if git cannot read its settings', () => {
    writeFileSync(join(repo.path, '.git', 'config'), '[core\n');
    const refused = write('precious\n');
    expect(refused.status, refused.stderr).toBe(7);
    expect(keptText(refused)).toBe('precious\n');
  });

  it('is reported if git knows no e-mail address, with the line to type', () => {
    writeFileSync(join(repo.home, '.gitconfig'), '[user]\n\tuseConfigOnly = true\n');
    const refused = repo.handoff(['write', 'auth-refresh', '-m', 'x']);
    expectRefusal(refused, 2, /\nhint: git config user\.email /);
    expect(keptText(refused)).toBe('x\n');
  });

  it.runIf(process.getuid?.() === 0)('is reported if it is read-only, and can still be read', () => {
    repo.ok(['write', 'auth-refresh', '-m', 'before'], { session });
    writeFileSync(
      join(repo.home, '.gitconfig'),
      '[safe]\n\tdirectory = *\n[user]\n\temail = a@example.org\n\tname = A\n',
    );
    for (const folder of [repo.root, repo.home]) chmodSync(folder, 0o755);
    chmodSync(join(repo.root, 'tmp'), 0o777);
    const nobody = (args: string[], input = '') =>
      repo.run('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', 'git', 'handoff', ...args], {
        session,
        input,
      });
    const before = repo.git(['for-each-ref']);
    const refused = nobody(['write', 'auth-refresh'], 'precious\n');
    expectRefusal(
      refused,
      7,
      /^error: git .*(Permission denied|insufficient permission).*\nhint: make the repository writable/s,
    );
    expect(keptText(refused)).toBe('precious\n');
    expect(nobody(['show', '--raw'])).toMatchObject({ status: 0, stdout: 'before\n' });
    expect(repo.git(['for-each-ref'])).toBe(before);
  });
});

describe('a full disk', () => {
  /** Runs a script in a mount namespace of its own, with a small file system at `$SMALL`, which disappears with it. */
  const onSmallDisk = (script: string, env: Record<string, string> = {}) =>
    repo.run('unshare', ['--mount', 'sh', '-ec', `mount -t tmpfs -o size=600k none "$SMALL"\n${script}`], {
      session,
      env: { SMALL: join(repo.root, 'small'), REPO: repo.path, ...env },
    });
  const script = [
    'cp -r "$REPO/.git" "$SMALL/.git"',
    'cd "$SMALL"',
    'git handoff write auth-refresh -m before',
    'before=$(git for-each-ref)',
    'cat /dev/zero > "$SMALL/fill" 2>/dev/null || :',
    'status=0',
    'printf "precious\\n" | git handoff write auth-refresh 2>"$HOME/err" || status=$?',
    'test "$before" = "$(git for-each-ref)"',
    'git fsck --no-dangling 1>&2',
    'test -z "$(find .git -name "*.lock")"',
    'echo "status $status"',
    'rm "$SMALL/fill"',
    'git handoff show auth-refresh --raw',
    'git handoff write auth-refresh -m after >/dev/null && git handoff show auth-refresh --raw',
  ].join('\n');

  beforeEach((context) => {
    mkdirSync(join(repo.root, 'small'));
    context.skip(onSmallDisk(':').status !== 0, 'no right to mount a file system here');
  });

  it('is reported, with the text kept elsewhere and nothing half-written, and the next write works', () => {
    const done = onSmallDisk(script);
    expect(done.status, done.stderr).toBe(0);
    expect(done.stdout.split('\n').slice(1)).toEqual(['status 7', 'before', 'after', '']);
    const stderr = readFileSync(join(repo.home, 'err'), 'utf8');
    expect(stderr).toMatch(/^error: git .*No space left on device.*\nhint: free some disk space/s);
    expect(keptText({ ...done, stderr })).toBe('precious\n');
  });

  it('that also holds the folder for temporary files leaves the text in the home folder', () => {
    const done = onSmallDisk(script, { TMPDIR: join(repo.root, 'small') });
    expect(done.status, done.stderr).toBe(0);
    const stderr = readFileSync(join(repo.home, 'err'), 'utf8');
    const file = /your text is kept in (.*)/.exec(stderr)?.[1] ?? '';
    expect(dirname(dirname(file))).toBe(repo.home);
    expect(readFileSync(file, 'utf8')).toBe('precious\n');
  });
});

describe('the command line', () => {
  it.each<[string[], RegExp, string]>([
    [['writ', 'x'], /there is no verb "writ"/, 'git handoff write -h'],
    [['frobnicate'], /there is no verb/, 'git handoff -h'],
    [['list', '--frob'], /unknown option --frob/, 'git handoff list -h'],
    [['list', '--state', 'half'], /--state takes open or closed/, 'git handoff list --state open'],
    [['write', 'auth-refresh', '-m'], /--message needs a value|-m needs a value/, 'git handoff write -h'],
    [['show', 'auth-refresh', '--lost=x'], /--lost takes a number/, ''],
    [['show', '--lost'], /--lost needs a topic/, 'git handoff list --all'],
    [['write', 'auth-refresh', '-m', 'x', '--expect', 'abc'], /--expect takes a whole object name/, ''],
    [['write', 'auth-refresh', '-m', 'x', '--session', 'bbbbbbbb'], /conflicts with the session/, ''],
    [['__proto__'], /there is no verb/, ''],
    [['constructor', '-h'], /there is no verb/, ''],
  ])('%j is refused', (words, what, hint) => {
    const refused = repo.handoff(words, { session });
    expectRefusal(refused, 2, what);
    if (hint !== '') expect(refused.stderr).toContain(`\nhint: ${hint}\n`);
  });

  it('says, in a folder that was removed under the shell, what is wrong and what to do', () => {
    const script = `mkdir gone && cd gone && rmdir ../gone && exec '${LAUNCHER}' list`;
    const refused = repo.run('bash', ['-c', script], { session });
    const said = refused.stderr.split('\n').filter((line) => !/getcwd/.test(line));
    expect({ status: refused.status, said }).toEqual({
      status: 7,
      said: [
        'error: the current folder no longer exists',
        'hint: cd to a folder that exists, then try again',
        '',
      ],
    });
  });

  it('does not fail if the program that reads its output stops reading', () => {
    write('x'.repeat(500_000));
    const piped = repo.run('bash', ['-c', 'git handoff show --raw | head -c 1; echo "${PIPESTATUS[0]}"'], {
      session,
    });
    expect(piped).toMatchObject({ stdout: 'x0\n', stderr: '' });
  });
});
