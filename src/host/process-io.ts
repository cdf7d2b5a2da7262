import { fstatSync, readSync, writeSync } from 'node:fs';
import { feedFrom } from './feed.ts';
import { type Io, type Output, type Terminal, budgetUntil, processAge } from './io.ts';
import { readToEnd } from './pipe.ts';
import { beganBefore } from './processes.ts';

/** Between two tries at a pipe that is full and does not block. Milliseconds. */
const PAUSE_MS = 5;

/**
 * What this process has, for the program that runs in it: `run(argv, processIo())`.
 *
 * @param first what was read of its standard input already
 */
export function processIo(first?: Buffer): Io {
  return {
    stdin: {
      read: (chunk) => readSync(0, chunk),
      readAll: (budget) => readToEnd(0, budget),
      feed: () => feedFrom(0, first),
    },
    stdout: output(1),
    stderr: output(2),
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    clock: Date.now,
    budget: (ms, launcher) => budgetUntil(ms - beganBefore(launcher), processAge),
    parentPid: process.ppid,
    piped: readToEnd,
    program: process.argv[1] ?? '',
  };
}

/** The terminal behind the standard descriptors, for a program that may ask somebody. */
export function processTerminal(): Terminal {
  return {
    isInput: isTerminal(0),
    isErrors: isTerminal(2),
    isOutput: isTerminal(1),
    input: () => process.stdin,
    output: () => process.stderr,
  };
}

/** Without a stream, which takes 3 ms to make; so what was written is out, however the process ends. */
const output = (descriptor: number): Output => ({
  async write(data) {
    for (let bytes = Buffer.from(data as string); bytes.length > 0;) {
      try {
        bytes = bytes.subarray(writeSync(descriptor, bytes));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'EPIPE') return;
        if (code !== 'EAGAIN') throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
      }
    }
  },
});

/** A file or a pipe is none; `node:tty` loads all of `node:net`. */
function isTerminal(descriptor: number): boolean {
  try {
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule('node:tty').isatty(descriptor);
}
