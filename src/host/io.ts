/**
 * Everything that one run of the program may use of the world around it. process-io.ts makes it from the process; tests
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
