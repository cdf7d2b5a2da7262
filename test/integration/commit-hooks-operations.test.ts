import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B } from '../support/sharing-world.ts';
import { CommitWorld, errorsOf, hintsOf } from '../support/commit-hooks-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld();
  world.git(['switch', '-qc', 'side']);
  world.commit('side shared', { 'shared.md': 'side\n' });
  world.commit('side', { 'src/b.ts': 'side\n' });
  world.commit('side too', { 'src/b.ts': 'side too\n' });
  world.git(['switch', '-q', 'main']);
  world.commit('main', { 'src/b.ts': 'main\n' });
});
afterEach(() => world.remove());

const inGit = (name: string) => join(world.path, '.git', name);
const quiet = { env: { GIT_EDITOR: 'true' } };

/** Runs the session's shell command, which leaves git stopped in the middle of an operation. */
function stops(session: string, command: string): void {
  const { before, run } = world.bash(session, command, quiet);
  expect({ command, before, ran: run !== undefined }).toMatchObject({ command, ran: true });
}

/** A person resolves and stages everything. */
function resolve(): void {
  writeFileSync(join(world.path, 'src/b.ts'), 'resolved\n');
  world.git(['add', '-A']);
}

/** Each unfinished operation, and the command that begins it. */
const OPERATIONS: readonly [what: string, command: string][] = [
  ['merge', 'git merge -q side'],
  ['merge', 'git pull -q --no-rebase . side'],
  ['cherry-pick', 'git cherry-pick side'],
  ['cherry-pick', 'git cherry-pick side~ side'],
  ['revert', 'git revert -n HEAD'],
  ['rebase', 'git rebase -q side'],
  ['rebase', 'git rebase -q --apply side'],
  ['am', 'git format-patch --stdout side~..side | git am -q -3'],
];

