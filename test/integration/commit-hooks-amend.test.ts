import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B } from '../support/sharing-world.ts';
import { CommitWorld, errorsOf, hintsOf, typedHints } from '../support/commit-hooks-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld();
});
afterEach(() => world.remove());

/** A commits src/a.ts, B commits src/b.ts, and A stages a further change. Returns B's commit. */
function bothCommit(): string {
  world.begin(A);
  world.begin(B);
  for (const [session, path] of [
    [A, 'src/a.ts'],
    [B, 'src/b.ts'],
  ] as const) {
    world.wrote(session, path, '1\n');
    world.commits(session, ['-m', session.slice(0, 1), '--', path]);
  }
  world.wrote(A, 'src/a.ts', '2\n');
  world.git(['add', '-A']);
  return world.git(['rev-parse', 'HEAD']);
}

function refusesAmend(args: string[], commit: string, words = '-m x'): string {
  const stderr = world.refused(A, args);
  expect(errorsOf(stderr)).toEqual([
    `commit ${commit.slice(0, 7)} at HEAD was made by claude bbbbbbbb, which is at work: --amend would rewrite it`,
  ]);
  expect(hintsOf(stderr)).toEqual([`git handoff commit ${words} -- src/a.ts`]);
  return stderr;
}

describe('amending another live session’s commit', () => {
  it.each([
    [['commit', '--amend', '-m', 'x'], '-m x'],
    [['commit', '--amend', '--no-verify', '-m', 'x'], '-m x --no-verify'],
    [['commit', '--am', '-n', '-m', 'x'], '-m x --no-verify'],
    [['-c', 'core.abbrev=9', '-C', '.', 'commit', '-mx', '--amend'], '-m x'],
    [['commit', '-am', 'x', '--amen'], '-m x'],
    [['commit', '--amend', '-mx', '--', 'src/a.ts'], '-m x'],
    [['again', '-m', 'x'], '-m x'],
    [['shell-again', '-m', 'x'], '-m x'],
  ])('git %j: refused, and the commit that is meant can be made', (args, words) => {
    const commit = bothCommit();
    world.git(['config', 'alias.again', 'commit --amend']);
    world.git(['config', 'alias.shell-again', '!git commit --amend']);
    world.follow(A, refusesAmend(args, commit, words));
    expect(world.changed()).toEqual(['src/a.ts']);
    expect([world.ids(), world.ids('HEAD~')]).toEqual([[A], [B]]);
  });

  it('beside a file that is older than HEAD: the hints leave that file alone', () => {
    bothCommit();
    world.wrote(B, 'shared.md', 'new\n');
    world.commits(B, ['-m', 'B', '--', 'shared.md']);
    const commit = world.git(['rev-parse', 'HEAD']);
    world.git(['stash', '-q']);
    world.git(['reset', '-q', '--hard', 'HEAD~1']);
    world.git(['stash', 'pop', '-q']);
    world.git(['reset', '-q', '--soft', commit]);
    const stderr = world.refused(A, ['commit', '-a', '--amend', '-m', 'x']);
    expect(hintsOf(stderr)).toEqual(['git handoff commit -m x -- src/a.ts']);
    for (const hint of typedHints(stderr)) world.follow(A, `hint: ${hint}`);
    expect(world.changed()).toEqual(['src/a.ts']);
  });

  it('without own changes: the hint is only git handoff status', () => {
    bothCommit();
    world.git(['reset', '-q', '--hard']);
    const stderr = world.refused(A, ['commit', '-a', '--amend', '--no-edit']);
    expect(hintsOf(stderr)).toEqual(['git handoff status']);
    world.follow(A, stderr);
  });

  it('--no-edit', () => {
    const commit = bothCommit();
    refusesAmend(['commit', '--amend', '--no-edit'], commit, "-m '<message>'");
  });

  it('with handoff.trailer = short', () => {
    world.git(['config', 'handoff.trailer', 'short']);
    const commit = bothCommit();
    expect(world.ids()).toEqual(['bbbbbbbb']);
    refusesAmend(['commit', '--amend', '-m', 'x'], commit);
  });

  it('with handoff.trailer = off, known from the ledger', () => {
    world.git(['config', 'handoff.trailer', 'off']);
    const commit = bothCommit();
    expect(world.ids()).toEqual([]);
    refusesAmend(['commit', '--amend', '-m', 'x'], commit);
    world.commits(B, ['--amend', '--only', '-m', 'own']);
    world.commits(B, ['--amend', '--only', '-m', 'own again']);
    expect(world.git(['log', '-1', '--format=%s'])).toBe('own again');
    refusesAmend(['commit', '--amend', '-m', 'x'], world.git(['rev-parse', 'HEAD']));
  });

  it('on a detached HEAD', () => {
    const commit = bothCommit();
    world.bash(A, 'git checkout -q --detach');
    refusesAmend(['commit', '--amend', '-m', 'x'], commit);
  });
});

