import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommitWorld, hintsOf } from '../support/commit-hooks-world.ts';
import type { Run, RunOptions } from '../support/repository.ts';
import { A, B, type SharingOptions } from '../support/sharing-world.ts';

let world: CommitWorld;
let remote: string;

function start(options: SharingOptions = {}): void {
  world = new CommitWorld(options);
  remote = join(world.root, 'remote.git');
  world.git(['clone', '-q', '--bare', world.path, remote], { cwd: world.root });
  world.git(['remote', 'add', 'origin', remote]);
  world.git(['fetch', '-q', 'origin']);
  world.begin(A);
  world.begin(B);
  world.git(['switch', '-qc', 'feature']);
}
beforeEach(() => start());
afterEach(() => world.remove());

/** Makes a commit that changes a file and names these sessions. */
function commit(message: string, ids: readonly string[], path = `${message}.txt`, cwd = world.path): string {
  writeFileSync(join(cwd, path), `${message}\n`);
  world.git(['add', '--', path], { cwd });
  world.git(['commit', '-q', '-m', message], { cwd, env: { GIT_HANDOFF: 'off' } });
  return signed(message, ids, cwd);
}

function signed(message: string, ids: readonly string[], cwd = world.path): string {
  const trailers = ids.map((id) => `Claude-Session-Id: ${id}`).join('\n');
  const more = trailers === '' ? [] : ['-m', trailers];
  const words = ['commit', '-q', '--amend', '--allow-empty', '-m', message, ...more];
  world.git(words, { cwd, env: { GIT_HANDOFF: 'off' } });
  return world.git(['rev-parse', 'HEAD'], { cwd });
}

/** Pushes without our hooks. */
const bring = (...words: string[]) =>
  world.git(['push', '-q', '-f', ...words], { env: { GIT_HANDOFF: 'off' } });

/** Pushes `feature` with commits of A and B, then replaces both in this clone by a new commit of B. */
function dropped(): { theirs: string; tip: string } {
  const theirs = commit('one', [A]);
  const tip = commit('two', [B]);
  bring('origin', 'feature');
  world.git(['reset', '-q', '--hard', 'main']);
  commit('three', [B]);
  return { theirs, tip };
}

const push = (session: string | undefined, words: readonly string[], options: RunOptions = {}): Run =>
  world.run('git', ['push', '-q', ...words], { ...options, ...(session === undefined ? {} : { session }) });

/** Our lines in the output of a push. */
const messages = ({ stderr }: Run) =>
  stderr.split('\n').filter((line) => /^(?:error: (?!failed to push)|warning: |hint: )/.test(line));

const there = (branch = 'feature') =>
  world.run('git', ['rev-parse', '-q', '--verify', `refs/heads/${branch}`], { cwd: remote }).stdout.trim();

const passes = (session: string | undefined, ...words: string[]) =>
  expect(push(session, words)).toMatchObject({ status: 0, stderr: '' });

/** Pushes a commit from another clone, which this clone has not fetched. */
function elsewhere(branch: string, message: string, ids: readonly string[]): string {
  const clone = join(world.root, 'clone');
  rmSync(clone, { recursive: true, force: true });
  world.git(['clone', '-q', '-b', branch, remote, clone], { cwd: world.root });
  const oid = commit(message, ids, undefined, clone);
  world.git(['push', '-q', 'origin', branch], { cwd: clone });
  return oid;
}

