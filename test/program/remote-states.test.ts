import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAUNCHER, TestRepository } from '../support/repository.ts';

/** What `list`, `status` and `show` say of remotes, which they know only from the tracking refs. */

const A = 'aaaaaaaa-1111';
let repo: TestRepository;

beforeEach(() => {
  repo = new TestRepository();
});
afterEach(() => repo.remove());

const write = (topic: string, text: string) => repo.noted(['write', topic, '-m', text], { session: A });
const track = (topic: string, oid: string, remote = 'origin') =>
  repo.git(['update-ref', `refs/handoffs-remote/${remote}/main/${topic}`, oid]);
const states = (topic: string) => {
  const item = repo.json(['list', '--all']).items.find((one) => one['topic'] === topic);
  return item?.['remotes'];
};
const remoteOf = (name: string) => repo.git(['remote', 'add', name, join(repo.root, `${name}.git`)]);

/** Runs a verb with a `git` that notes each of its calls. */
function countingGit(words: string[]): string[] {
  const [folder, log] = [join(repo.root, 'bin'), join(repo.root, 'git.log')];
  mkdirSync(folder, { recursive: true });
  const real = repo.run('sh', ['-c', 'command -v git']).stdout.trim();
  writeFileSync(join(folder, 'git'), `#!/bin/sh\nprintf '%s\\n' "$*" >>'${log}'\nexec '${real}' "$@"\n`);
  chmodSync(join(folder, 'git'), 0o755);
  rmSync(log, { force: true });
  repo.run(LAUNCHER, words, { env: { PATH: `${folder}:${repo.env()['PATH']}` } });
  return readFileSync(log, 'utf8').trim().split('\n');
}

/** Makes a second version beside the tip, as another machine would. */
function otherVersion(parent: string, text: string): string {
  const tree = repo.git(['rev-parse', `${parent}^{tree}`]);
  return repo.git(['commit-tree', tree, '-p', parent, '-m', text]);
}

