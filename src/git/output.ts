import type { FileState } from '../domain/ledger/file-state.ts';
import { isZeroOid, parseOid } from '../domain/names.ts';
import type { GitResult } from './run.ts';

/** Placeholder of git-log(1) for the sessions that a commit's trailers name, for `sessionsIn`. */
export const SESSIONS = '%(trailers:key=Claude-Session-Id,valueonly,separator=%x2C)';

/** The sessions that `SESSIONS` stands for in git's output. */
export function sessionsIn(text: string): string[] {
  return text.split(',').flatMap((id) => (id.trim() === '' ? [] : [id.trim()]));
}

/** What git printed with `-z`, one by one. */
export function entriesOf({ stdout }: Pick<GitResult, 'stdout'>): string[] {
  return stdout
    .toString('utf8')
    .split('\0')
    .filter((entry) => entry !== '');
}

/** Splits a text in which each record has `width` fields that end in NUL; fields may be empty. */
export function records(text: string, width: number): string[][] {
  const fields = text.split('\0');
  const found: string[][] = [];
  for (let at = 0; at + width <= fields.length; at += width) found.push(fields.slice(at, at + width));
  return found;
}

/** A mode of zeros is "no such entry"; a name of zeros is content that nobody has read. */
export function listedState(mode: string, name: string): FileState {
  if (!/^[0-7]{6}$/.test(mode) || mode === '000000') return null;
  const oid = parseOid(name);
  return { mode, oid: oid === undefined || isZeroOid(oid) ? null : oid };
}

/** Bytes as a string, one character each (latin1). */
export type BinaryText = string;

// eslint-disable-next-line no-control-regex -- "not ASCII" is what is asked
const NOT_ASCII = /[^\u0000-\u007f]/;

/** The UTF-8 text of bytes; most of what git prints is ASCII and is returned as it is. */
export function utf8(bytes: BinaryText): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}
