import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAUNCHER, TestRepository } from '../support/repository.ts';

const session = 'aaaaaaaa-1111-4111-8111-111111111111';

let repo: TestRepository;
let binaries: string;
let log: string;

beforeEach(() => {
  repo = new TestRepository({ calls: 'process' });
  repo.ok(['init', '--yes']);
  repo.ok(['write', 'auth-refresh', '-m', 'a note'], { session });
  binaries = join(repo.root, 'own bin');
  log = join(repo.root, 'log');
  mkdirSync(binaries);
  const git = repo.run('sh', ['-c', 'command -v git']).stdout.trim();
  writeFileSync(
    join(binaries, 'git'),
    `#!/bin/sh
parent=$(ps -o comm= -p $PPID)
echo "$parent: $*" >>'${log}'
case $parent in node) FAULT= ;; esac
case "$FAULT: $*" in
  unpack-objects:*" unpack-objects "* | update-ref:*" update-ref "*) exit 1 ;;
  silence:*" update-ref "*) exec '${git}' "$@" >/dev/null ;;
esac
exec '${git}' "$@"
`,
  );
  chmodSync(join(binaries, 'git'), 0o755);
});
afterEach(() => repo.remove());

const WRITE = ['write', 'auth-refresh', '-m', 'more'];
const STORING = ['unpack-objects', 'update-ref'];

/** Whether the shell of the launcher makes pipes of here-documents, and the system opens their other end. */
const isStoring = spawnSync('sh', ['-c', '[ -p /proc/self/fd/3 ] 3<<end\n\nend']).status === 0;

/** The texts of the note, the newest first. */
function versions(): string[] {
  const commits = repo.git(['rev-list', 'refs/handoffs/main/auth-refresh']).split('\n');
  return commits.map((commit) => repo.git(['show', `${commit}:handoff.md`]));
}

/** The commands of git that Node itself starts for a verb. */
function startedByNode(words: readonly string[], { branch = 'main', fault = '', input = '' } = {}): string[] {
  repo.git(['switch', '-q', '-C', branch]);
  const env = { PATH: `${binaries}:${repo.env()['PATH'] ?? ''}`, FAULT: fault };
  rmSync(log, { force: true });
  expect(repo.handoff(words, { session, env, input })).toMatchObject({ status: 0, stderr: '' });
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines.flatMap(
    (line) =>
      / (status|var|config(?= -z)|for-each-ref|cat-file|\S*unpack\S*|update-ref) /.exec(
        line.startsWith('node:') ? line : '',
      )?.[1] ?? [],
  );
}

describe('what the launcher asks git while Node starts', () => {
  it.each([[['show', 'auth-refresh']], [['show', 'main/auth-refresh']], [['list']]])(
    'is not asked again: %s',
    (words) => {
      expect(startedByNode(words)).toEqual([]);
    },
  );

  it('is not asked again by a write, which starts nothing where the launcher has begun that, too', () => {
    expect(startedByNode(WRITE).sort()).toEqual(isStoring ? [] : STORING);
    expect(versions()).toEqual(['more', 'a note']);
  });

  it('takes a note that is more than pipes hold', () => {
    const text = `${randomBytes(150_000).toString('hex')}\n`;
    expect(startedByNode(['write', 'auth-refresh'], { input: text })).toEqual(isStoring ? [] : STORING);
    expect(repo.git(['show', 'refs/handoffs/main/auth-refresh:handoff.md'])).toBe(text.trim());
  });

  it.runIf(isStoring).each([
    ['cannot store the objects', 'unpack-objects', STORING],
    ['cannot move the refs', 'update-ref', STORING],
    ['moves the refs and does not say so', 'silence', [...STORING, 'for-each-ref']],
  ])('is done again by Node where the git of the launcher %s', (_, fault, started) => {
    expect(startedByNode(WRITE, { fault }).sort()).toEqual(started.toSorted());
    expect(versions()).toEqual(['more', 'a note']);
  });

  /** A write by a shell that has opened more than the first three descriptors. */
  const writeWith = (words: string, env = {}) =>
    repo.run('sh', ['-c', `"$0" write auth-refresh ${words}`, LAUNCHER], {
      env: { CLAUDE_CODE_SESSION_ID: session, ...env },
    });

  it.each([3, 4, 5, 6, 7, 8, 9])('leaves a note that comes by descriptor %i to Node', (descriptor) => {
    writeFileSync(join(repo.root, 'note'), 'by descriptor');
    const words = `--file /dev/fd/${descriptor} ${descriptor}<'${join(repo.root, 'note')}'`;
    expect(writeWith(words)).toMatchObject({ status: 0, stderr: '' });
    expect(versions()).toEqual(['by descriptor', 'a note']);
  });

  it('is not mixed with what git traces to a descriptor of the caller', () => {
    const trace = { GIT_TRACE: '9' };
    expect(writeWith(`-m more 9>>'${join(repo.root, 'trace')}'`, trace)).toMatchObject({ status: 0 });
    expect(versions()).toEqual(['more', 'a note']);
  });

  it('ends though a program that starts Node for us holds its pipes open, and the refs cannot be moved', () => {
    const node = repo.run('sh', ['-c', 'command -v node']).stdout.trim();
    writeFileSync(join(binaries, 'node'), `#!/bin/sh\n'${node}' "$@"\nexit $?\n`, { mode: 0o755 });
    rmSync(join(binaries, 'git'));
    writeFileSync(join(repo.path, '.git/refs/handoffs/main/auth-refresh.lock'), '');
    const env = { PATH: `${binaries}:${repo.env()['PATH'] ?? ''}` };
    const { status, stderr } = repo.handoff(WRITE, { session, env });
    expect([status, stderr]).toEqual([7, expect.stringContaining('lock')]);
  });

  it('is not asked again by a sync, a fetch and a push with nothing to do', () => {
    const hub = join(repo.root, 'hub.git');
    repo.git(['init', '-q', '--bare', hub]);
    repo.git(['remote', 'add', 'origin', hub]);
    repo.ok(['sync'], { session });
    // What this remote showed.
    for (const verb of ['sync', 'fetch', 'push']) expect(startedByNode([verb])).toEqual(['for-each-ref']);
  });

  it('comes whole where it is more than pipes hold', () => {
    const tip = repo.git(['rev-parse', 'refs/handoffs/main/auth-refresh']);
    const topics = Array.from({ length: 1000 }, (_, n) => `main/auth-refresh-${n}`);
    const refs = topics.flatMap((topic) => [`refs/handoffs/${topic}`, `refs/handoffs-local/kept/${topic}`]);
    repo.git(['update-ref', '--stdin'], { input: refs.map((ref) => `create ${ref} ${tip}\n`).join('') });
    expect(startedByNode(['list'])).toEqual([]);
    expect(repo.ok(['list']).split('\n')).toHaveLength(1001);
  });

  it('finds the note of a branch with slashes', () => {
    repo.git(['switch', '-q', '-c', 'feature/a/b']);
    repo.ok(['write', 'auth-refresh', '-m', 'of the feature'], { session });
    expect(startedByNode(['show', 'auth-refresh'], { branch: 'feature/a/b' })).toEqual([]);
  });

  it.each([
    ['a branch with other characters', 'fön'],
    ['a long branch', 'b'.repeat(61)],
  ])('leaves %s to Node', (_, branch) => {
    repo.git(['switch', '-q', '-c', branch]);
    repo.ok(['write', 'auth-refresh', '-m', 'there'], { session });
    expect(startedByNode(['show', 'auth-refresh'], { branch })).toEqual(['cat-file']);
  });
});
