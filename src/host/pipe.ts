import { constants, closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Budget } from './io.ts';

const PIPE_BYTES = 65_536;
/** Between two looks at a pipe in which nothing is. Milliseconds. */
const PAUSE_MS = 1;

/** What comes by a descriptor, piece by piece. A read that blocks would hold the process however long the other side takes. */
export interface Source {
  /** What is there, nothing at the end; `undefined` when nothing is, or that cannot be told. */
  readonly poll: () => Buffer | undefined;
  /** What came next, nothing at the end; `undefined` when there is no time left. */
  readonly next: (budget: Budget) => Promise<Buffer | undefined>;
}

/** Opens a descriptor for reading. */
export function openSource(descriptor: number): Source {
  const stat = fstatSync(descriptor);
  if (!stat.isFIFO() && !stat.isSocket()) return fileSource(descriptor);
  const own = openedAnew(descriptor);
  return own === undefined ? streamSource(descriptor) : pipeSource(own);
}

/** Reads a descriptor to its end, or until there is no time left: `undefined` then. */
export async function readToEnd(descriptor: number, budget: Budget): Promise<Buffer | undefined> {
  const source = openSource(descriptor);
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = await source.next(budget);
    if (chunk === undefined) return undefined;
    if (chunk.length === 0) return Buffer.concat(chunks);
    chunks.push(chunk);
  }
}

function fileSource(descriptor: number): Source {
  let isRead = false;
  const poll = () => {
    const bytes = isRead ? Buffer.alloc(0) : readFileSync(descriptor);
    isRead = true;
    return bytes;
  };
  return { poll, next: () => Promise.resolve(poll()) };
}

function pipeSource(own: number): Source {
  let free: Buffer | undefined;
  const poll = () => {
    const chunk = free ?? Buffer.allocUnsafeSlow(PIPE_BYTES);
    const length = readSome(own, chunk);
    if (length === 0) closeSync(own);
    free = length === undefined ? chunk : undefined;
    return length === undefined ? undefined : chunk.subarray(0, length);
  };
  return {
    poll,
    async next(budget) {
      for (;;) {
        const chunk = poll();
        if (chunk !== undefined) return chunk;
        if (budget.left() <= PAUSE_MS) return undefined;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    },
  };
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

/** How much came from a pipe that does not block; `undefined`: nothing yet. */
export function readSome(pipe: number, chunk: Buffer): number | undefined {
  try {
    return readSync(pipe, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

/** A stream takes longer to load than a pipe to read. */
function streamSource(descriptor: number): Source {
  const { Socket } = process.getBuiltinModule('node:net');
  const stream = new Socket({ fd: descriptor, readable: true, writable: false });
  const pieces = stream[Symbol.asyncIterator]();
  return {
    poll: () => undefined,
    next(budget) {
      const piece = pieces
        .next()
        .then(({ done, value }) => (done === true ? Buffer.alloc(0) : (value as Buffer)));
      const left = budget.left();
      if (left === Infinity) return piece;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => {
          stream.destroy();
          resolve(undefined);
        }, left);
      });
      // What a stream says that was destroyed concerns nobody.
      piece.catch(() => undefined);
      return Promise.race([piece, late]).finally(() => clearTimeout(timer));
    },
  };
}
