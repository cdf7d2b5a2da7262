import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import type { JournalLine } from '../domain/journal/events.ts';
import type { SessionId } from '../domain/names.ts';
import { fstatSync, readSync, writeSync } from 'node:fs';
import { Failure } from '../domain/messages.ts';
import { quietly } from './disk.ts';

/**
 * Everything outside of the program that one run may use. `processIo` makes it from the process. Tests pass their own:
 * then the program neither sees nor touches the process in which it runs.
 */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Missing in hooks, where nobody watches or can answer a question. */
  readonly terminal?: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** @throws ENOENT when the folder is gone */
  readonly cwd: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Returns the budget of a call that may take `ms` milliseconds from the start of the process; `Infinity`: no limit. */
  readonly budget: (ms: number) => Budget;
  /** The script that Node was started with: a file in the package's `dist`. */
  readonly program: string;
}

export interface Input {
  /** Reads to the end; `undefined` when the end does not come in time. Throws the descriptor's errors. */
  readAll(budget: Budget): Promise<Buffer | undefined>;
}

export interface Output {
  /** Resolves when everything is written, or the reader has left (`| head -1`). Throws other errors (a full disk). */
  write(data: string | Uint8Array): Promise<void>;
}

/** Reads standard input as text; returns an empty text when it cannot be read in time. */
export async function readInput({ stdin }: Pick<Io, 'stdin'>, budget: Budget): Promise<string> {
  const bytes = await stdin.readAll(budget).catch(() => undefined);
  return bytes?.toString('utf8') ?? '';
}

/** A terminal, where a person may sit. */
export interface Terminal {
  /** Whether standard input is a terminal, so that somebody can answer a question. */
  readonly isInput: boolean;
  /** Whether standard error is a terminal, so that somebody may be watching. */
  readonly isErrors: boolean;
  readonly isOutput: boolean;
  /** Opens the stream only when called, because a pipe that is opened as a stream no longer blocks. */
  input(): NodeJS.ReadableStream;
  output(): NodeJS.WritableStream;
}

/**
 * The time that something may take. Every limit of the program is a part of one budget, so a test that passes an endless budget
 * meets no limit.
 */
export interface Budget {
  /** The milliseconds that are left, at least 1; `Infinity`: no limit. */
  left(): number;
  /** Returns a part of the budget, which ends in `ms` milliseconds or with the whole, whichever is earlier. */
  part(ms: number): Budget;
}

/**
 * Milliseconds for a call of the guard. The limit is for calls that hang: on a machine that is merely busy, calls do not reach
 * it. Clients give a hook ten seconds. All our hooks of one commit share this limit (githooks/git-hook.ts).
 */
export const CALL_MS = 8000;

/** Returns the milliseconds since the process began. `performance.now()` would load a dozen modules in every guard call. */
export const processAge = (): number => process.uptime() * 1000;

/** Returns a budget that ends when `clock` (milliseconds, never set back) shows `end`, or with `whole` if that ends earlier. */
export function budgetUntil(end: number, clock: () => number, whole?: Budget): Budget {
  const budget = {
    left: () => Math.max(1, Math.min(end - clock(), whole?.left() ?? Infinity)),
    part: (ms: number) => budgetUntil(clock() + ms, clock, budget),
  };
  return budget;
}

/** Returns the result of the work, or `late` when the budget ends first. The work itself is not stopped. */
export function inTime<T>(work: Promise<T>, budget: Budget): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const left = budget.left();
  const late = new Promise<'late'>((resolve) => {
    // Most work is over by the next tick, because it waits for nothing: then we need not load Node's timers.
    process.nextTick(() => {
      // Node would fire an infinite timer at once.
      if (!isOver && left < Infinity) timer = setTimeout(() => resolve('late'), left);
    });
  });
  return Promise.race([work, late]).finally(() => {
    isOver = true;
    clearTimeout(timer);
  });
}

