import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, refusal, contextText } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld();
  world.git(['branch', 'feat/a']);
  world.git(['switch', '-q', 'feat/a']);
  world.begin(A);
  world.begin(B);
});
afterEach(() => world.remove());

describe('a branch that is switched under a session', () => {
  it('is refused while the session has uncommitted work there', () => {
    world.wrote(A, 'f', 'x');
    const text = refusal(world.may(B, 'git checkout main'));
    expect(text).toContain('aaaaaaaa');
    expect(text).toContain('git worktree add');
  });

  it('by hand makes its commit refused until the session has switched back', () => {
    world.wrote(A, 'f', 'x');
    world.git(['add', 'f']);
    world.git(['checkout', '-q', 'main']);
    const head = world.git(['rev-parse', 'HEAD']);
    const refused = world.as(A, ['commit', '-am', 'x']);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain('this session was on feat/a, but the worktree is on main now');
    expect(refused.stderr).toContain(`hint: git -C ${world.path} switch feat/a`);
    expect(world.git(['rev-parse', 'HEAD'])).toBe(head);
    expect(world.as(A, ['switch', '-q', 'feat/a']).status).toBe(0);
    expect(world.as(A, ['commit', '-qam', 'x'])).toMatchObject({ status: 0 });
    expect(world.git(['log', '-1', '--format=%s', 'feat/a'])).toBe('x');
  });

  it('by another session makes its commit refused with that session’s name', () => {
    world.wrote(A, 'f', 'x');
    world.run('git', ['add', 'f']);
    // A shell command of B is not refused when A has no uncommitted changes.
    world.as(A, ['commit', '-qm', 'f']);
    expect(world.bash(B, 'git switch -q main').before.kind).not.toBe('deny');
    world.git(['rm', '-q', 'a.txt']);
    const refused = world.as(A, ['commit', '-m', 'x']);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toMatch(
      /this session was on feat\/a, but the worktree is on main now: .*bbbbbbbb switched it/,
    );
  });

  it('by the session itself does not stop it, even in the command that commits', () => {
    world.wrote(A, 'f', 'x');
    const { run } = world.bash(A, 'git switch -q main && git add f && git commit -qm x');
    expect(run).toMatchObject({ status: 0 });
    world.wrote(A, 'g', 'x');
    expect(world.bash(A, 'git add g && git commit -qm y').run).toMatchObject({ status: 0 });
  });

  it('is reported once, in plain words', () => {
    world.git(['checkout', '-q', 'main']);
    expect(contextText(world.may(A, 'make'))).toContain('This working tree is on main now; it was on feat/a');
    expect(contextText(world.may(A, 'make'))).toBe('');
  });

  it('does not concern a lone session', () => {
    world.end(B);
    world.write(A, 'f', 'x');
    world.git(['checkout', '-q', 'main']);
    world.git(['add', 'f']);
    // A session may remember for a minute which others are here. SessionStart makes it look again.
    world.begin(A);
    expect(world.as(A, ['commit', '-qam', 'x'])).toMatchObject({ status: 0 });
  });
});

describe('what another session did to the history', () => {
  it('a commit is reported once: who, what, where', () => {
    world.write(A, 'one', '1\n');
    world.write(A, 'two', '2\n');
    world.write(A, 'three', '3\n');
    world.bash(A, 'git add one two three && git commit -qm three');
    const oid = world.git(['rev-parse', '--short=7', 'HEAD']);
    expect(contextText(world.may(B, 'make'))).toContain(`claude aaaaaaaa committed ${oid} on feat/a.`);
    expect(contextText(world.may(B, 'make'))).toBe('');
    expect(contextText(world.may(A, 'make'))).toBe('');
  });

  it('reaches a session that only writes files, too', () => {
    world.write(A, 'one', '1\n');
    world.bash(A, 'git add one && git commit -qm one');
    expect(world.write(B, 'two', '2\n').kind).toBe('silent');
    expect(world.ledger(B).some(({ t }) => t === 'notified')).toBe(true);
  });

  it('a discarded change is reported once, with the paths', () => {
    world.write(A, 'src/a.ts', '1\n');
    world.write(A, 'src/b.ts', '2\n');
    world.write(A, 'shared.md', '3\n');
    expect(world.bash(A, 'git checkout -- .').before.kind).toBe('silent');
    const text = contextText(world.may(B, 'make'));
    expect(text).toContain(
      'claude aaaaaaaa discarded the uncommitted changes in shared.md, src/a.ts, src/b.ts',
    );
    expect(contextText(world.may(B, 'make'))).toBe('');
  });

  it('a commit from elsewhere is reported with its session, if the commit names one', () => {
    world.bash(B, 'true; make');
    const message = `Limit\n\nClaude-Session-Id: ${A}`;
    const tree = world.git(['rev-parse', 'HEAD^{tree}']);
    const oid = world.git(['commit-tree', '-p', 'HEAD', '-m', message, tree]);
    world.git(['reset', '-q', '--soft', oid]);
    expect(contextText(world.may(B, 'make'))).toMatch(
      /: "Limit", by claude aaaaaaaa\. Check the commit before/,
    );
  });

  it('a reset by hand is reported, too', () => {
    world.commit('more', { 'more.txt': 'x\n' });
    world.may(B, 'make');
    world.bash(B, 'true; make');
    world.git(['reset', '-q', '--hard', 'HEAD~1']);
    expect(contextText(world.may(B, 'make'))).toMatch(
      /feat\/a is at [0-9a-f]{7} now \(was [0-9a-f]{7}\): ".*", by no known session\. Check/,
    );
    expect(contextText(world.may(B, 'make'))).toBe('');
  });
});