describe('a push that drops a commit of another session', () => {
  it('is refused with the owner’s name, and passes if it names the commit up to which the branch was seen', () => {
    const { theirs, tip } = dropped();
    const run = push(B, ['--force', 'origin', 'feature']);
    expect(run.status).toBe(1);
    expect(messages(run)).toEqual([
      'error: this push drops a commit of others from feature:',
      `error:   ${theirs.slice(0, 7)} "one" by claude aaaaaaaa`,
      'error: Merge or rebase to keep them. To drop them on purpose:',
      `hint: git -C ${world.path} push --force-with-lease=feature:${tip} origin refs/heads/feature`,
    ]);
    expect(there()).toBe(tip);
    world.follow(B, run.stderr);
    expect(there()).toBe(world.git(['rev-parse', 'feature']));
  });

  it('is refused again and again, however it is forced', () => {
    const { tip } = dropped();
    for (const options of [
      ['--force'],
      ['-f'],
      ['--force-with-lease'],
      ['--force-with-lease=feature'],
      ['--force-with-lease=feature:origin/feature'],
      ['--force-with-lease', '--force-if-includes'],
      ['--force'],
    ]) {
      expect([options, push(B, [...options, 'origin', 'feature']).status]).toEqual([options, 1]);
    }
    expect(there()).toBe(tip);
  });

  it('is refused however it names the branch and the remote, with a hint that works', () => {
    const { theirs, tip } = dropped();
    for (const words of [
      ['origin', '+feature'],
      ['origin', ':feature'],
      ['--delete', 'origin', 'feature'],
      ['origin', '+HEAD:feature'],
      ['origin', '+feature~:feature'],
      [`file://${remote}`, '+feature'],
      [remote, '+feature'],
    ]) {
      const run = push(B, words);
      expect([words, run.status]).toEqual([words, 1]);
      expect(messages(run)[1]).toBe(`error:   ${theirs.slice(0, 7)} "one" by claude aaaaaaaa`);
      expect(there()).toBe(tip);
      world.follow(B, run.stderr);
      expect(there()).not.toBe(tip);
      bring('origin', `${tip}:refs/heads/feature`);
    }
  });

  it('by --mirror', () => {
    const { tip } = dropped();
    const clone = join(world.root, 'mirror');
    world.git(['clone', '-q', world.path, clone], { cwd: world.root });
    world.ok(['init', '--yes'], { cwd: clone });
    world.git(['fetch', '-q', remote, 'feature'], { cwd: clone });
    const run = push(B, ['--mirror', remote], { cwd: clone });
    expect(run.status).toBe(1);
    expect(messages(run).join('\n')).toContain('"one" by session aaaaaaaa');
    expect(there()).toBe(tip);
  });

  it('passes only for the branch and commit that it says were seen', () => {
    const { tip } = dropped();
    const stale = world.git(['rev-parse', 'main']);
    expect(push(B, ['--force', `--force-with-lease=feature:${stale}`, 'origin', 'feature']).status).toBe(1);
    expect(push(B, ['--force', `--force-with-lease=main:${tip}`, 'origin', 'feature']).status).toBe(1);
    expect(there()).toBe(tip);
    passes(B, `--force-with-lease=refs/heads/feature:${tip.slice(0, 12)}`, 'origin', 'feature');
  });

  it('is refused again if the branch has moved since', () => {
    dropped();
    const run = push(B, ['--force', 'origin', 'feature']);
    const [hint = ''] = hintsOf(run.stderr);
    const newer = elsewhere('feature', 'later', [A]);
    world.git(['fetch', '-q']);
    expect(world.run('sh', ['-c', hint], { session: B }).status).toBe(1);
    expect(there()).toBe(newer);
  });

  it('names a commit without a trailer as the user’s or an unknown session’s', () => {
    const theirs = commit('typed', []);
    bring('origin', 'feature');
    const tip = there();
    world.git(['reset', '-q', '--hard', 'main']);
    const run = push(B, ['--force', 'origin', 'feature']);
    expect(messages(run)[1]).toBe(`error:   ${theirs.slice(0, 7)} "typed" by the user or an unknown session`);
    world.follow(B, run.stderr);
    expect(there()).not.toBe(tip);
  });

  it('hears about every branch at once, with one command for all', () => {
    const { tip } = dropped();
    world.git(['switch', '-qc', 'other', 'main']);
    const theirs = commit('four', [A]);
    bring('origin', 'other');
    world.git(['switch', '-q', 'feature']);
    const run = push(B, ['origin', '+feature', ':other', 'feature:new']);
    expect(run.status).toBe(1);
    expect(hintsOf(run.stderr)).toEqual([
      `git push --force-with-lease=feature:${tip} --force-with-lease=other:${theirs} origin ` +
        'refs/heads/feature :refs/heads/other',
    ]);
    world.follow(B, run.stderr);
    expect([there(), there('other')]).toEqual([world.git(['rev-parse', 'feature']), '']);
  });

  it('has a hint that works for a hostile branch name', () => {
    const name = "x;echo$IFS'hi'\u202e&";
    dropped();
    bring('origin', `origin/feature:refs/heads/${name}`, ':feature');
    const run = push(B, ['origin', `+feature:refs/heads/${name}`]);
    expect(run.status).toBe(1);
    expect(run.stderr).not.toContain('\u202e');
    expect(world.run('bash', ['-c', hintsOf(run.stderr)[0] ?? ''], { session: B }).status).toBe(0);
    expect(there(name)).toBe(world.git(['rev-parse', 'feature']));
  });

  it('from a linked worktree', () => {
    const { tip } = dropped();
    const cwd = world.worktree('side');
    const run = push(B, ['origin', '+side:feature'], { cwd });
    expect(run.status).toBe(1);
    world.follow(B, run.stderr, { cwd: world.root });
    expect(there()).not.toBe(tip);
  });

  it('is refused if the commit was squashed into another', () => {
    commit('one', [A]);
    commit('two', [B]);
    bring('origin', 'feature');
    world.git(['reset', '-q', '--soft', 'main']);
    world.git(['commit', '-q', '-m', 'both', '-m', `Claude-Session-Id: ${B}`], {
      env: { GIT_HANDOFF: 'off' },
    });
    const run = push(B, ['-f', 'origin', 'feature']);
    expect(messages(run)[1]).toMatch(/"one" by claude aaaaaaaa$/);
    world.follow(B, run.stderr);
  });

  it('is a person’s own decision; the person is warned', () => {
    const { theirs, tip } = dropped();
    const run = push(undefined, ['-f', 'origin', 'feature']);
    expect(run.status).toBe(0);
    expect(messages(run)).toEqual([
      'warning: this push drops 2 commits of others from feature:',
      `warning:   ${tip.slice(0, 7)} "two" by claude bbbbbbbb`,
      `warning:   ${theirs.slice(0, 7)} "one" by claude aaaaaaaa`,
    ]);
  });

  it('gets only a warning if the words of the push cannot be read: the hint would be refused, too', () => {
    dropped();
    const run = push(B, ['-f', 'origin', 'feature'], { env: { GIT_HANDOFF_GIT_PID: '1' } });
    expect(run.status).toBe(0);
    expect(messages(run)[0]).toBe('warning: this push drops a commit of others from feature:');
  });

  it('passes with handoff.pushLease = false', () => {
    dropped();
    world.git(['config', 'handoff.pushLease', 'false']);
    passes(B, '-f', 'origin', 'feature');
  });
});

