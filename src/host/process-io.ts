import { fstatSync, readSync, writeSync } from 'node:fs';
import { Failure } from '../domain/failure.ts';
import { type Budget, type Io, type Output, type Terminal, budgetUntil, processAge } from './io.ts';

/** Milliseconds between two attempts at a pipe that is empty or full, and does not block. */
const PAUSE_MS = 5;
/** Bytes that a pipe can hold. */
const PIPE_BYTES = 65_536;

/** The input and output of this process, for the program that runs in it: `run(argv, processIo())`. */
export function processIo(): Io {
  return {
    stdin: { read: (chunk) => readSync(0, chunk), readAll },
    stdout: output(1),
    stderr: output(2),
    env: process.env,
    get cwd() {
      return currentFolder();
    },
    clock: Date.now,
    budget: (ms) => budgetUntil(ms, processAge),
    program: process.argv[1] ?? '',
  };
}

/** @throws Failure `environment` when the folder has been removed under the shell */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new Failure('environment', 'the current folder no longer exists', {
      hint: 'cd to one that does, then try again',
      cause: error,
    });
  }
}

/**
 * Reads standard input to its end. A process that starts us may write as slowly as it wants; if the descriptor does not
 * block, we ask again until the time is over.
 */
async function readAll(budget: Budget): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.allocUnsafe(PIPE_BYTES);
    try {
      const length = readSync(0, chunk);
      if (length === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, length));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return Buffer.concat(chunks);
      if (code !== 'EAGAIN') throw error;
      if (budget.left() <= PAUSE_MS) return undefined;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
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

/** Writes without a stream, which takes 3 ms to make. What was written is out, however the process ends. */
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

/** Asks `node:tty`, which loads all of `node:net`, only for a descriptor that is no file or pipe. */
function isTerminal(descriptor: number): boolean {
  try {
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule('node:tty').isatty(descriptor);
}