describe('handoff.headCheck = strict (the cases of jjagent)', () => {
  const subject = (message: string, session?: string) => {
    const trailer = session === undefined ? [] : ['-m', `Claude-Session-Id: ${session}`];
    world.git(['commit', '-q', '--allow-empty', '-m', message, ...trailer]);
    return world.git(['rev-parse', '--short=12', 'HEAD']);
  };
  beforeEach(() => world.git(['config', 'handoff.headCheck', 'strict']));

  it('fails on a change of another live session', () => {
    const oid = subject('work', A);
    const text = refusal(world.write(B, 'src/b.ts', 'x\n'));
    expect(text).toMatch(
      /^Error: Concurrent Claude session detected\n\nThe working copy is a Claude change from another session\.\n/,
    );
    expect(text).toContain('Another Claude Code session is likely active in this repo.');
    expect(text.split('\n').slice(-3)).toEqual([
      `Current change: ${oid}`,
      'This session:   bbbbbbbb',
      'Other session:  aaaaaaaa',
    ]);
  });

  it('fails on a temporary workspace', () => {
    const oid = subject('[Claude Workspace] abc');
    const text = refusal(world.may(B, 'make'));
    expect(text).toMatch(/^Error: Temporary workspace detected\n/);
    expect(text.split('\n').slice(-2)).toEqual([`Current change: ${oid}`, 'This session:   bbbbbbbb']);
  });

  it('says afterwards that a commit has changed the original branch meanwhile', () => {
    // A program that commits without any hooks, so that the guard does not see the commit.
    const program = "require('node:child_process').execFileSync('git', process.env.WORDS.split('|'))";
    writeFileSync(join(world.path, '.git', 'program.cjs'), program);
    const trailer = `Claude-Session-Id: ${A}`;
    const words = [
      '-c',
      'core.hooksPath=/dev/null',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'x',
      '-m',
      trailer,
    ];
    const { after } = world.bash(B, 'node .git/program.cjs', { env: { WORDS: words.join('|') } });
    expect(contextText(after)).toContain(
      'The original working copy is a Claude change from another session.',
    );
  });

  it('passes on the session’s own change', () => {
    subject('work', B);
    expect(world.write(B, 'src/b.ts', 'x\n').kind).toBe('silent');
  });

  it('passes on a plain commit of a person', () => {
    subject('work');
    expect(world.write(B, 'src/b.ts', 'x\n').kind).toBe('silent');
  });

  it('passes on the change of an ended session', () => {
    subject('work', A);
    world.end(A);
    expect(world.write(B, 'src/b.ts', 'x\n').kind).not.toBe('deny');
  });
});

describe('a rebase whose editor drops a session’s commit', () => {
  it('is told to both sessions, with the command that brings the commit back', () => {
    const commit = (session: string, file: string) => {
      world.wrote(session, file, 'x');
      expect(world.bash(session, `git add ${file} && git commit -qm ${file}`).run?.status).toBe(0);
      return world.git(['rev-parse', '--short=7', 'HEAD']);
    };
    const theirs = (commit(A, 'one'), commit(B, 'two'));
    commit(A, 'three');
    const after = world.bash(A, "GIT_SEQUENCE_EDITOR='sed -i.old 1d' git rebase -q -i HEAD~2").after;
    const what = `dropped from feat/a: ${theirs} ("two", by claude bbbbbbbb). To bring that back: git cherry-pick ${theirs}`;
    expect(contextText(after)).toContain(`You ${what}`);
    expect(contextText(world.bash(B, 'ls').after)).toContain(`claude aaaaaaaa ${what}`);
    expect(world.run('git', ['cherry-pick', theirs]).status).toBe(0);
    expect(world.git(['ls-files', 'two'])).toBe('two');
  });

  it('says nothing of commits that a rebase copies', () => {
    world.git(['branch', 'upstream']);
    world.wrote(B, 'two', 'x');
    world.bash(B, 'git add two && git commit -qm two');
    const more = world.git(['commit-tree', '-p', 'upstream', '-m', 'more', 'upstream^{tree}']);
    world.git(['update-ref', 'refs/heads/upstream', more]);
    expect(world.bash(A, 'git rebase -q upstream').run?.status).toBe(0);
    expect(contextText(world.bash(B, 'ls').after)).not.toContain('dropped');
  });
});
