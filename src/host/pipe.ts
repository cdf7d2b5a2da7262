import { constants, closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Budget } from './io.ts';

const PIPE_BYTES = 65_536;
/** Between two looks at a pipe in which nothing is. Milliseconds. */
const PAUSE_MS = 1;

/**
 * Reads a descriptor to its end, or until there is no time left: `undefined` then. A read that blocks would hold the
 * process however long the other side takes.
 */
export async function readToEnd(descriptor: number, budget: Budget): Promise<Buffer | undefined> {
  const { isFIFO, isSocket } = kindOf(descriptor);
  if (!isFIFO && !isSocket) return readFileSync(descriptor);
  const own = openedAnew(descriptor);
  if (own === undefined) return streamToEnd(descriptor, budget);
  const chunks: Buffer[] = [];
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafeSlow(PIPE_BYTES);
      const length = readSome(own, chunk);
      if (length === 0) return Buffer.concat(chunks);
      if (length !== undefined) chunks.push(chunk.subarray(0, length));
      else if (budget.left() <= PAUSE_MS) return undefined;
      else await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  } finally {
    closeSync(own);
  }
}

function kindOf(descriptor: number) {
  const stat = fstatSync(descriptor);
  return { isFIFO: stat.isFIFO(), isSocket: stat.isSocket() };
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
function streamToEnd(descriptor: number, budget: Budget): Promise<Buffer | undefined> {
  const { Socket } = process.getBuiltinModule('node:net');
  return new Promise((resolve, reject) => {
    const stream = new Socket({ fd: descriptor, readable: true, writable: false });
    const chunks: Buffer[] = [];
    const left = budget.left();
    const timer = left < Infinity ? setTimeout(() => stream.destroy(), left) : undefined;
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => resolve(Buffer.concat(chunks)));
    stream.on('error', reject);
    stream.on('close', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}