describe('an operation that another live session has begun', () => {
  it.each(OPERATIONS)('a %s (%s) is finished by that session only', (what, command) => {
    world.begin(A);
    world.begin(B);
    stops(A, command);
    resolve();
    // git itself refuses to amend in the middle of a merge or a cherry-pick.
    const amend = ['merge', 'cherry-pick'].includes(what) ? [] : [['--amend', '-m', 'x']];
    for (const words of [['-m', 'x'], ['--no-edit'], ['-n', '-m', 'x'], ...amend]) {
      const stderr = world.refused(B, ['commit', ...words], quiet);
      expect(errorsOf(stderr)).toEqual([
        expect.stringContaining(`claude ${A.slice(0, 8)} began a${what === 'am' ? 'n' : ''} ${what} here`),
      ]);
    }
    const own = world.handoff(['commit', '-m', 'x'], { session: B });
    expect(own.stderr).toContain(`claude ${A.slice(0, 8)} began`);
    expect(own.status).toBe(3);
    // Neither A itself nor a person is stopped.
    const run = world.as(A, ['commit', '-qm', 'A'], quiet);
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('leaves a command for the session’s own work, which works, even from a subfolder', () => {
    world.begin(A);
    world.begin(B);
    stops(A, 'git merge -q side');
    resolve();
    const cwd = join(world.path, 'src');
    const stderr = world.refused(B, ['commit', '-m', 'x'], { cwd });
    expect(hintsOf(stderr)[0]).toMatch(/^git worktree add \.\.\//);
    world.follow(B, stderr, { cwd });
    expect(world.git(['worktree', 'list'])).toContain(`repository-${B.slice(0, 8)}`);
    // The hints also work when the worktree exists already.
    world.follow(B, world.refused(B, ['commit', '-m', 'x']));
    const own = world.handoff(['commit', '-m', 'x'], { session: B });
    world.follow(B, own.stderr);
  });

  it('is not continued, either', () => {
    world.begin(A);
    world.begin(B);
    stops(A, 'git rebase -q side');
    resolve();
    const head = world.git(['rev-parse', 'HEAD']);
    const run = world.as(B, ['rebase', '--continue'], quiet);
    expect(run.stderr).toContain(`claude ${A.slice(0, 8)} began a rebase`);
    expect(world.git(['rev-parse', 'HEAD'])).toBe(head);
    stops(A, 'git rebase --continue');
    expect(world.git(['log', '-1', '--format=%s'])).toBe('main');
    expect(world.commits(B, ['--allow-empty', '-m', 'B'])).toBe('');
  });

  it('may be finished by a person', () => {
    world.begin(A);
    world.begin(B);
    stops(A, 'git merge -q side');
    resolve();
    expect(world.commits(undefined, ['--no-edit'])).toBe('');
  });

  it('may be finished by anybody once that session is over', () => {
    world.begin(A);
    world.begin(B);
    stops(A, 'git merge -q side');
    resolve();
    world.end(A);
    expect(world.commits(B, ['--no-edit'])).toBe('');
  });

  it('is known even if its command began while that session was alone', () => {
    world.begin(A);
    world.as(A, ['merge', '-q', 'side']);
    world.begin(B);
    resolve();
    expect(errorsOf(world.refused(B, ['commit', '--no-edit']))).toHaveLength(1);
    expect(world.commits(A, ['--no-edit'])).toBe('');
  });

  it('is attributed to the right one of two simultaneous commands', () => {
    world.begin(A);
    world.begin(B);
    const tool = (session: string, id: string, command: string, event: string) =>
      world.guard({
        session_id: session,
        hook_event_name: event,
        tool_name: 'Bash',
        tool_use_id: id,
        tool_input: { command },
      });
    tool(A, 'a', 'make', 'PreToolUse');
    tool(B, 'b', 'git merge -q side', 'PreToolUse');
    world.as(B, ['merge', '-q', 'side']);
    tool(B, 'b', 'git merge -q side', 'PostToolUseFailure');
    tool(A, 'a', 'make', 'PostToolUse');
    resolve();
    const [error] = errorsOf(world.refused(A, ['commit', '--no-edit']));
    expect(error).toContain(`claude ${B.slice(0, 8)} began a merge`);
    expect(world.commits(B, ['--no-edit'])).toBe('');
  });
});

describe('an operation that nobody is known to have begun', () => {
  it('may be finished by anybody: a merge by hand, or one other than was begun before', () => {
    world.begin(A);
    world.begin(B);
    world.git(['merge', '-q', '--no-commit', '--no-ff', 'side~2']);
    // Ten seconds before the next command, so that imprecise file times do not matter.
    const began = Date.now() / 1000 - 10;
    utimesSync(inGit('MERGE_HEAD'), began, began);
    stops(A, 'touch src/a.ts');
    expect(world.commits(B, ['--no-edit'])).toBe('');
    stops(A, 'git merge -q side');
    world.git(['merge', '--abort']);
    world.run('git', ['merge', '-q', 'side']);
    resolve();
    expect(world.commits(B, ['--no-edit'])).toBe('');
  });

  it('may be finished by anybody if it began before the sessions did', () => {
    world.run('git', ['merge', '-q', 'side']);
    world.begin(A);
    world.begin(B);
    resolve();
    expect(world.commits(B, ['--no-edit'])).toBe('');
  });

  it('is not checked while git goes from pick to pick, but is once git has stopped', () => {
    world.begin(A);
    world.begin(B);
    world.git(['switch', '-q', 'side']);
    world.clearGuardLog();
    // With this git, no commit can be judged, and every attempt to judge one would be logged.
    const folder = join(world.root, 'stub');
    mkdirSync(folder);
    const own = join(world.git(['--exec-path']), 'git');
    const script = `case "$*" in *--raw*--cached*) exit 129 ;; esac\nexec '${own}' "$@"`;
    writeFileSync(join(folder, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const env = { GIT_EXEC_PATH: folder };
    const asA = (...args: string[]) => world.run(own, args, { session: A, env }).status;
    expect(asA('rebase', '-q', 'main~')).toBe(0);
    expect(asA('rebase', '-q', 'main')).not.toBe(0);
    expect(world.guardLog()).not.toContain('unchecked');
    expect(asA('hook', 'run', 'pre-commit')).toBe(0);
    expect(world.guardLog()).toContain('unchecked');
  });
});

describe('a state that git could not continue', () => {
  const oid = '0123456789'.repeat(4);

  it.each<[string, Readonly<Record<string, string>>]>([
    ['an empty rebase-merge', { 'rebase-merge/': '' }],
    ['rebase-merge with an autostash only', { 'rebase-merge/autostash': oid }],
    ['an empty rebase-apply', { 'rebase-apply/': '' }],
    ['rebase-apply without its numbers', { 'rebase-apply/applying': '', 'rebase-apply/patch': 'x' }],
    ['rebase-apply of nothing', { 'rebase-apply/next': '1\n', 'rebase-apply/last': '1\n' }],
    ['an empty sequencer', { 'sequencer/': '' }],
    ['a sequencer without its list', { 'sequencer/head': `${oid}\n`, 'sequencer/opts': '' }],
    ['an empty MERGE_HEAD', { MERGE_HEAD: '' }],
    ['a MERGE_HEAD that names nothing', { MERGE_HEAD: 'main\n' }],
    ['a cut CHERRY_PICK_HEAD', { CHERRY_PICK_HEAD: oid.slice(1) }],
    ['a REVERT_HEAD folder', { 'REVERT_HEAD/': '' }],
    ['the message of a revert', { MERGE_MSG: 'Revert "x"\n' }],
  ])('%s lets nothing through', (_, files) => {
    world.begin(A);
    world.begin(B);
    world.wrote(A, 'src/a.ts', 'A\n');
    world.wrote(B, 'shared.md', 'B\n');
    world.git(['add', '-A']);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(inGit(name.replace(/[^/]*$/, '')), { recursive: true });
      if (!name.endsWith('/')) writeFileSync(inGit(name), text);
    }
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)[0]).toMatch(/^src\/a\.ts: /);
    // With this MERGE_HEAD, git itself refuses to commit.
    if ('MERGE_HEAD' in files) return;
    const done = world.handoff(['commit', '-m', 'B'], { session: B });
    expect({ status: done.status, stderr: done.stderr }).toMatchObject({ status: 0 });
    expect(world.changed()).toEqual(['shared.md']);
  });
});

describe('a session that is alone in its worktree', () => {
  const elsewhere = (): string => {
    const path = world.worktree('elsewhere');
    world.begin(A);
    world.begin(B, path);
    expect(readFileSync(inGit('handoff-solo'), 'utf8')).toMatch(A);
    return path;
  };

  it('keeps its files from a session of another worktree, which hears how to continue', () => {
    writeFileSync(join(world.path, 'shared.md'), 'before anybody\n');
    const cwd = elsewhere();
    writeFileSync(join(world.path, 'src/a.ts'), 'A\n');
    for (const words of [
      ['-am', 'x'],
      ['-anm', 'x'],
    ]) {
      const stderr = world.refused(B, ['-C', world.path, 'commit', ...words], { cwd });
      expect(errorsOf(stderr)).toEqual([
        `src/a.ts: claude ${A.slice(0, 8)} or the user changed it and has not committed it`,
      ]);
    }
    expect(readFileSync(inGit('handoff-solo'), 'utf8')).toMatch(A);
    // A change that was there before A began has no owner.
    const run = world.as(B, ['-C', world.path, 'commit', '-qm', 'x', '--', 'shared.md'], { cwd });
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    expect([world.changed(), world.ids()]).toEqual([['shared.md'], [B]]);
  });

  it('keeps the operation that it has begun from that session, too', () => {
    const cwd = elsewhere();
    world.as(A, ['merge', '-q', 'side']);
    resolve();
    const stderr = world.refused(B, ['-C', world.path, 'commit', '--no-edit'], { cwd });
    expect(errorsOf(stderr)[0]).toContain(`claude ${A.slice(0, 8)} began a merge`);
    expect(world.commits(A, ['--no-edit'])).toBe('');
  });

  it('lets a person commit beside it', () => {
    elsewhere();
    writeFileSync(join(world.path, 'src/a.ts'), 'A\n');
    expect(world.commits(undefined, ['-am', 'by hand'])).toBe('');
  });
});