describe('a push over what was never fetched', () => {
  it('is refused until the branch was fetched, and is judged then', () => {
    commit('one', [B]);
    bring('origin', 'feature');
    const unseen = elsewhere('feature', 'far away', [A]);
    signed('one, again', [B]);
    for (const words of [
      ['-f', 'origin', 'feature'],
      [`--force-with-lease=feature:${unseen}`, 'origin', 'feature'],
    ]) {
      const run = push(B, words);
      expect(run.status).toBe(1);
      expect(messages(run)).toEqual([
        `error: nobody can tell what this push drops: the remote has feature at ${unseen.slice(0, 7)}, which was never fetched`,
        `hint: git -C ${world.path} fetch origin refs/heads/feature`,
      ]);
    }
    world.follow(B, push(B, ['-f', 'origin', 'feature']).stderr);
    const again = push(B, ['-f', 'origin', 'feature']);
    expect(messages(again)[1]).toMatch(/"far away" by claude aaaaaaaa$/);
    world.follow(B, again.stderr);
    expect(there()).toBe(world.git(['rev-parse', 'feature']));
  });

  it('is left to git if it is not forced; a person is warned', () => {
    bring('origin', 'feature');
    elsewhere('feature', 'far away', [A]);
    commit('one', [B]);
    const run = push(B, ['origin', 'feature', 'feature:new']);
    expect(run.stderr).toContain('[rejected]');
    expect(run.stderr).not.toContain('nobody can tell');
    expect(there('new')).toBe(world.git(['rev-parse', 'feature']));
    world.git(['config', 'remote.origin.push', '+refs/heads/*:refs/heads/*']);
    expect(push(B, ['origin']).status).toBe(1);
    const person = push(undefined, ['origin']);
    expect(person.status).toBe(0);
    expect(messages(person)).toHaveLength(1);
  });
});

