import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The last bytes of a regular file as text; `undefined` for whatever else is there. Somebody else names the file: a FIFO
 * is not waited for, a device not read.
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
