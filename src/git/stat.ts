import { type BigIntStats, type Stats, lstatSync, statSync } from 'node:fs';

/**
 * What stands at a path; `undefined`: nothing does, also where a file stands in the place of one of its folders
 * (which Node tells as an error of its own).
 */
export const statOf = (path: string): Stats | undefined => orNothing(() => statSync(path, QUIET));

/** The same, links not followed. */
export const lstatOf = (path: string | Buffer): Stats | undefined => orNothing(() => lstatSync(path, QUIET));

/** The same, with times in nanoseconds. */
export const exactStatOf = (path: string | Buffer): BigIntStats | undefined =>
  orNothing(() => lstatSync(path, { ...QUIET, bigint: true }));

const QUIET = { throwIfNoEntry: false } as const;

function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}
