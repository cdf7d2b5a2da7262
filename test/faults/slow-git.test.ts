import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { amount } from '../support/faults/seed.ts';
import { LAUNCHER, finished } from '../support/repository.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

/** The time limit of a whole call, plus what a busy machine adds, in milliseconds. */
const HOOK_MS = 8000 + 4000;
const ROUNDS = amount(3, 50);
let world: SharingWorld;
let slow: string;

beforeEach(() => {
  world = new SharingWorld();
  world.begin(A);
  world.begin(B);
  world.write(A, 'shared.md', 'of A\n');
  slow = join(world.root, 'slow');
  mkdirSync(slow);
});
afterEach(() => world.remove());

/** A git that begins its work only after this many seconds, but ends at once on a signal. */
function slowGit(seconds: number): { PATH: string } {
  const path = world.env()['PATH'] ?? '';
  const file = join(slow, 'git');
  writeFileSync(file, `#!/bin/sh\nsleep ${seconds}\nPATH='${path}' exec git "$@"\n`);
  chmodSync(file, 0o755);
  return { PATH: `${slow}:${path}` };
}

function payloads(): object[] {
  const file = { file_path: join(world.path, 'shared.md'), content: 'of B\n' };
  return [
    { hook_event_name: 'SessionStart', session_id: 'cccccccc-3333', source: 'startup' },
    { hook_event_name: 'PreToolUse', session_id: B, tool_name: 'Write', tool_input: file },
    { hook_event_name: 'PreToolUse', session_id: B, tool_name: 'Bash', tool_input: { command: 'git stash' } },
    { hook_event_name: 'PostToolUse', session_id: B, tool_name: 'Write', tool_input: file },
    { hook_event_name: 'PostToolUse', session_id: B, tool_name: 'Bash', tool_input: { command: 'make' } },
    { hook_event_name: 'Stop', session_id: B },
    { hook_event_name: 'SessionEnd', session_id: B, reason: 'other' },
  ];
}

/** Processes of the slow git, or started by it. */
const orphans = () =>
  world
    .run('ps', ['-A', '-o', 'pid=,args='])
    .stdout.split('\n')
    .filter((line) => line.includes(`${slow}/git`));

describe('a git that takes 30 seconds', () => {
  it(`delays no hook beyond its time, ${ROUNDS} times each, and leaves no process behind`, async () => {
    const env = slowGit(30);
    for (let round = 0; round < ROUNDS; round++) {
      const done = await Promise.all(
        payloads().map(async (payload) => {
          const input = JSON.stringify({ cwd: world.path, ...payload });
          const start = performance.now();
          const run = await finished(world.start(LAUNCHER, ['guard', '--client', 'claude'], { env, input }));
          return { ...run, ms: performance.now() - start };
        }),
      );
      for (const { status, stderr, ms } of done) {
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
        expect(ms).toBeLessThan(HOOK_MS);
      }
    }
    // SIGTERM reaches the script; what it started meanwhile is found a second later.
    for (let tries = 0; tries < 40 && orphans().length > 0; tries++) await wait(250);
    expect(orphans()).toEqual([]);
  });
});

describe('a git that takes a second', () => {
  it('still writes and shows notes', () => {
    const env = slowGit(1);
    expect(world.handoff(['write', 'auth-refresh', '-m', 'slowly'], { session: A, env })).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(world.handoff(['show', '--raw'], { env })).toMatchObject({ status: 0, stdout: 'slowly\n' });
  });
});
