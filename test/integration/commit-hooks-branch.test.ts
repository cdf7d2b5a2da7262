import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, C } from '../support/sharing-world.ts';
import { CommitWorld, errorsOf, hintsOf } from '../support/commit-hooks-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld();
  world.git(['branch', 'feat/a']);
});
afterEach(() => world.remove());

const TIME = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ';

describe('a commit on a branch other than the session knows', () => {
  it('after somebody’s switch: refused until it is switched back', () => {
    world.git(['switch', '-q', 'feat/a']);
    world.begin(A);
    world.begin(B);
    world.wrote(A, 'src/a.ts', '1\n');
    world.git(['checkout', '-q', 'main']);
    for (const flags of [['-am'], ['-n', '-am']]) {
      const stderr = world.refused(A, ['commit', ...flags, 'x']);
      expect(stderr).toMatch(
        new RegExp(
          `^error: this session was on feat/a, but the worktree is on main now: it is not known who switched it\n`,
        ),
      );
      expect(hintsOf(stderr)).toEqual(['git switch feat/a']);
    }
    world.follow(A, world.refused(A, ['commit', '-am', 'x']));
    world.commits(A, ['-am', 'x']);
    expect(world.git(['log', '-1', '--format=%s', 'feat/a'])).toBe('x');
  });

  it('after another session’s switch: the refusal names that session', () => {
    world.begin(A);
    world.begin(B);
    world.bash(B, 'git switch -q feat/a');
    world.wrote(A, 'src/a.ts', '1\n');
    const stderr = world.refused(A, ['commit', '-am', 'x']);
    expect(stderr).toMatch(
      new RegExp(
        `^error: this session was on main, but the worktree is on feat/a now: claude bbbbbbbb switched it at ${TIME}\n`,
      ),
    );
    world.commits(B, ['--allow-empty', '-m', 'B is where it went']);
  });

  it('after somebody’s git handoff commit on that branch: the hint switches back all the same', () => {
    world.begin(A);
    world.begin(B);
    world.bash(B, 'git switch -q feat/a');
    world.write(B, 'of-b.ts', 'b\n');
    expect(world.bash(B, 'git handoff commit -m b').run).toMatchObject({ status: 0 });
    world.wrote(A, 'of-a.ts', '1\n');
    const { run } = world.bash(A, 'git handoff commit -m x -- of-a.ts');
    expect(hintsOf(run?.stderr ?? '')[0]).toBe('git switch main');
  });

  it('by git handoff commit: the hint switches back, and then the same command commits', () => {
    world.begin(A);
    world.begin(B);
    world.bash(B, 'git switch -q feat/a');
    world.wrote(A, 'src/a.ts', '1\n');
    const commit = 'git handoff commit -m x -- src/a.ts';
    const { run } = world.bash(A, commit);
    expect(errorsOf(run?.stderr ?? '')[0]).toMatch(
      /^this session was on main, but the worktree is on feat\/a now: claude bbbbbbbb switched it/,
    );
    expect(hintsOf(run?.stderr ?? '')[0]).toBe('git switch main');
    expect(world.bash(A, 'git switch main').run).toMatchObject({ status: 0 });
    expect(world.bash(A, commit).run).toMatchObject({ status: 0 });
    expect(world.git(['log', '-1', '--format=%s', 'main'])).toBe('x');
  });

  it('while another worktree has checked out its own branch: the hint commits here', () => {
    world.begin(A);
    world.begin(B);
    world.wrote(A, 'of-a.ts', '1\n');
    world.git(['switch', '-q', 'feat/a']);
    world.git(['worktree', 'add', '-q', '../other', 'main']);
    const { run } = world.bash(A, 'git add of-a.ts && git commit -m x');
    expect(errorsOf(run?.stderr ?? '')).toEqual([
      'this session was on main, but the worktree is on feat/a now: it is not known who switched it',
    ]);
    const [hint = ''] = hintsOf(run?.stderr ?? '');
    expect(hint).toBe('git handoff commit -m x -- of-a.ts');
    expect(world.bash(A, hint).run).toMatchObject({ status: 0 });
  });

  it('by git handoff commit -F -: the hint keeps the message', () => {
    world.git(['switch', '-q', 'feat/a']);
    world.commit('other lines', { 'src/a.ts': 'other\n' });
    world.git(['switch', '-q', 'main']);
    world.begin(A);
    world.begin(B);
    world.wrote(A, 'src/b.ts', '1\n');
    world.wrote(B, 'shared.md', 'of B\n');
    world.git(['symbolic-ref', 'HEAD', 'refs/heads/feat/a']);
    const { run } = world.bash(A, "git handoff commit -F - <<'END'\nfeat: x\n\n- body\nEND");
    expect(run?.stderr).toMatch(/^error: this session was on main, but the worktree is on feat\/a/);
    const [hint = ''] = hintsOf(run?.stderr ?? '');
    expect(hint).toMatch(/^git handoff commit -F /);
    const again = world.bash(A, hint).run;
    expect(again?.stderr).not.toContain('cannot read');
  });

  it.each([
    ['the other branch has other lines of it', 'feat/a', undefined],
    ['another session has work there', 'main', B],
  ])('that cannot be switched back: the hint commits here (%s)', (_, at, peer) => {
    world.commit('later', { 'src/a.ts': 'later\n' });
    world.begin(A);
    world.begin(B);
    world.git(at === 'main' ? ['switch', '-qc', 'third'] : ['switch', '-q', at]);
    if (peer !== undefined) world.wrote(peer, 'src/b.ts', 'of B\n');
    world.wrote(A, 'src/a.ts', 'of A\n');
    const { run } = world.bash(A, "git commit -am 'x'");
    expect(errorsOf(run?.stderr ?? '')).toContainEqual(
      expect.stringMatching(/^this session was on main, but the worktree is on /),
    );
    expect(hintsOf(run?.stderr ?? '')).toEqual(['git handoff commit -m x -- src/a.ts']);
    expect(world.bash(A, hintsOf(run?.stderr ?? '')[0] ?? '').run).toMatchObject({ status: 0 });
    expect(world.changed()).toEqual(['src/a.ts']);
  });

  it('of a merge that began after the switch: the hint finishes the merge here', () => {
    world.git(['switch', '-q', 'feat/a']);
    world.commit('later', { 'src/a.ts': 'later\n' });
    world.git(['switch', '-q', 'main']);
    world.begin(A);
    world.begin(B);
    world.git(['switch', '-qc', 'third']);
    const { run } = world.bash(A, 'git merge -q --no-ff --no-commit feat/a; git commit -qm merged');
    expect(errorsOf(run?.stderr ?? '')).toEqual([
      expect.stringMatching(/^this session was on main, but the worktree is on third/),
    ]);
    expect(hintsOf(run?.stderr ?? '')).toEqual(['git handoff commit -m merged']);
    expect(world.bash(A, 'git handoff commit -m merged').run).toMatchObject({ status: 0 });
    expect(world.git(['log', '-1', '--format=%s', 'third^2'])).toBe('later');
  });

  it('instead of the session’s detached HEAD: the hint switches back to that', () => {
    const start = world.git(['rev-parse', 'HEAD']);
    world.git(['checkout', '-q', '--detach']);
    world.begin(A);
    world.begin(B);
    world.wrote(A, 'src/a.ts', '1\n');
    world.git(['switch', '-q', 'main']);
    const stderr = world.refused(A, ['commit', '-am', 'x']);
    expect(errorsOf(stderr)[0]).toMatch(
      /^this session was on a detached HEAD, but the worktree is on main now: it is not known who/,
    );
    expect(hintsOf(stderr)).toEqual([`git switch --detach ${start}`]);
    world.follow(A, stderr);
    world.commits(A, ['-am', 'x']);
  });

  it('after its own switch, in this command or an earlier one: passes', () => {
    world.begin(A);
    world.begin(B);
    world.bash(A, 'git switch -q feat/a');
    world.wrote(A, 'src/a.ts', '1\n');
    world.commits(A, ['-am', 'x']);
    const { run } = world.bash(A, 'git switch -qc third && git commit -q --allow-empty -m y');
    expect(run).toMatchObject({ status: 0, stderr: '' });
  });

  it('while nobody else is at work, or after others’ commits on the same branch: passes', () => {
    world.begin(A);
    world.git(['switch', '-q', 'feat/a']);
    world.wrote(A, 'src/a.ts', '1\n');
    world.commits(A, ['-am', 'x']);
    world.begin(B);
    world.commits(undefined, ['--allow-empty', '-m', 'by hand']);
    world.commits(B, ['--allow-empty', '-m', 'B']);
    world.wrote(A, 'src/a.ts', '2\n');
    world.commits(A, ['-am', 'y']);
  });
});

