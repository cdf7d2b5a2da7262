import { closeSync, openSync, readSync } from 'node:fs';

/**
 * Random bytes that nobody can guess, in hex. The kernel gives the few that a start needs, for loading node:crypto costs
 * milliseconds.
 */
export function randomHex(bytes: number): string {
  return (fromKernel(bytes) ?? process.getBuiltinModule('node:crypto').randomBytes(bytes)).toString('hex');
}

/** `undefined` where the system has no such file. */
function fromKernel(bytes: number): Buffer | undefined {
  try {
    const source = openSync('/dev/urandom', 'r');
    try {
      const read = Buffer.alloc(bytes);
      return readSync(source, read) === bytes ? read : undefined;
    } finally {
      closeSync(source);
    }
  } catch {
    return undefined;
  }
}
