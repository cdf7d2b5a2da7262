import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FaultWorld } from '../support/faults/fault-world.ts';

let world: FaultWorld;
let env: { PATH: string };

beforeEach(() => {
  world = new FaultWorld();
  world.ok(['init', '--yes']);
  world.mustWrite('old\n');
  world.guard({ session_id: world.session, hook_event_name: 'SessionStart', source: 'startup' });
  // All programs except git.
  const tools = join(world.root, 'tools');
  mkdirSync(tools);
  for (const tool of ['sh', 'head', 'timeout', 'cat', 'grep', 'readlink', 'date', 'rm', 'env'])
    symlinkSync(world.run('sh', ['-c', `command -v ${tool}`]).stdout.trim(), join(tools, tool));
  symlinkSync(process.execPath, join(tools, 'node'));
  env = { PATH: tools };
});
afterEach(() => world.remove());

it.each([
  ['show'],
  ['list'],
  ['log', 'auth-refresh'],
  ['take', 'auth-refresh'],
  ['close', 'auth-refresh'],
  ['sessions'],
  ['status'],
  ['check'],
  ['commit', '-m', 'x'],
  ['stage', '--mine'],
  ['doctor'],
  ['init', '--yes'],
  ['uninstall', '--yes'],
])('%s without git says so, and what to do', (...words) => {
  const { status, stdout, stderr } = world.handoff(words, { env, session: world.session });
  expect({ status, stdout }).toEqual({ status: 7, stdout: '' });
  expect(stderr).toMatch(/^error: git could not be started in .*\nhint: install git 2\.39 or later/);
});

it('a note that is written without git is kept in a file', () => {
  const done = world.write('new\n', { env });
  expect(done).toMatchObject({ status: 7, stdout: '' });
  expect(done.stderr).toContain('git could not be started');
  expect(world.whereabouts('new\n', done.stderr)).toBe('file');
  expect(world.noteOf('refs/handoffs/main/auth-refresh')).toBe('old\n');
});

it('every hook lets its call through in silence', () => {
  const file = { file_path: join(dirname(world.path), 'x.md'), content: 'x' };
  for (const payload of [
    { hook_event_name: 'SessionStart', source: 'startup' },
    { hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: file },
    { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'git stash' } },
    { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: { command: 'make' } },
    { hook_event_name: 'Stop' },
    { hook_event_name: 'SessionEnd', reason: 'other' },
  ]) {
    const run = world.guard({ session_id: 'sess-other-1', ...payload }, { env });
    expect(run, payload.hook_event_name).toMatchObject({ status: 0, stdout: '', stderr: '' });
  }
});
