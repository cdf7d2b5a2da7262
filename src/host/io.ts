import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import type { JournalLine } from '../domain/journal/events.ts';
import type { SessionId } from '../domain/names.ts';
import { fstatSync, readSync, writeSync } from 'node:fs';
import { Failure } from '../domain/failure.ts';

/**
 * Everything that one run of the program may use of the world around it. `processIo` makes it from the process; tests
 * pass their own, and then the program neither sees nor touches the process that it runs in.
 */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Left out for the hooks, where nobody can be asked and nobody looks on. */
  readonly terminal?: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** @throws ENOENT when the folder is gone */
  readonly cwd: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Returns the budget of a call that may take so many milliseconds from the process's start; `Infinity`: no limit. */
  readonly budget: (ms: number) => Budget;
  /** The file that Node was started with: it is in `dist`, in the package's folder. */
  readonly program: string;
}

export interface Input {
  /**
   * Fills a part of the chunk and returns the number of bytes, 0 at the end.
   *
   * @throws as fs.readSync: EAGAIN when nothing has come yet and the descriptor does not block
   */
  read(chunk: Uint8Array): number;
  /** Reads everything to the end; `undefined` when the end does not come in time. */
  readAll(budget: Budget): Promise<Buffer | undefined>;
}

export interface Output {
  /**
   * Resolves when everything is written. A reader that left (`| head -1`) is no error.
   *
   * @throws the descriptor's error: a full disk, for one
   */
  write(data: string | Uint8Array): Promise<void>;
}

/** Reads standard input as text; an empty text when it cannot be read in time. */
export async function readInput({ stdin }: Pick<Io, 'stdin'>, budget: Budget): Promise<string> {
  const bytes = await stdin.readAll(budget).catch(() => undefined);
  return bytes?.toString('utf8') ?? '';
}

/** A terminal, where a person may sit. */
export interface Terminal {
  /** Whether standard input is one, so that somebody can be asked. */
  readonly isInput: boolean;
  /** Whether standard error is one, so that somebody looks on. */
  readonly isErrors: boolean;
  /** Whether standard output is one. */
  readonly isOutput: boolean;
  /** Opens a stream only when it is called: a pipe no longer blocks once it was opened as a stream. */
  input(): NodeJS.ReadableStream;
  output(): NodeJS.WritableStream;
}

/**
 * The time that something may take. Every limit of the program is a part of one budget, so that a test that is not about
 * limits can pass an endless one, whose parts are endless, too.
 */
export interface Budget {
  /** The milliseconds that are left, at least 1; `Infinity`: no limit. */
  left(): number;
  /** Returns the budget of one part, which ends in so many milliseconds, and at the latest with the whole. */
  part(ms: number): Budget;
}

/**
 * Milliseconds for a call of the guard. This limit ends what hangs; a machine that is merely busy does not reach it. Clients
 * give a hook ten seconds. All our hooks of one commit together have the same limit (githooks/git-hook.ts).
 */
export const CALL_MS = 8000;

/** Milliseconds since the process began. `performance.now()` would load a dozen modules in every call of the guard. */
export const processAge = (): number => process.uptime() * 1000;

/**
 * A budget that ends when the clock shows `end`.
 *
 * @param clock a clock in milliseconds that nobody sets back
 */
export function budgetUntil(end: number, clock: () => number, whole?: Budget): Budget {
  const budget = {
    left: () => Math.max(1, Math.min(end - clock(), whole?.left() ?? Infinity)),
    part: (ms: number) => budgetUntil(clock() + ms, clock, budget),
  };
  return budget;
}

/** The result of the work, or `late` when the budget ends first. The work itself is not stopped. */
export function inTime<T>(work: Promise<T>, budget: Budget): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const left = budget.left();
  const late = new Promise<'late'>((resolve) => {
    // Most work waits for nothing, and is over by the next tick: loading Node's timers would take longer.
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

/** Most milliseconds that are reserved for the answer when a step before it takes too long. */
const ANSWER_MS = 1000;

/** Milliseconds of the remaining time that one step may take, so that there is time for an answer. */
export function beforeAnswer(budget: Budget): number {
  const left = budget.left();
  return Math.max(1, left - Math.min(ANSWER_MS, left / 4));
}

/** Writes one line of a trace (log.ts). */
export type Trace = (line: string) => void;

/** What a call has added to a session's journal. */
export interface RecordedLines {
  readonly commonDir: string;
  readonly session: SessionId;
  readonly lines: readonly JournalLine[];
}

/**
 * What applies to everything that one call of the program does, however deep: its time, the children that it waits for, and
 * its trace. Code that starts a process reads it here, so that the functions in between need not pass it on.
 */
export interface RunningCall {
  /** The time for the whole call. */
  readonly budget: Budget;
  /** Children that still run. They do not outlive a call with a time limit. */
  readonly children: Set<ChildProcess>;
  /** Whether a child had to be ended: later ones get a quarter of the time that is left, so that there is an answer. */
  hadToEndChild: boolean;
  /** What the call has recorded, for subscribers (sessions/happenings.ts). */
  readonly recorded: RecordedLines[];
  /** Work that waits for the end of the judging; `undefined` when nothing is being judged. */
  whenJudged: (() => void)[] | undefined;
  /** `undefined` when nobody asked for a trace. */
  readonly trace: Trace | undefined;
}

const calls = new AsyncLocalStorage<RunningCall>();

/** Does the work as one call: the processes that it starts end with the budget. */
export function asCall<T>(budget: Budget, trace: Trace | undefined, work: () => Promise<T>): Promise<T> {
  return calls.run(
    { budget, children: new Set(), hadToEndChild: false, recorded: [], whenJudged: undefined, trace },
    work,
  );
}

/** The call that runs; `undefined` outside of any. */
export const runningCall = (): RunningCall | undefined => calls.getStore();

/** Whole milliseconds until the call must end; `undefined`: no limit. */
export function timeLeft(): number | undefined {
  const left = runningCall()?.budget.left() ?? Infinity;
  return left < Infinity ? Math.ceil(left) : undefined;
}

/** Judges a call. Work that `onceJudged` gets meanwhile is done when the judging is over. */
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
      // The answer counts even without the file that its hint names.
    }
  }
}

/** Does the work at once, or when the judging is over. */
export function onceJudged(work: () => void): void {
  const later = runningCall()?.whenJudged;
  if (later === undefined) work();
  else later.push(work);
}

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