/** The most milliseconds to reserve for the answer, in case an earlier step takes too long. */
const ANSWER_MS = 1000;

/** Returns how many milliseconds one step may take, so that there is time left for an answer. */
export function beforeAnswer(budget: Budget): number {
  const left = budget.left();
  return Math.max(1, left - Math.min(ANSWER_MS, left / 4));
}

/** Writes one line of a trace (log.ts). */
export type Trace = (line: string) => void;

/** The lines that a call has added to a session's journal. */
export interface RecordedLines {
  readonly commonDir: string;
  readonly session: SessionId;
  readonly lines: readonly JournalLine[];
}

/**
 * What applies to everything that one call of the program does, however deep: its time, the child processes that it waits
 * for, and its trace. Code that starts a process reads them here, so that the functions in between need not pass them on.
 */
export interface RunningCall {
  readonly budget: Budget;
  /** Child processes that still run. They do not outlive a call that has a time limit. */
  readonly children: Set<ChildProcess>;
  /** Whether we had to end a child. If so, later ones get a quarter of the remaining time, so that the call can still answer. */
  hadToEndChild: boolean;
  /** What the call has recorded, for subscribers (sessions/happenings.ts). */
  readonly recorded: RecordedLines[];
  /** Work that waits for the end of the judging; `undefined` when nothing is being judged. */
  whenJudged: (() => void)[] | undefined;
  /** `undefined` when nobody asked for a trace. */
  readonly trace: Trace | undefined;
}

const calls = new AsyncLocalStorage<RunningCall>();

/** Does the work as one call: the processes that the work starts end with the budget. */
export function asCall<T>(budget: Budget, trace: Trace | undefined, work: () => Promise<T>): Promise<T> {
  return calls.run(
    { budget, children: new Set(), hadToEndChild: false, recorded: [], whenJudged: undefined, trace },
    work,
  );
}

/** Returns the running call; `undefined` outside of any call. */
export const runningCall = (): RunningCall | undefined => calls.getStore();

/** Returns the milliseconds until the call must end, rounded up; `undefined`: no limit. */
export function timeLeft(): number | undefined {
  const left = runningCall()?.budget.left() ?? Infinity;
  return left < Infinity ? Math.ceil(left) : undefined;
}

/** Judges a call, and then does the work that `onceJudged` was given meanwhile. */
export async function whileJudging<T>(judge: () => Promise<T>): Promise<T> {
  const call = runningCall();
  if (call === undefined) return judge();
  const later: (() => void)[] = (call.whenJudged = []);
  try {
    return await judge();
  } finally {
    call.whenJudged = undefined;
    try {
      for (const work of later) work();
    } catch {
      // The answer is given even if the file that its hint names could not be written.
    }
  }
}

/** Does the work when the judging is over, or at once if nothing is being judged. */
export function onceJudged(work: () => void): void {
  const later = runningCall()?.whenJudged;
  if (later === undefined) work();
  else later.push(work);
}

/** Milliseconds between two attempts at a non-blocking pipe that is empty or full. */
const PAUSE_MS = 5;
/** Bytes that a pipe can hold. */
const PIPE_BYTES = 65_536;

/** Returns the input and output of this process, for the program that runs in it: `run(argv, processIo())`. */
export function processIo(): Io {
  return {
    stdin: { readAll },
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
      hint: 'cd to a folder that exists, then try again',
      cause: error,
    });
  }
}

/** Reads standard input to its end. The writer may be slow: if the descriptor does not block, we retry until the time is up. */
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

/** Writes without a stream, which would take 3 ms to make. Written bytes are not lost, however the process ends. */
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

/** Asks `node:tty`, which loads all of `node:net`, only if the descriptor is neither a file nor a pipe. */
function isTerminal(descriptor: number): boolean {
  const isDevice = quietly(() => fstatSync(descriptor).isCharacterDevice()) ?? false;
  return isDevice && process.getBuiltinModule('node:tty').isatty(descriptor);
}
