import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

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
    `#!/bin/sh\necho "$(ps -o comm= -p $PPID): $*" >>'${log}'\nexec '${git}' "$@"\n`,
  );
  chmodSync(join(binaries, 'git'), 0o755);
});
afterEach(() => repo.remove());

/** The commands of git that Node itself starts for a verb. */
function startedByNode(words: readonly string[], branch = 'main'): string[] {
  repo.git(['switch', '-q', '-C', branch]);
  const env = { PATH: `${binaries}:${repo.env()['PATH'] ?? ''}` };
  rmSync(log, { force: true });
  expect(repo.handoff(words, { session, env })).toMatchObject({ status: 0, stderr: '' });
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines.flatMap(
    (line) =>
      / (status|var|config(?= -z)|for-each-ref|cat-file|\S*unpack\S*|update-ref) /.exec(
        line.startsWith('node') ? line : '',
      )?.[1] ?? [],
  );
}

describe('what the launcher asks git while Node starts', () => {
  it.each([
    [['show', 'auth-refresh'], []],
    [['show', 'main/auth-refresh'], []],
    [['list'], []],
    [
      ['write', 'auth-refresh', '-m', 'more'],
      ['unpack-objects', 'update-ref'],
    ],
  ])('is not asked again: %s', (words, started) => {
    expect(startedByNode(words).sort()).toEqual(started);
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
    expect(startedByNode(['show', 'auth-refresh'], 'feature/a/b')).toEqual([]);
  });

  it.each([
    ['a branch with other characters', 'fön'],
    ['a long branch', 'b'.repeat(61)],
  ])('leaves %s to Node', (_, branch) => {
    repo.git(['switch', '-q', '-c', branch]);
    repo.ok(['write', 'auth-refresh', '-m', 'there'], { session });
    expect(startedByNode(['show', 'auth-refresh'], branch)).toEqual(['cat-file']);
  });
});
