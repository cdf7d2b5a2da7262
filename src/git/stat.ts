import { type BigIntStats, type Stats, lstatSync, statSync } from 'node:fs';

/**
 * What stands at a path; `undefined`: nothing does, also where a file stands in the place of one of its folders, or where
 * links lead in a circle (which Node tells as errors of their own).
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
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}
