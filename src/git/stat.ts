import { type BigIntStats, type Stats, lstatSync, statSync } from 'node:fs';

/**
 * `stat`, or `undefined` if the path does not exist: also if one of its folders is a file (`ENOTDIR`) or its links form a
 * cycle (`ELOOP`), for which Node throws.
 */
export const statOf = (path: string): Stats | undefined => orNothing(() => statSync(path, QUIET));

/** `lstat`, in the same way. */
export const lstatOf = (path: string | Buffer): Stats | undefined => orNothing(() => lstatSync(path, QUIET));

/** `lstat` with times in nanoseconds, in the same way. */
export const exactStatOf = (path: string | Buffer): BigIntStats | undefined =>
  orNothing(() => lstatSync(path, { ...QUIET, bigint: true }));

const QUIET = { throwIfNoEntry: false } as const;

function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}
