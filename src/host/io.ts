/**
 * What one run of the program is given of the world around it. The real one is made from the process (process-io.ts); tests
 * hand over their own, and then the program neither sees nor touches the process that it runs in.
 */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Left out where nobody is asked and nobody looks on: for the hooks. */
  readonly terminal?: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** @throws ENOENT when the folder is gone */
  readonly cwd: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** The time for a call that has so many milliseconds, counted from the start of the process; `Infinity`: no end. */
  readonly budget: (ms: number) => Budget;
  /** The file that was started: it lies in `dist`, in the package's folder. */
  readonly program: string;
}

export interface Input {
  /**
   * Fills a part of the chunk and returns how many bytes that was, 0 at the end.
   *
   * @throws as fs.readSync: EAGAIN when nothing has come yet and the descriptor does not block
   */
  read(chunk: Uint8Array): number;
  /** Everything, to its end; `undefined` when that does not come in time. */
  readAll(budget: Budget): Promise<Buffer | undefined>;
}

export interface Output {
  /**
   * Resolves when everything is written. A reader that left (`| head -1`) is no error.
   *
   * @throws what the descriptor answers: a full disk, for one
   */
  write(data: string | Uint8Array): Promise<void>;
}

/** Everything that comes by standard input, as text; what cannot be read in time is empty. */
export async function readInput({ stdin }: Pick<Io, 'stdin'>, budget: Budget): Promise<string> {
  const bytes = await stdin.readAll(budget).catch(() => undefined);
  return bytes?.toString('utf8') ?? '';
}

/** Where a person may sit. */
export interface Terminal {
  /** Standard input is one: somebody can be asked. */
  readonly isInput: boolean;
  /** Standard error is one: somebody looks on. */
  readonly isErrors: boolean;
  /** Standard output is one. */
  readonly isOutput: boolean;
  /** A pipe does not block any more once it was opened as a stream. */
  input(): NodeJS.ReadableStream;
  output(): NodeJS.WritableStream;
}

/**
 * The time that something may take. Every limit of the program is a part of one budget, so that a test which is not about
 * limits hands over an endless one: of that every part is endless, too.
 */
export interface Budget {
  /** Milliseconds, 1 at least; `Infinity`: it never ends. */
  left(): number;
  /** For one part: it ends in so many milliseconds, and with the whole. */
  part(ms: number): Budget;
}

/** Milliseconds since the process began. For `performance.now()` Node loads a dozen modules, in every call of the guard. */
export const processAge = (): number => process.uptime() * 1000;

/**
 * A budget that ends when the clock shows `end`.
 *
 * @param clock milliseconds, of a clock that nobody sets back
 */
export function budgetUntil(end: number, clock: () => number, whole?: Budget): Budget {
  const budget = {
    left: () => Math.max(1, Math.min(end - clock(), whole?.left() ?? Infinity)),
    part: (ms: number) => budgetUntil(clock() + ms, clock, budget),
  };
  return budget;
}

/** What the work comes to, or `late` when the budget ends first. The work itself is not stopped. */
export function inTime<T>(work: Promise<T>, budget: Budget): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const left = budget.left();
  const late = new Promise<'late'>((resolve) => {
    // Most work waits for nothing, and is over by then: Node's timers take longer to load than it takes.
    process.nextTick(() => {
      // A timer of no end would fire at once.
      if (!isOver && left < Infinity) timer = setTimeout(() => resolve('late'), left);
    });
  });
  return Promise.race([work, late]).finally(() => {
    isOver = true;
    clearTimeout(timer);
  });
}

/** The most that is kept for the answer when a step before it takes too long. Milliseconds. */
const ANSWER_MS = 1000;

/** What one step may take of the time that is left, so that there is an answer all the same. Milliseconds. */
export function beforeAnswer(budget: Budget): number {
  const left = budget.left();
  return Math.max(1, left - Math.min(ANSWER_MS, left / 4));
}
