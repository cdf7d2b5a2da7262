import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { shortUntil } from '../../src/host/breaker.ts';
import { type Io, budgetUntil } from '../../src/host/io.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

/** Far less than a call has; a git that hangs is waited for no longer. Milliseconds. */
const CALL_MS = 1500;
/** On a busy machine a call may not tell a git that hangs from one that waits for its turn. */
const MOST_CALLS = 12;

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
  world.remove();
});

/** No hook gets so far as to read it. */
const MESSAGE = '/nonexistent/COMMIT_EDITMSG';

const state = () => join(world.home, '.local', 'state', 'git-handoff');
const isOpen = () => shortUntil(state(), world.path, Date.now()) !== undefined;

/** A git that notes who it is and then does something else than answering. */
function fakeGit(lines: string): void {
  const folder = join(world.root, 'fake');
  mkdirSync(folder);
  writeFileSync(join(folder, 'git'), `#!/bin/sh\necho $$ >>'${pids()}'\n${lines}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
}

const pids = () => join(world.root, 'pids');

/** Runs one hook in a program of its own, whose calls have less time; what it wrote to stderr. */
async function call(argv: readonly string[], payload: object): Promise<string> {
  // How git did is kept in the modules: each call is a process elsewhere.
  vi.resetModules();
  const { run } = await import('../../src/hook.ts');
  const ended = new Set(process.listeners('exit'));
  const clock = () => performance.now();
  let said = '';
  const out = { write: () => Promise.resolve() };
  const nothing = () => Promise.resolve(undefined);
  const io: Io = {
    stdin: {
      read: () => 0,
      readAll: () => Promise.resolve(Buffer.from(JSON.stringify(payload))),
      feed: () => ({
        part: nothing,
        take: nothing,
        rest: nothing,
        gather: () => undefined,
      }),
    },
    stdout: out,
    stderr: {
      write: (data) => {
        said += String(data);
        return Promise.resolve();
      },
    },
    env: world.env({ CLAUDE_CODE_SESSION_ID: B, GIT_HANDOFF_GIT_PID: String(process.pid) }),
    cwd: world.path,
    clock: Date.now,
    budget: () => budgetUntil(clock() + CALL_MS, clock),
    parentPid: process.pid,
    piped: () => Promise.resolve(undefined),
    program: '',
  };
  await run(argv, io);
  // The end of the process.
  for (const listener of process.listeners('exit')) {
    if (ended.has(listener)) continue;
    process.removeListener('exit', listener);
    (listener as () => void)();
  }
  return said;
}

const bashCall = () =>
  call(['guard', '--client', 'claude'], {
    session_id: B,
    cwd: world.path,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'make' },
  });
const commitHook = (name: string) =>
  call(
    [
      'hook',
      name,
      ...['--git-dir', join(world.path, '.git'), '--common-dir', join(world.path, '.git'), '--', MESSAGE],
    ],
    {},
  );

async function callsUntilOpen(make: () => Promise<unknown>): Promise<number> {
  for (let calls = 1; calls <= MOST_CALLS; calls += 1) {
    await make();
    if (isOpen()) return calls;
  }
  return Infinity;
}

/** Processes that the fake git's shells have started and that still run. */
function orphans(): string[] {
  const shells = readFileSync(pids(), 'utf8').trim().split('\n');
  return shells.filter((pid) => existsSync(`/proc/${pid}`) && !isZombie(pid)).concat(sleepers());
}

function isZombie(pid: string): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return true;
  }
}

/** By a length of sleep that nobody else takes. */
function sleepers(): string[] {
  return world
    .run('pgrep', ['-f', `sleep ${SLEEP}`])
    .stdout.split('\n')
    .filter(Boolean);
}

const SLEEP = `97.${process.pid}`;

describe('a git that hangs', () => {
  it('costs a tool call its whole time twice, and then less; nothing of it stays', async () => {
    fakeGit(`sleep ${SLEEP}\nexit 0`);
    const calls = await callsUntilOpen(bashCall);
    expect(calls).toBeGreaterThanOrEqual(2);
    expect(calls).toBeLessThanOrEqual(MOST_CALLS);
    await vi.waitFor(() => expect(orphans()).toEqual([]), { timeout: 120_000 });
  });

  it('costs the hooks of a commit their time once, all of them together, and nothing of it stays', async () => {
    fakeGit(`sleep ${SLEEP}\nexit 0`);
    expect(await commitHook('pre-commit')).toMatch(
      /^warning: git-handoff did not check this commit: git .*\n$/,
    );
    const started = performance.now();
    expect(await commitHook('prepare-commit-msg')).toBe('');
    expect(await commitHook('commit-msg')).toBe('');
    expect(performance.now() - started).toBeLessThan(CALL_MS);
    await vi.waitFor(() => expect(orphans()).toEqual([]), { timeout: 120_000 });
  });
});

describe('a git that is busy', () => {
  it('is waited for as long as ever', async () => {
    fakeGit('while :; do :; done');
    for (let calls = 0; calls < 3; calls += 1) await bashCall();
    expect(isOpen()).toBe(false);
    await vi.waitFor(() => expect(orphans()).toEqual([]), { timeout: 120_000 });
  });
});