describe('a handoff beside a remote', () => {
  it('says nothing if no remote was ever asked', () => {
    remoteOf('origin');
    write('one-topic', 'x');
    expect(repo.ok(['list'])).not.toMatch(/not pushed|Handoffs:/);
    expect(repo.json(['list'])).toMatchObject({ remotes: [], items: [{ remotes: [] }] });
    expect(repo.json(['status'])).toMatchObject({ remotes: [] });
    expect(repo.json(['show'])).toMatchObject({ remotes: [] });
  });

  it('is in sync, ahead, behind, diverged or missing', () => {
    remoteOf('origin');
    const [same, ahead] = [write('same-topic', 'x'), write('ahead-topic', 'x')];
    write('ahead-topic', 'y');
    write('ahead-topic', 'z');
    const [behind, diverged] = [write('behind-topic', 'x'), write('diverged-topic', 'x')];
    write('diverged-topic', 'y');
    write('local-topic', 'x');
    track('same-topic', same);
    track('ahead-topic', ahead);
    track('behind-topic', otherVersion(otherVersion(behind, 'one'), 'two'));
    track('diverged-topic', otherVersion(otherVersion(diverged, 'one'), 'two'));
    track('only-there', same);
    const remote = 'origin';
    expect(states('same-topic')).toEqual([{ remote, state: 'in-sync', ahead: 0, behind: 0 }]);
    expect(states('ahead-topic')).toEqual([{ remote, state: 'ahead', ahead: 2, behind: 0 }]);
    expect(states('behind-topic')).toEqual([{ remote, state: 'behind', ahead: 0, behind: 2 }]);
    expect(states('diverged-topic')).toEqual([{ remote, state: 'diverged', ahead: 1, behind: 2 }]);
    expect(states('local-topic')).toEqual([{ remote, state: 'local-only', ahead: null, behind: 0 }]);
    expect(repo.json(['show', 'ahead-topic'])).toMatchObject({ remotes: states('ahead-topic') });
    expect(repo.json(['show', 'local-topic'])).toMatchObject({ remotes: states('local-topic') });
    const summary = [{ remote, toPush: 2, toFetch: 2, diverged: 1 }];
    expect(repo.json(['list'])).toMatchObject({ remotes: summary });
    expect(repo.json(['status'])).toMatchObject({ remotes: summary });
    // Without a terminal, the line states the facts and names no command, which an agent would obey.
    const line = 'Handoffs: 2 not pushed to origin, 2 to fetch from origin, 1 diverged from origin';
    expect(repo.ok(['list']).split('\n').at(-1)).toBe(line);
    expect(repo.ok(['status']).split('\n').at(-1)).toBe(line);
    const { stdout } = repo.atTerminal('git handoff list');
    expect(stdout.replaceAll('\r', '')).toContain(`${line}: git handoff sync origin\n`);
    expect(repo.ok(['list'])).toMatch(/main\/ahead-topic +ahead 2 .*\n/);
    expect(repo.ok(['list'])).toMatch(/main\/diverged-topic +diverged 1\/2 .*\n/);
    expect(repo.ok(['list'])).toMatch(/main\/same-topic +claude aaaaaaaa /);
  });

  it('names the remote where there are several, whatever they are called', () => {
    for (const name of ['origin', 'team/up%']) remoteOf(name);
    const oid = write('one-topic', 'x');
    write('one-topic', 'y');
    track('one-topic', oid);
    track('other-topic', oid, 'team%2Fup%25');
    expect(states('one-topic')).toMatchObject([
      { remote: 'origin', state: 'ahead' },
      { remote: 'team/up%', state: 'local-only' },
    ]);
    expect(repo.ok(['list'])).toContain('ahead 1 (origin), not pushed (team/up%)');
    expect(repo.ok(['status'])).toContain('1 not pushed to team/up%, 1 to fetch from team/up%');
  });

  it('is not in status for a remote that is gone', () => {
    remoteOf('origin');
    track('one-topic', write('one-topic', 'x'), 'gone');
    write('one-topic', 'y');
    expect(repo.json(['status'])).toMatchObject({ remotes: [] });
  });

  it('is unknown if the remote’s ref is no handoff, or objects are missing', () => {
    remoteOf('origin');
    const sound = write('sound-topic', 'x');
    const next = otherVersion(sound, 'next');
    track('sound-topic', next);
    const odd = write('odd-topic', 'x');
    const blob = repo.git(['hash-object', '-w', '--stdin'], { input: 'no commit' });
    track('odd-topic', blob);
    write('hole-topic', 'x');
    const middle = otherVersion(odd, 'middle');
    track('hole-topic', otherVersion(middle, 'top'));
    rmSync(join(repo.path, '.git', 'objects', middle.slice(0, 2), middle.slice(2)));
    const unknown = [{ remote: 'origin', state: 'unknown', ahead: null, behind: null }];
    expect(states('odd-topic')).toEqual(unknown);
    expect(states('hole-topic')).toEqual(unknown);
    expect(states('sound-topic')).toMatchObject([{ state: 'behind', behind: 1 }]);
    expect(repo.ok(['list'])).toMatch(/main\/odd-topic +differs /);
  });

  it('costs list no process if all are in sync, and one if any is not', () => {
    remoteOf('origin');
    const oid = write('one-topic', 'x');
    const before = countingGit(['list']).length;
    track('one-topic', oid);
    expect(countingGit(['list'])).toHaveLength(before);
    for (const topic of ['one-topic', 'two-topic', 'three-topic']) track(topic, write(topic, 'first'));
    for (const topic of ['one-topic', 'two-topic', 'three-topic']) write(topic, 'second');
    expect(countingGit(['list'])).toHaveLength(before + 1);
  });

  it('costs status no process without remotes', () => {
    write('one-topic', 'x');
    const before = countingGit(['status']);
    expect(before.filter((call) => call.includes('handoffs-remote'))).toEqual([]);
    remoteOf('origin');
    expect(countingGit(['status'])).toHaveLength(before.length + 1);
  });
});
