import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The last bytes of a regular file as text; otherwise `undefined`. The path comes from outside: this never waits for a FIFO or
 * reads a device.
 */
export function readTail(path: string, most: number): string | undefined {
  if (!path.startsWith('/') || path.includes('\0')) return undefined;
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile()) return undefined;
    const buffer = Buffer.alloc(Math.min(most, stat.size));
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, stat.size - buffer.length));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
