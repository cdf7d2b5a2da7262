import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { shells } from '../support/shells.ts';
import { TrailerWorld, mine, other, startOf } from './trailer-hooks-world.ts';

/** The shims by themselves, with a stand-in for Node, under every shell that may be behind `sh`. */
describe.each(shells)('under $name', (shell) => {
  let world: TrailerWorld;
  const begin = () => {
    world = new TrailerWorld(shell);
    world.enable();
    world.register(process.pid);
  };
  afterEach(() => world.remove());

  const answer = (...lines: string[]) => ({ FAKE_STDOUT: `${lines.join('\n')}\n` });
  const commit = (env: Record<string, string>, ...more: string[]) =>
    world.try(['commit', '-q', '--allow-empty', '-m', 'one', ...more], env);

  it.each([[[]], [['--no-verify']], [['-e']], [['-n', '-e']]])(
    'stops a commit that Node refuses: %j',
    (more) => {
      begin();
      const env = answer('answer: refused', 'error: x\\n $(id)', 'hint: y');
      const run = commit({ ...env, ...world.editor('true') }, ...more);
      expect(run).toMatchObject({ status: 1, stderr: 'error: x\\n $(id)\nhint: y\n' });
      expect(run.words[2]).toBe(
        more.includes('--no-verify') || more.includes('-n') ? 'prepare-commit-msg' : 'pre-commit',
      );
      expect(world.try(['rev-parse', '-q', '--verify', 'HEAD']).status).not.toBe(0);
    },
  );

  it('goes on with what Node says besides', () => {
    begin();
    expect(commit(answer(`answer: ${mine}`, 'warning: x'), '-n')).toMatchObject({
      status: 0,
      stderr: 'warning: x\n',
    });
    expect(world.ids()).toEqual([mine]);
    expect(commit(answer('answer: -'), '-n')).toMatchObject({ status: 0, stderr: '' });
    expect(world.ids()).toEqual([]);
  });

  it.each([[['']], [['refused']], [['TypeError: x', 'answer: refused']], [['answer:refused']]])(
    'goes on where the answer is none, and says once that nobody checked: %j',
    (lines) => {
      begin();
      const stderr = expect.stringMatching(
        /^warning: git-handoff could not check this commit; .*doctor\n$/,
      ) as string;
      for (const status of ['0', '1', '137']) {
        expect(commit({ ...answer(...lines), FAKE_STATUS: status })).toMatchObject({ status: 0, stderr });
      }
    },
  );

  it.each(['bin/git-handoff', 'dist/cli.cjs'])('sends nobody to a doctor that is gone with %s', (part) => {
    begin();
    rmSync(join(world.base.package, part));
    const stderr = expect.stringMatching(
      /^warning: git-handoff could not check this commit; install it again: parts of it are gone\n$/,
    ) as string;
    expect(commit(answer('TypeError: x'))).toMatchObject({ status: 0, stderr });
  });

  it('hands on where it is', () => {
    begin();
    writeFileSync(join(world.gitDir, 'handoff-checked'), '1 2 3\n');
    const { words: started } = commit(answer('answer: -'), '-n');
    expect(started.slice(1)).toEqual([
      'hook',
      'prepare-commit-msg',
      '--client-pid',
      expect.stringMatching(/^\d+$/),
      '--begun',
      expect.stringMatching(/^\d+$/),
      '--answer',
      '--git-dir',
      '.git',
      '--common-dir',
      '.git',
      '--settings-pipe',
      '--',
      '.git/COMMIT_EDITMSG',
      'message',
    ]);
  });

  const OID = '0123456789'.repeat(4);
  const STATES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'rebase-merge': { 'rebase-merge/head-name': 'refs/heads/x\n', 'rebase-merge/onto': `${OID}\n` },
    'rebase-apply': {
      'rebase-apply/next': '1\n',
      'rebase-apply/last': '2\n',
      'rebase-apply/rebasing': '',
    },
    am: { 'rebase-apply/next': '1\n', 'rebase-apply/last': '2\n', 'rebase-apply/applying': '' },
    sequencer: { 'sequencer/todo': `pick ${OID}\n`, 'sequencer/head': `${OID}\n` },
    CHERRY_PICK_HEAD: { CHERRY_PICK_HEAD: `${OID}\n` },
    REVERT_HEAD: { REVERT_HEAD: `${OID}\n` },
    MERGE_HEAD: { MERGE_HEAD: `${OID}\n${OID}\n` },
    'MERGE_HEAD (sha256)': { MERGE_HEAD: `${OID}${OID.slice(16)}\n` },
  };
  const put = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(world.gitDir, name, '..'), { recursive: true });
      writeFileSync(join(world.gitDir, name), text);
    }
  };
  const preCommit = (env: Record<string, string> = {}) =>
    world.try(['-c', 'core.editor=true', 'hook', 'run', 'pre-commit'], {
      ...answer('answer: refused'),
      ...env,
    });

  it('does not ask where handoff-solo says that nothing is to be looked at', () => {
    begin();
    put({ 'handoff-solo': `${mine} ${process.pid} ${startOf(process.pid)}\n` });
    expect(preCommit()).toMatchObject({ status: 0, asked: false });
  });

  it.each(Object.entries(STATES))('asks where git has stopped in %s, whoever began it', (_, files) => {
    begin();
    put(files);
    put({ 'handoff-operation': `${other} x\n` });
    expect(preCommit()).toMatchObject({ status: 1, asked: true });
    expect(preCommit({ GEMINI_SESSION_ID: mine })).toMatchObject({ status: 1, asked: true });
    const both = { GEMINI_SESSION_ID: mine, CODEX_THREAD_ID: other };
    expect(preCommit(both)).toMatchObject({ status: 1, asked: true });
    expect(preCommit({ GEMINI_SESSION_ID: other })).toMatchObject({ status: 1, asked: true });
    // A lone session has nobody to ask about.
    rmSync(join(world.gitDir, 'handoff-operation'));
    put({ 'handoff-solo': `${mine} ${process.pid} ${startOf(process.pid)}\n` });
    expect(preCommit({ GEMINI_SESSION_ID: mine })).toMatchObject({ status: 0, asked: false });
  });

  it('asks whether a session that is named may commit where another one works alone', () => {
    begin();
    put({ 'handoff-solo': `${other} 1 1\n` });
    expect(preCommit({ GEMINI_SESSION_ID: other })).toMatchObject({ status: 0, asked: false });
    expect(preCommit({ GEMINI_SESSION_ID: mine })).toMatchObject({ status: 1, asked: true });
    // On record by its process.
    expect(preCommit()).toMatchObject({ status: 1, asked: true });
    rmSync(join(world.gitDir, 'handoff', 'registered'), { recursive: true });
    expect(preCommit()).toMatchObject({ status: 0, asked: false });
  });

  describe('pre-push', () => {
    const zero = '0'.repeat(40);
    const push = (input: string, env: Record<string, string> = {}, args = ['origin', 'u']) => {
      const shim = join(world.base.package, 'git-hooks', 'pre-push');
      return world.base.run(args, input, { env: { GIT_DIR: world.gitDir, ...env }, command: [shim] });
    };
    const line = (local: string, remote: string) => `${local} ${'1'.repeat(40)} ${remote} ${zero}\n`;

    it('hands everything on, and stops when Node refuses', () => {
      begin();
      const input = line('refs/heads/é', 'refs/heads/b') + line('HEAD', 'refs/tags/$(id)');
      const passed = push(input, answer('answer: -', 'warning: x'), ['a b', '-c']);
      expect(passed).toMatchObject({ status: 0, stdout: '', stderr: 'warning: x\n' });
      expect(passed.node?.stdin).toBe(input);
      expect(passed.node?.argv.slice(-3)).toEqual(['--', 'a b', '-c']);
      expect(push(input, answer('answer: refused', 'error: x'))).toMatchObject({
        status: 1,
        stderr: 'error: x\n',
      });
      expect(push(input, { ...answer('error: x'), FAKE_STATUS: '1' })).toMatchObject({
        status: 0,
        stderr: 'warning: git-handoff could not check this push; what is wrong: git handoff doctor\n',
      });
      expect(push('')).toMatchObject({ status: 0, node: undefined });
      expect(push(input, { GIT_HANDOFF: 'off' })).toMatchObject({ status: 0, node: undefined });
    });

    it('refuses local bookkeeping without Node', () => {
      begin();
      const leak = push(
        line('refs/heads/a', 'refs/heads/a') + line('refs/handoffs-local/kept/a/b-c', 'refs/heads/x'),
      );
      expect(leak).toMatchObject({
        status: 1,
        stderr:
          'error: refs/handoffs-local/kept/a/b-c is the bookkeeping of this machine and is never pushed\n' +
          'hint: git push origin HEAD\n',
        node: undefined,
      });
      expect(push(`(delete) ${zero} refs/handoffs-local/x ${zero}\n`).status).toBe(0);
      expect(push(line('refs/heads/refs/handoffs-local/x', 'refs/heads/a')).status).toBe(0);
      expect(readFileSync(join(world.gitDir, 'HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
    });
  });
});
