import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** One line of the guard's log: what happened, never what a note says. */
export interface LogLine {
  readonly event: string;
  readonly client?: string;
  readonly session?: string;
  /** `deny`, `error`, `open` (allowed because it could not be judged), `rewrite`, `notice`, … */
  readonly kind: string;
  readonly detail: string;
}

const MAX_BYTES = 1024 * 1024;
/** Small enough that lines that several processes append do not interleave. */
const MAX_LINE = 3500;

export const LOG_FILE = 'guard.log';

/** Appends one line to `<folder>/guard.log`, rotated at 1 MiB. A log that cannot be written changes nothing. */
export function appendLog(folder: string, line: LogLine): void {
  const file = join(folder, LOG_FILE);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) return;
    if ((found?.size ?? 0) > MAX_BYTES) renameSync(file, `${file}.1`);
    const detail = line.detail.slice(0, MAX_LINE);
    const text = JSON.stringify({ ts: new Date().toISOString(), ...line, detail });
    append(file, `${text.slice(0, MAX_LINE + 500)}\n`);
  } catch {
    // Full disk, read-only or no file at all: the guard's answer must not depend on its log.
  }
}

/** Reads `<folder>/guard.log`; an empty text when it is no regular file, such as a FIFO, which would make us wait. */
export function readLog(folder: string): string {
  const file = join(folder, LOG_FILE);
  try {
    return lstatSync(file).isFile() ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}

/** If a link or a FIFO takes the file's place, opening neither follows the link nor waits for the FIFO's reader. */
const APPEND =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  // Windows has neither.
  ((constants.O_NOFOLLOW as number | undefined) ?? 0) |
  ((constants.O_NONBLOCK as number | undefined) ?? 0);

function append(file: string, line: string): void {
  const descriptor = openSync(file, APPEND, 0o600);
  try {
    writeSync(descriptor, line);
  } finally {
    closeSync(descriptor);
  }
}
