import { constants, closeSync, openSync } from 'node:fs';
import type { Budget } from './io.ts';
import { readSome, readToEnd } from './pipe.ts';

const PIPE_BYTES = 65_536;
/** Between two looks at a pipe in which nothing is. Milliseconds. */
const PAUSE_MS = 1;

/**
 * A pipe that is emptied now and then while other things are done: whoever fills it waits as long as it is full, and a pipe
 * holds 64 KiB.
 */
export class EarlyPipe {
  readonly #descriptor: number;
  readonly #chunks: Buffer[] = [];
  /** `undefined`: it can only be read at once, or nothing more comes. */
  #own: number | undefined;
  #state: 'unread' | 'whole' | 'failed' = 'unread';

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
    this.#own = openedAnew(descriptor);
  }

  /** Takes what has come. Waits for nothing. */
  take(): void {
    while (this.#own !== undefined) {
      const chunk = Buffer.allocUnsafeSlow(PIPE_BYTES);
      let length: number | undefined;
      try {
        length = readSome(this.#own, chunk);
      } catch {
        this.#end('failed');
        return;
      }
      if (length === undefined) return;
      if (length > 0) this.#chunks.push(chunk.subarray(0, length));
      else this.#end('whole');
    }
  }

  /** Whether a text is in what has come, not across two parts of it: a guess. */
  holds(text: string): boolean {
    return this.#chunks.some((chunk) => chunk.includes(text, 0, 'latin1'));
  }

  /** All of it; `undefined` when that cannot be read, or does not come in time. */
  async whole(budget: Budget): Promise<Buffer | undefined> {
    if (this.#own === undefined && this.#state === 'unread') return readToEnd(this.#descriptor, budget);
    for (;;) {
      this.take();
      if (this.#state === 'whole') return Buffer.concat(this.#chunks);
      if (this.#state === 'failed' || budget.left() <= PAUSE_MS) return undefined;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  #end(state: 'whole' | 'failed'): void {
    if (this.#own !== undefined) closeSync(this.#own);
    this.#own = undefined;
    this.#state = state;
  }
}

/** A pipe that is opened again does not block, and nobody else's descriptor is changed by that. Only Linux can. */
function openedAnew(descriptor: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