describe('what may be amended', () => {
  it('the session’s own, as often as wanted: one trailer is left', () => {
    bothCommit();
    world.commits(A, ['-m', 'own']);
    for (const flags of [
      ['-m', 'y'],
      ['-m', 'z'],
      ['--no-edit'],
      ['-n', '-m', 'last'],
      ['-s', '--no-edit'],
    ]) {
      world.commits(A, ['--amend', '--allow-empty', ...flags]);
      expect(world.ids()).toEqual([A]);
    }
    expect(world.changed()).toEqual(['src/a.ts']);
  });

  it('the session’s own, but not with another’s file: the hint amends it with the rest', () => {
    bothCommit();
    world.commits(A, ['-m', 'own']);
    world.wrote(B, 'src/b.ts', '3\n');
    world.wrote(A, 'shared.md', '3\n');
    world.git(['add', '-A']);
    const stderr = world.refused(A, ['commit', '--amend', '--no-edit']);
    expect(hintsOf(stderr)).toEqual(['git handoff commit --amend --no-edit -- shared.md']);
    world.follow(A, stderr);
    expect(world.changed()).toEqual(['shared.md', 'src/a.ts']);
  });

  it('the commit of an ended session or a person, and any with headCheck = off', () => {
    const commit = bothCommit();
    world.git(['config', 'handoff.headCheck', 'off']);
    world.commits(A, ['--amend', '-m', 'off']);
    world.git(['config', '--unset', 'handoff.headCheck']);
    world.git(['reset', '-q', '--soft', commit]);
    world.end(B);
    world.begin('cccccccc-3333');
    world.commits(A, ['--amend', '-m', 'over']);
    world.commits(undefined, ['--allow-empty', '-m', 'by hand']);
    world.commits(A, ['--amend', '--allow-empty', '-m', 'by hand, better']);
    expect(world.ids()).toEqual([A]);
  });

  it('any commit, by a person', () => {
    bothCommit();
    world.commits(undefined, ['--amend', '-m', 'x']);
    expect(world.changed()).toEqual(['src/a.ts', 'src/b.ts']);
  });

  it('nothing, if a message, a file name or a path only looks like the option', () => {
    bothCommit();
    world.run('touch', ['--', '--amend']);
    world.commits(A, ['-m', '--amend', '-q', '--', 'src/a.ts']);
    expect(world.git(['log', '-1', '--format=%s'])).toBe('--amend');
    world.wrote(A, '--amend', '1\n');
    world.git(['add', '--', '--amend']);
    world.commits(A, ['-m', 'a file', '--', '--amend']);
    world.wrote(A, join('src', 'a.ts'), '4\n');
    world.commits(A, ['-a', '-m', 'x', '--amend', '--no-amend']);
    expect(world.changed()).toEqual(['src/a.ts']);
  });
});