describe('a push that drops nobody’s work passes', () => {
  it('the session’s own commits: amended, squashed, rebased, reset, or on a deleted branch', () => {
    commit('one', [B]);
    commit('two', [B]);
    passes(B, 'origin', 'feature');
    commit('three', [B.slice(0, 8)]);
    passes(B, 'origin', 'feature');
    signed('three, again', [B]);
    passes(B, '-f', 'origin', 'feature');
    world.git(['reset', '-q', '--soft', 'main']);
    world.git(['commit', '-q', '-m', 'all', '-m', `Claude-Session-Id: ${B}`], {
      env: { GIT_HANDOFF: 'off' },
    });
    passes(B, '--force-with-lease', 'origin', 'feature');
    world.git(['switch', '-q', 'main']);
    commit('of A', [A]);
    bring('origin', 'main');
    world.git(['switch', '-q', 'feature']);
    world.git(['rebase', '-q', 'main'], { env: { GIT_HANDOFF: 'off' } });
    passes(B, 'origin', '+feature');
    world.git(['reset', '-q', '--hard', 'main']);
    passes(B, '-f', 'origin', 'feature');
    passes(B, 'origin', ':feature');
  });

  it('others’ commits that the push contains with another base, message or branch', () => {
    commit('one', [A]);
    commit('two', []);
    bring('origin', 'feature');
    world.git(['switch', '-q', 'main']);
    commit('ahead', [A]);
    bring('origin', 'main');
    world.git(['switch', '-q', 'feature']);
    world.git(['rebase', '-q', 'main'], { env: { GIT_HANDOFF: 'off' } });
    signed('two, in other words', []);
    const old = there();
    expect(push(B, ['-f', 'origin', 'feature']).status).toBe(0);
    bring('origin', `${old}:refs/heads/old`);
    passes(B, 'origin', ':old', 'feature:renamed');
  });

  it('others’ commits that another branch of the remote has, not only its tracking ref here', () => {
    const { tip } = dropped();
    bring('origin', 'origin/feature:refs/heads/kept');
    world.git(['fetch', '-q']);
    passes(B, 'origin', ':feature');
    world.git(['remote', 'set-head', 'origin', 'kept']);
    expect(push(B, ['origin', ':kept']).status).toBe(1);
    expect(there('kept')).toBe(tip);
  });

  it('merges, and empty commits', () => {
    world.git(['switch', '-q', 'main']);
    const ahead = commit('ahead', [B]);
    world.git(['switch', '-q', 'feature']);
    commit('one', [B]);
    const merge = ['merge', '-q', '--no-ff', '-m', 'merge', '-m', `Claude-Session-Id: ${A}`, ahead];
    world.git(merge, { env: { GIT_HANDOFF: 'off' } });
    world.git(['commit', '-q', '--allow-empty', '-m', 'again', '-m', `Claude-Session-Id: ${A}`], {
      env: { GIT_HANDOFF: 'off' },
    });
    bring('origin', 'feature');
    world.git(['reset', '-q', '--hard', ahead]);
    passes(B, '-f', 'origin', 'feature');
  });

  it('commits of a session whose conversation it continues, or that it took over', () => {
    const C = 'cccccccc-3333-4333-8333-333333333333';
    const clear = { cwd: world.path, session_id: B };
    world.guard({ ...clear, hook_event_name: 'SessionEnd', reason: 'clear' });
    world.guard({ ...clear, session_id: C, hook_event_name: 'SessionStart', source: 'clear' });
    commit('one', [B]);
    commit('two', [A, C]);
    signed(`two\n\nHandoff-Accepted-From: ${A}`, [A, C]);
    bring('origin', 'feature');
    world.git(['reset', '-q', '--hard', 'main']);
    passes(C, '-f', 'origin', 'feature');
  });

  it('commits without a trailer where no session writes trailers', () => {
    world.git(['config', 'handoff.trailer', 'off']);
    commit('one', []);
    bring('origin', 'feature');
    world.git(['reset', '-q', '--hard', 'main']);
    passes(B, '-f', 'origin', 'feature');
  });
});

describe('other repositories', () => {
  it('of sha256', () => {
    world.remove();
    start({ objectFormat: 'sha256' });
    const { tip } = dropped();
    expect(tip).toHaveLength(64);
    world.follow(B, push(B, ['-f', 'origin', 'feature']).stderr);
    expect(there()).toBe(world.git(['rev-parse', 'feature']));
  });

  it('a remote without remote-tracking refs, and one with a name of several parts', () => {
    const { tip } = dropped();
    world.git(['remote', 'rename', 'origin', 'team/origin']);
    world.git(['config', 'remote.bare.url', remote]);
    mkdirSync(join(world.path, 'below'));
    for (const name of ['team/origin', 'bare']) {
      bring(name, `${tip}:refs/heads/feature`);
      const run = push(B, ['-f', name, 'feature'], { cwd: join(world.path, 'below') });
      expect(run.status).toBe(1);
      world.follow(B, run.stderr);
      expect(there()).toBe(world.git(['rev-parse', 'feature']));
    }
  });
});

it('the check needs one more call of git where a branch only grows', () => {
  bring('origin', 'feature');
  const trace = join(world.root, 'trace');
  const calls = (lease: string) => {
    commit(`with ${lease}`, [B]);
    world.git(['config', 'handoff.pushLease', lease]);
    rmSync(trace, { force: true });
    expect(push(B, ['origin', 'feature'], { env: { GIT_HANDOFF_TRACE: trace } }).status).toBe(0);
    return world
      .run('cat', [trace])
      .stdout.split('\n')
      .filter((line) => line.includes(' git-handoff git: ')).length;
  };
  expect(calls('true')).toBe(calls('false') + 1);
});
