import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultWorld, TOPIC } from '../support/faults/fault-world.ts';
import { Tally, amount, seeded } from '../support/faults/seed.ts';
import {
  type Injection,
  NO_STRACE,
  hitEventLoop,
  longestRun,
  readTrace,
  straceWords,
  wasInjected,
} from '../support/faults/strace.ts';

const CALLS = ['openat', 'write', 'rename', 'fsync', 'mkdir', 'link'];
const ERRORS = ['ENOSPC', 'EIO', 'EACCES', 'EROFS'];
const INJECTIONS = amount(66, 5000);
let world: FaultWorld;
let trace: string;

beforeEach(() => {
  world = new FaultWorld();
  trace = join(world.root, 'trace');
  world.mustWrite('the beginning\n');
});
afterEach(() => world.remove());

interface Outcome {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the program came as far as reading its stdin. */
  readonly read: boolean;
}

/** A whole write under strace, its text on stdin as a file: its offset tells whether anybody read it. */
function tracedWrite(text: string, calls: readonly string[], injection?: Injection): Outcome {
  const note = join(world.root, 'note');
  writeFileSync(note, text);
  const stdin = openSync(note, 'r');
  try {
    const [strace, ...words] = [...straceWords(trace, calls, injection), 'git-handoff', 'write', TOPIC];
    const env = world.env({ CLAUDE_CODE_SESSION_ID: world.session });
    const { status, signal, stdout, stderr } = spawnSync(strace, words, {
      cwd: world.path,
      env,
      stdio: [stdin, 'pipe', 'pipe'],
      encoding: 'utf8',
      timeout: 12_000,
    });
    return { status, signal, stdout, stderr, read: readSync(stdin, Buffer.alloc(1)) === 0 };
  } finally {
    closeSync(stdin);
  }
}

/** Never silent: what was reported as done is done; of what was not, the text is kept or was never taken. */
function judge(before: string, text: string, { status, signal, stdout, stderr, read }: Outcome): string {
  const where = world.whereabouts(text, stderr);
  if (signal === 'SIGTERM') process.stdout.write(`HANG ${text}`);
  const told = `exit ${status} ${signal}\n${stdout}${stderr}`;
  if (signal === 'SIGABRT' && hitEventLoop(trace)) return 'event loop aborted';
  expect(stderr, told).not.toContain('could NOT be kept');
  if (status === 0) {
    expect(where, told).toBe('tip');
    return 'tolerated';
  }
  if (where === 'tip') return 'applied, reported as failed';
  expect(world.tip()).toBe(before);
  if (read) expect(where, told).toBeDefined();
  return where === undefined ? 'not started' : `text kept (${where})`;
}

describe.skipIf(NO_STRACE)(
  `a system call that fails${NO_STRACE === undefined ? '' : ` (skipped: ${NO_STRACE})`}`,
  () => {
    it(`is told, with the text kept: ${INJECTIONS} of them`, () =>
      seeded('failed calls', (random) => {
        const tally = new Tally();
        tracedWrite('to count the calls\n', CALLS);
        const counted = readTrace(trace);
        const most = new Map(
          CALLS.map((name) => [name, longestRun(counted.filter((call) => call.name === name))]),
        );
        const all = CALLS.flatMap((name) =>
          ERRORS.flatMap((error) =>
            Array.from({ length: most.get(name) ?? 0 }, (_, at) => ({ name, error, when: at + 1 })),
          ),
        );
        // As many of the rare calls as of the frequent ones, which are mostly libraries being loaded.
        const share = Math.ceil(INJECTIONS / CALLS.length);
        const chosen = CALLS.flatMap((name) =>
          random.sample(
            all.filter((one) => one.name === name),
            share,
          ),
        );
        for (const { name, error, when } of chosen) {
          const before = world.tip();
          const text = `${name} ${error} ${when} ${random.next()}\n`;
          const done = tracedWrite(text, [name], { calls: [name], fault: `error=${error}`, when });
          tally.add(wasInjected(trace) ? 'injected' : 'not reached');
          tally.add(judge(before, text, done));
          if (world.locks().length > 0) world.mendLocks();
        }
        world.mustWrite('the end\n');
        world.expectSound();
        return tally.figures;
      }));
  },
);
