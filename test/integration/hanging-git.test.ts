import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../src/hook.ts';
import { type Io, budgetUntil } from '../../src/host/io.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

/** The time limit of the calls here, in milliseconds: far less than a real call has. */
const CALL_MS = 1500;

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => {
  vi.unstubAllEnvs();
  world.remove();
});

/** This file need not exist, because no hook gets far enough to read it. */
const MESSAGE = '/nonexistent/COMMIT_EDITMSG';

/** A git that records its pid and then runs these lines instead of answering. */
function fakeGit(lines: string): void {
  const folder = join(world.root, 'fake');
  mkdirSync(folder);
  writeFileSync(join(folder, 'git'), `#!/bin/sh\necho $$ >>'${pids()}'\n${lines}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
}

const pids = () => join(world.root, 'pids');

/** Runs one call of a hook with a shorter time limit, and returns its output. */
async function call(words: readonly string[], payload: object, milliseconds = CALL_MS): Promise<string> {
  const clock = () => performance.now();
  const said: string[] = [];
  const out = { write: (text: string | Uint8Array) => Promise.resolve(void said.push(text.toString())) };
  const io: Io = {
    stdin: { readAll: () => Promise.resolve(Buffer.from(JSON.stringify(payload))) },
    stdout: out,
    stderr: out,
    env: world.env({ CLAUDE_CODE_SESSION_ID: B, GIT_HANDOFF_GIT_PID: String(process.pid) }),
    cwd: world.path,
    clock: Date.now,
    budget: () => budgetUntil(clock() + milliseconds, clock),
    program: '',
  };
  await run([String(process.pid), ...words], io);
  return said.join('');
}

const bashCall = () =>
  call(['guard', '--client', 'claude'], {
    session_id: B,
    cwd: world.path,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'make' },
  });
const commitHook = (name: string, milliseconds = CALL_MS) =>
  call(
    [
      'hook',
      name,
      ...['--git-dir', join(world.path, '.git'), '--common-dir', join(world.path, '.git'), '--', MESSAGE],
    ],
    {},
    milliseconds,
  );
const preCommit = () => commitHook('pre-commit');

/** The fake git's processes that still run: its shells, and sleeps with a duration that nobody else uses. */
function orphans(): string[] {
  const shells = readFileSync(pids(), 'utf8').trim().split('\n');
  const table = world.run('ps', ['-A', '-ww', '-o', 'pid=,stat=,args=']).stdout.split('\n');
  return table.filter((line) => {
    const [pid = '', stat = ''] = line.trim().split(/ +/);
    return !stat.startsWith('Z') && (shells.includes(pid) || line.includes(`sleep ${SLEEP}`));
  });
}

const SLEEP = `97.${process.pid}`;

describe.each([
  ['sleeps', `sleep ${SLEEP}\nexit 0`],
  ['computes', 'while :; do :; done'],
])('a git that %s instead of answering', (_, lines) => {
  it.each([
    ['a tool call', bashCall, 'not checked'],
    ['a git hook', preCommit, 'did not check this commit: git '],
  ])(
    'lets %s pass when its time is over, says so, and leaves no process behind',
    async (_what, make, said) => {
      fakeGit(lines);
      expect(await make()).toContain(said);
      await vi.waitFor(() => expect(orphans()).toEqual([]), { timeout: 120_000 });
    },
  );
});

it('a git that hangs delays a commit once, not in each of its hooks', async () => {
  fakeGit(`sleep ${SLEEP}\nexit 0`);
  expect(await preCommit()).toContain('did not check this commit');
  const asked = readFileSync(pids(), 'utf8');
  expect(await commitHook('prepare-commit-msg')).toBe('');
  expect(await commitHook('commit-msg')).toBe('');
  expect(readFileSync(pids(), 'utf8')).toBe(asked);
  await vi.waitFor(() => expect(orphans()).toEqual([]), { timeout: 120_000 });
});

it('the first hook of a commit says that it checked nothing, however little time it has', async () => {
  fakeGit(`sleep ${SLEEP}\nexit 0`);
  expect(await commitHook('pre-commit', 500)).toContain('did not check this commit');
});
