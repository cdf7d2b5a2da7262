import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runInProcess } from '../support/in-process.ts';
import type { RunOptions } from '../support/repository.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeAll(() => {
  world = new SharingWorld({ ready: [A, B] });
  world.git(['config', 'alias.throw', 'checkout --']);
  world.write(A, 'src/a.ts', 'of A\n');
  world.ok(['write', 'auth-refresh', '-m', '# Goal\n\nof A'], { session: A });
});
afterAll(() => world.remove());

const hook = (tool: string, input: object) => ({
  input: JSON.stringify({
    session_id: B,
    cwd: world.path,
    hook_event_name: 'PreToolUse',
    tool_name: tool,
    tool_input: input,
  }),
});

describe('a call in process', () => {
  it.each<[string, string[], (() => RunOptions)?]>([
    ['a listing', ['list']],
    ['JSON', ['status', '--json'], () => ({ session: B })],
    ['bytes', ['show', 'auth-refresh', '--raw']],
    ['a failure', ['close', 'auth-refresh'], () => ({ session: B })],
    ['a failure as JSON', ['show', 'nothing', '--json']],
    ['a word that is no verb', ['lits']],
    ['help', ['help', 'write']],
    ['the version', ['--version']],
    ['standard input', ['check', '--stdin'], () => ({ input: 'no line of git’s\n' })],
    ['another folder', ['status'], () => ({ cwd: join(world.path, 'src') })],
    ['a folder outside', ['list'], () => ({ cwd: world.root })],
    [
      'a refused file tool',
      ['guard', '--client', 'claude'],
      () => hook('Write', { file_path: join(world.path, 'src/a.ts'), content: 'of B\n' }),
    ],
    [
      'a refused alias',
      ['guard', '--client', 'claude'],
      () => hook('Bash', { command: 'git throw src/a.ts' }),
    ],
    ['an allowed call', ['guard', '--client', 'claude'], () => hook('Bash', { command: 'ls' })],
    ['no payload', ['guard', '--client', 'claude'], () => ({ input: 'x' })],
    ['a git hook', ['hook', 'identity'], () => ({ session: B })],
  ])('answers as a process does: %s', (_, args, options = () => ({})) => {
    const byProcess = world.handoff(args, { ...options(), calls: 'process' });
    expect(world.handoff(args, options())).toEqual(byProcess);
  });

  it('knows nothing of the previous call or of the test’s own environment', () => {
    const asA = world.json(['status'], { session: A });
    expect(asA['session']).toBe(A);
    const env = world.env();
    process.env['CLAUDE_CODE_SESSION_ID'] = A;
    try {
      const run = runInProcess({ args: ['status', '--json'], cwd: world.path, env, input: '' });
      expect(JSON.parse(run.stdout)).toMatchObject({ session: null });
    } finally {
      delete process.env['CLAUDE_CODE_SESSION_ID'];
    }
  });

  it('that hangs fails the test, and the next one is made in another thread', () => {
    const folder = join(world.root, 'slow');
    mkdirSync(folder);
    writeFileSync(join(folder, 'git'), '#!/bin/sh\nexec sleep 30\n');
    chmodSync(join(folder, 'git'), 0o755);
    const env = world.env({ PATH: `${folder}:${world.env()['PATH']}` });
    const call = { args: ['list'], cwd: world.path, env, input: '' };
    expect(() => runInProcess(call, 300)).toThrow('git handoff list: did not end within 0.3 s');
    expect(world.ok(['list'])).toContain('auth-refresh');
  });

  it('is refused if the launcher would end it: it would test nothing', () => {
    const off = { env: { GIT_HANDOFF: 'off' } };
    expect(() => world.guard({ hook_event_name: 'Stop' }, off)).toThrow('the launcher’s to read');
  });
});