describe('handoff files of the predecessor in a commit', () => {
  const note = (owner: string) => `<!-- claude-session: ${owner} -->\nnote\n`;

  it('of another live session, and of two sessions, are refused', () => {
    world.begin(A);
    world.begin(B);
    world.commit('notes', {});
    world.run('mkdir', ['notes']);
    world.run('sh', ['-c', `printf '%s' "$1" >notes/handoff-main-one.md`, 'sh', note(A)]);
    world.run('sh', ['-c', `printf '%s' "$1" >notes/handoff-main-two.md`, 'sh', note(B)]);
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toEqual([
      'notes/handoff-main-one.md: its first line names claude aaaaaaaa as its owner',
    ]);
    world.follow(B, stderr);
    expect(world.changed()).toEqual(['notes/handoff-main-two.md']);
    const third = world.refused(C, ['commit', '-m', 'C']);
    expect(hintsOf(third)).toEqual(['git handoff status']);
    world.end(A);
    world.commits(B, ['-m', 'what A has left']);
  });

  it('of two ended sessions are refused in one commit; those of one ended session pass', () => {
    world.begin(A);
    world.begin(B);
    world.commit('notes', {});
    for (const [name, owner] of [
      ['handoff-main-one.md', 'dddddddd-4444'],
      ['handoff-main-two.md', 'eeeeeeee-5555'],
    ] as const) {
      world.run('sh', ['-c', 'printf %s "$1" >"$2"', 'sh', note(owner), name]);
    }
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toHaveLength(2);
    world.git(['reset', '-q', '--', 'handoff-main-two.md']);
    world.commits(B, ['-m', 'B']);
    expect(world.changed()).toEqual(['handoff-main-one.md']);
  });
});
