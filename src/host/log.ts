import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  writeSync,
  appendFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { escapeLine } from '../domain/messages.ts';
import { kindOf, quietly, readText } from './disk.ts';
import { share } from './folders.ts';
import { type Output, type Trace, processAge, runningCall } from './io.ts';

/** One line of the guard's log: what happened, never what a note says. */
interface LogLine {
  readonly event: string;
  readonly client?: string;
  readonly session?: string;
  /** `deny`, `error`, `open` (allowed because we could not judge it), `rewrite`, `notice`, … */
  readonly kind: string;
  readonly detail: string;
}

const MAX_BYTES = 1024 * 1024;
/** Short enough that lines do not interleave when several processes append at once. */
const MAX_LINE = 3500;

export const LOG_FILE = 'guard.log';

/** Appends one line to `<folder>/guard.log`, which is rotated at 1 MiB. Ignores any error. */
export function appendLog(folder: string, line: LogLine): void {
  const file = join(folder, LOG_FILE);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) return;
    if ((found?.size ?? 0) > MAX_BYTES) renameSync(file, `${file}.1`);
    const detail = line.detail.slice(0, MAX_LINE);
    const text = JSON.stringify({ ts: new Date().toISOString(), ...line, detail });
    append(file, `${text.slice(0, MAX_LINE + 500)}\n`);
  } catch {
    // The disk is full or read-only, for example: the guard's answer must not depend on its log.
  }
}

/** Reads `<folder>/guard.log`; returns an empty text unless it is a regular file: a FIFO would make us wait. */
export function readLog(folder: string): string {
  const file = join(folder, LOG_FILE);
  return kindOf(file) === 'file' ? readText(file) : '';
}

/** With these flags, opening a symbolic link, or a FIFO that nobody reads, fails at once. */
const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
const APPEND = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

function append(file: string, line: string): void {
  const descriptor = openSync(file, APPEND, 0o600);
  try {
    const isNew = fstatSync(descriptor).size === 0;
    writeSync(descriptor, line);
    if (isNew) share(file);
  } finally {
    closeSync(descriptor);
  }
}

/** Characters. A longer line of the trace is cut off. */
const MAX_TRACE_LINE = 1000;

/**
 * Opens the trace that GIT_HANDOFF_TRACE asks for, like GIT_TRACE for git: `1`, `2` or `true` traces to standard error, an
 * absolute path appends to that file; anything else means no trace. A line that cannot be written is left out.
 */
export function openTrace(env: NodeJS.ProcessEnv, stderr: Output): Trace | undefined {
  const wanted = env['GIT_HANDOFF_TRACE'] ?? '';
  if (/^(?:1|2|true)$/i.test(wanted)) return (line) => void stderr.write(line).catch(() => undefined);
  if (!wanted.startsWith('/')) return undefined;
  return (line) => {
    quietly(() => appendFileSync(wanted, line));
  };
}

/**
 * Adds a line to the trace of the running call, if there is one: `<time> git-handoff <kind>: <text> (<ms> ms)`.
 *
 * @param kind `call`, `git`, `check`, `effect`, `verdict` or `log`
 * @param text called only if there is a trace
 * @param began when the traced work began, by `processAge`
 */
export function trace(kind: string, text: () => string, began?: number): void {
  const write = runningCall()?.trace;
  if (write === undefined) return;
  const took = began === undefined ? '' : ` (${(processAge() - began).toFixed(1)} ms)`;
  const what = escapeLine(text());
  const line = what.length > MAX_TRACE_LINE ? `${what.slice(0, MAX_TRACE_LINE)}…` : what;
  write(`${new Date().toISOString().slice(11, -1)} git-handoff ${kind}: ${line}${took}\n`);
}

/** Does the work, and traces it with its duration and its outcome. */
export async function traced<T>(
  kind: string,
  what: string,
  work: () => Promise<T>,
  outcome: (value: T) => string,
): Promise<T> {
  const began = processAge();
  try {
    const value = await work();
    trace(kind, () => `${what}: ${outcome(value)}`, began);
    return value;
  } catch (error) {
    trace(kind, () => `${what}: failed: ${error instanceof Error ? error.message : String(error)}`, began);
    throw error;
  }
}
