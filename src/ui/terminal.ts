import { EXIT_CODES, type Failure } from '../domain/failure.ts';
import { escapeLine, escapeText } from '../domain/surfacing.ts';
import { type Paint, width } from './colour.ts';

/** Text for standard output; every part that we did not write is escaped already. */
export type Rendered = string;

/** What a text is made for, besides what it says. */
export interface TextContext {
  /** Milliseconds since the epoch: ages are told from then. */
  readonly now: number;
  readonly paint: Paint;
  /** The clients of the sessions on record: what a session is called. */
  readonly clients?: ReadonlyMap<string, string> | undefined;
}

/** The lines of a failure for stderr: what, and the next commands to type. */
export function renderFailure(failure: Failure): string {
  const hints = [failure.hint, failure.otherHint].map(renderHint);
  return `error: ${escapeLine(failure.message)}\n${hints.join('')}`;
}

/** The next command to type, for stderr; empty if there is none. */
export function renderHint(hint: string | undefined): string {
  return hint === undefined ? '' : `hint: ${escapeText(hint)}\n`;
}

/** A notice as a line for stderr. */
export function renderNotice(notice: string): string {
  return `notice: ${escapeLine(notice)}\n`;
}

/** The `--json` object of a failure. */
export function failureJson(failure: Failure): object {
  return {
    schema: 1,
    ok: false,
    error: {
      code: failure.code,
      message: failure.message,
      hint: failure.hint ?? null,
      otherHint: failure.otherHint ?? null,
      lostRef: failure.lostRef ?? null,
    },
  };
}

/** The exit status that a failure ends with. */
export function exitCode(failure: Failure): number {
  return EXIT_CODES[failure.code];
}

/** Rows as columns padded to the widest cell; the last column is not padded, and trailing blanks go. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (let at = 0; at < row.length - 1; at++) widths[at] = Math.max(widths[at] ?? 0, width(row[at] ?? ''));
  }
  let text = '';
  for (const row of rows) {
    let line = '';
    for (let at = 0; at < row.length; at++) {
      const cell = row[at] ?? '';
      line += at === row.length - 1 ? cell : `${cell}${' '.repeat((widths[at] ?? 0) - width(cell))}  `;
    }
    text += `${line.trimEnd()}\n`;
  }
  return text;
}

/** "1 line", "2 lines". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
