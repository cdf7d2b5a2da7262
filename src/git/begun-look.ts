import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Oid, parseOid } from '../domain/names.ts';
import type { BinaryText } from './binary-text.ts';
import { FEW_BYTES, formatOf, objectName } from './hash.ts';

/** What git told for a look that the launcher began (bin/git-handoff). */
export interface BegunLook {
  /** The blob of the file that the tool wrote, kept in the scratch store. */
  readonly written: Oid | undefined;
  /** What git-status(1) printed (STATUS_WORDS). */
  readonly status: BinaryText;
  /** Milliseconds since the epoch, before git looked. */
  readonly at: number;
  /** Milliseconds of a processor that it took. */
  readonly costMs: number;
}

/** Behind an empty entry, which git never prints, comes what git took, as the `times` of a shell tells it. */
const END = '\0\0';

/** Reads what the launcher's `look` prints; `undefined` when git did not come to its end. */
export function readBegunLook(text: BinaryText, at: number): BegunLook | undefined {
  const end = text.lastIndexOf(END);
  if (end < 0) return undefined;
  const times = text
    .slice(end + END.length)
    .split(/\s/)
    .filter((word) => /^[\dm.]+s$/.test(word));
  const costMs = Math.round(1000 * times.map(secondsOf).reduce((one, other) => one + other, 0));
  const line = text.startsWith('#') ? 0 : text.indexOf('\n') + 1;
  const written = line === 0 ? undefined : parseOid(text.slice(0, line - 1));
  return { written, status: text.slice(line, end), at, costMs };
}

/** Of `1m0.02s`; zsh leaves the minutes out where there are none. */
function secondsOf(time: string): number {
  const minutes = time.indexOf('m');
  return 60 * Number(time.slice(0, Math.max(0, minutes))) + Number(time.slice(minutes + 1, -1));
}

/**
 * The file's blob as the look has named it, where that is still what stands there: its content was not changed since, and
 * git stores it as it is (no filter).
 */
export function writtenBlob(
  top: string,
  paths: readonly string[],
  begun: BegunLook,
): Map<string, Oid> | undefined {
  const [path, ...others] = paths;
  const { written } = begun;
  if (path === undefined || others.length > 0 || written === undefined) return undefined;
  try {
    const name = objectName(formatOf(written), 'blob', readFileSync(join(top, path)), FEW_BYTES);
    return name === written ? new Map([[path, written]]) : undefined;
  } catch {
    return undefined;
  }
}
