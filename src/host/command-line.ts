import { closeSync, constants, existsSync, openSync, readFileSync, readSync } from 'node:fs';

/** The words that a process was started with. */
interface CommandLine {
  readonly words: readonly string[];
  /** False: the system tells them joined by blanks, and a word with a blank in it looks like several. */
  readonly exact: boolean;
}

/** A process's command line; `undefined` when it is gone or may not be looked at. */
export function commandLine(pid: number): CommandLine | undefined {
  try {
    if (existsSync('/proc/self/stat')) {
      const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return text === '' ? undefined : { words: text.replace(/\0$/, '').split('\0'), exact: true };
    }
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    const options = { encoding: 'utf8', timeout: 300 } as const;
    const text = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], options).trim();
    return { words: text.split(/\s+/), exact: false };
  } catch {
    return undefined;
  }
}

/** More than this is no message. Bytes. */
const MAX_INPUT = 1 << 20;
/** How much came from a pipe that does not block; `undefined`: nothing yet. */
function readSome(pipe: number, chunk: Buffer): number | undefined {
  try {
    return readSync(pipe, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

/** How often an open pipe is asked for the rest, and the milliseconds between. */
const TRIES = 20;
const PAUSE_MS = 10;

/**
 * What stands on a process's standard input and has not been read: for one that is not going to read it any more.
 * `undefined` when the system does not show it, or its end does not come.
 */
export function standardInput(pid: number): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/fd/0`, constants.O_RDONLY | constants.O_NONBLOCK);
    const chunks: Buffer[] = [];
    for (let tries = 0, length = 0; tries < TRIES && length < MAX_INPUT;) {
      const chunk = Buffer.alloc(65_536);
      const size = readSome(file, chunk);
      if (size === 0) return Buffer.concat(chunks).toString('utf8');
      if (size === undefined) {
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
      } else {
        chunks.push(chunk.subarray(0, size));
        length += size;
      }
    }
  } catch {
    // Not shown, or nothing that can be read.
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return undefined;
}
