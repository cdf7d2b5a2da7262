import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SESSION_VARIABLES } from '../../src/domain/names.ts';
import { REFUSED } from '../../src/githooks/git-hook.ts';
import { soleBlock } from '../../src/install/hook-block.ts';
import { shells } from '../support/shells.ts';
import { TrailerWorld, mine, other } from '../support/trailer-world.ts';

const root = join(import.meta.dirname, '..', '..');

it('the git hooks check every variable in which a client names its session', () => {
  const script = readFileSync(join(root, 'git-hooks', 'ask.sh'), 'utf8');
  for (const name of Object.keys(SESSION_VARIABLES)) expect(script).toContain(name);
});

it('the lines that `init` adds to git hooks check them, too', () => {
  for (const name of Object.keys(SESSION_VARIABLES)) expect(soleBlock('pre-commit', '/x')).toContain(name);
});

/** The shims alone, with a stand-in for Node, under every shell that may be `sh`. */
describe.each(shells)('under $name', (shell) => {
  let world: TrailerWorld;
  const begin = () => {
    world = new TrailerWorld(shell, 'stand-in');
    world.enable();
    world.register(process.pid);
  };
  afterEach(() => world.remove());

  const answer = (status: number, ...lines: string[]) => ({
    FAKE_STATUS: String(status),
    FAKE_STDOUT: lines.map((line) => `${line}\n`).join(''),
  });
  const commit = (env: Record<string, string>, ...more: string[]) =>
    world.try(['commit', '-q', '--allow-empty', '-m', 'one', ...more], env);

  it.each([
    [[], 'pre-commit'],
    [['--no-verify'], 'prepare-commit-msg'],
    [['-e'], 'pre-commit'],
    [['-n', '-e'], 'prepare-commit-msg'],
  ])('stops a commit that Node refuses: %j', (more, hook) => {
    begin();
    const env = answer(REFUSED, 'error: x\\n $(id)', 'hint: y');
    const run = commit({ ...env, ...world.editor('true') }, ...more);
    expect(run).toMatchObject({ status: 1, stderr: 'error: x\\n $(id)\nhint: y\n' });
    expect(run.asked.slice(2, 4)).toEqual(['hook', hook]);
    expect(world.try(['rev-parse', '-q', '--verify', 'HEAD']).status).not.toBe(0);
  });

  it('passes on what Node says in addition', () => {
    begin();
    expect(commit(answer(0, 'warning: x'), '-n')).toMatchObject({ status: 0, stderr: 'warning: x\n' });
    expect(commit(answer(0), '-n')).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([1, 3, 7, 127, 137])(
    'lets the commit pass if Node exits with %i, and says once that nobody checked',
    (status) => {
      begin();
      const stderr = 'warning: git-handoff could not check this commit; to see why: git handoff doctor\n';
      expect(commit(answer(status, 'TypeError: x', 'error: y'))).toMatchObject({ status: 0, stderr });
      const edited = { ...answer(status, 'TypeError: x'), ...world.editor('true') };
      expect(commit(edited, '-e')).toMatchObject({ status: 0, stderr });
    },
  );

  it.each(['bin/git-handoff', 'dist/start.cjs'])('does not suggest a doctor that is gone with %s', (part) => {
    begin();
    rmSync(join(world.base.package, part));
    expect(commit(answer(1, 'TypeError: x'))).toMatchObject({
      status: 0,
      stderr: 'warning: git-handoff could not check this commit; parts of it are missing: install it again\n',
    });
  });

  it('passes on where it is', () => {
    begin();
    expect(commit(answer(0), '-n').asked.slice(2)).toEqual([
      'hook',
      'prepare-commit-msg',
      '--git-dir',
      '.git',
      '--common-dir',
      '.git',
      '--',
      '.git/COMMIT_EDITMSG',
      'message',
    ]);
  });

  it('does not start Node if no session can be at work, or git-handoff is off', () => {
    begin();
    expect(commit({ ...answer(REFUSED), GIT_HANDOFF: 'off' })).toMatchObject({ status: 0, asked: [] });
    rmSync(join(world.gitDir, 'handoff', 'beat', mine));
    expect(commit(answer(REFUSED))).toMatchObject({ status: 0, asked: [] });
    expect(commit({ ...answer(REFUSED), GEMINI_SESSION_ID: mine }).status).toBe(1);
    rmSync(join(world.gitDir, 'handoff'), { recursive: true });
    expect(commit({ ...answer(REFUSED), GEMINI_SESSION_ID: mine })).toMatchObject({ status: 0, asked: [] });
  });

  it('finds the repository of a linked worktree', () => {
    begin();
    commit(answer(0));
    const tree = join(world.base.dir, 'a tree');
    world.git(['worktree', 'add', '-q', '-b', 'tree', tree]);
    const run = world.try(['commit', '-q', '--allow-empty', '-nm', 'two'], answer(0), tree);
    const [, gitDir = '', , commonDir = ''] = run.asked.slice(run.asked.indexOf('--git-dir'));
    expect(gitDir).toBe(join(world.gitDir, 'worktrees', 'a-tree'));
    expect(existsSync(join(commonDir, 'handoff', 'beat'))).toBe(true);
  });

  const preCommit = (env: Record<string, string> = {}, ...words: string[]) =>
    world.try(['-c', 'core.editor=true', 'hook', 'run', 'pre-commit', ...words], {
      ...answer(REFUSED),
      ...env,
    });

  it('lets a lone session commit, unless git has stopped in an operation', () => {
    begin();
    writeFileSync(join(world.gitDir, 'handoff-solo'), `${mine} 1 1\n`);
    expect(preCommit()).toMatchObject({ status: 0, asked: [] });
    expect(preCommit({ GEMINI_SESSION_ID: mine, CODEX_THREAD_ID: mine })).toMatchObject({
      status: 0,
      asked: [],
    });
    expect(preCommit({ GEMINI_SESSION_ID: other }).status).toBe(1);
    expect(preCommit({ GEMINI_SESSION_ID: mine, CODEX_THREAD_ID: other }).status).toBe(1);
    writeFileSync(join(world.gitDir, 'MERGE_MSG'), 'merge\n');
    expect(preCommit({ GEMINI_SESSION_ID: mine }).status).toBe(1);
  });

  it('records, before the existing hooks run, that git makes a commit, and does not start Node then', () => {
    begin();
    const shim = join(world.base.package, 'git-hooks', 'pre-commit');
    const record = join(world.gitDir, 'handoff-committing');
    const run = () =>
      world.base.run(['begin'], '', {
        env: { ...answer(REFUSED), GIT_DIR: world.gitDir, GIT_HANDOFF_GIT_PID: '4711' },
        command: [shim],
      });
    expect(run()).toMatchObject({ status: 0, stderr: '', node: undefined });
    expect(readFileSync(record, 'utf8')).toBe('4711 -\n');
    rmSync(record);
    writeFileSync(join(world.gitDir, 'handoff-solo'), `${mine} 1 1\n`);
    expect(run()).toMatchObject({ status: 0, stderr: '', node: undefined });
    expect(existsSync(record)).toBe(false);
  });

  it('works as part of the hook that init writes', () => {
    begin();
    for (const hook of ['pre-commit', 'prepare-commit-msg', 'commit-msg']) {
      const shim = join(world.base.package, 'git-hooks', hook);
      world.base.script(join(world.gitDir, 'hooks', hook), [
        `handoff_shim='${shim}'`,
        '(GIT_HANDOFF_GIT_PID=$PPID; . "$handoff_shim") || exit',
        `echo ${hook} >>"$HOME/went-on"`,
      ]);
    }
    const wentOn = () => readFileSync(join(world.base.home, 'went-on'), 'utf8').split('\n').filter(Boolean);
    expect(commit({ ...answer(REFUSED, 'error: x'), ...world.editor('true') }, '-e')).toMatchObject({
      status: 1,
      stderr: 'error: x\n',
    });
    expect(existsSync(join(world.base.home, 'went-on'))).toBe(false);
    expect(commit({ ...answer(0), ...world.editor('true') }, '-e').status).toBe(0);
    expect(wentOn()).toEqual(['pre-commit', 'prepare-commit-msg', 'commit-msg']);
  });

  describe('pre-push', () => {
    const zero = '0'.repeat(40);
    const push = (input: string, env: Record<string, string> = {}, args = ['origin', 'u']) => {
      const shim = join(world.base.package, 'git-hooks', 'pre-push');
      return world.base.run(args, input, { env: { GIT_DIR: world.gitDir, ...env }, command: [shim] });
    };
    const line = (local: string, remote: string) => `${local} ${'1'.repeat(40)} ${remote} ${zero}\n`;
    const unchecked = 'warning: git-handoff could not check this push; to see why: git handoff doctor\n';

    it('passes everything on, and stops if Node refuses', () => {
      begin();
      const input = line('refs/heads/\u00e9', 'refs/heads/b') + line('HEAD', 'refs/tags/$(id)');
      const passed = push(input, answer(0, 'warning: x'), ['a b', '-c']);
      expect(passed).toMatchObject({ status: 0, stdout: '', stderr: 'warning: x\n' });
      expect(passed.node?.stdin).toBe(input);
      expect(passed.node?.argv.slice(-3)).toEqual(['--', 'a b', '-c']);
      expect(push(input, answer(REFUSED, 'error: x'))).toMatchObject({ status: 1, stderr: 'error: x\n' });
      expect(push(input, answer(1, 'error: x'))).toMatchObject({ status: 0, stderr: unchecked });
      expect(push('')).toMatchObject({ status: 0, node: undefined });
      expect(push(input, { GIT_HANDOFF: 'off' })).toMatchObject({ status: 0, node: undefined });
      rmSync(join(world.gitDir, 'handoff'), { recursive: true });
      expect(push(input, answer(REFUSED))).toMatchObject({ status: 0, node: undefined });
    });

    it('stops a push of what may be local bookkeeping if Node cannot decide', () => {
      begin();
      mkdirSync(join(world.gitDir, 'gone'));
      for (const name of ['refs/handoffs-local/kept/a/b-c', 'refs/handoffs-remote/origin/a/b-c']) {
        const input = line('refs/heads/a', 'refs/heads/a') + line(name, 'refs/heads/x');
        expect(push(input, answer(1))).toMatchObject({ status: 1, stderr: unchecked });
        expect(push(input, answer(REFUSED, 'error: x')).status).toBe(1);
        expect(push(input, answer(0)).status).toBe(0);
        // A refusal counts even where `init` never ran.
        expect(push(input, { ...answer(REFUSED), GIT_DIR: join(world.gitDir, 'gone') }).status).toBe(1);
      }
    });
  });
});
