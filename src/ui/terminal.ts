import { escapeLine, escapeText, EXIT_CODES, type Failure } from '../domain/messages.ts';

/** Text for standard output, in which all foreign text is escaped. */
export type Rendered = string;

/** What the text of a result depends on, besides the result. */
export interface TextContext {
  /** Milliseconds since the epoch: ages count back from this time. */
  readonly now: number;
  readonly paint: Paint;
  /** Whether the output is a terminal, where a person may read it. */
  readonly isAtTerminal: boolean;
  /** The client of each session on record, for the session's name. */
  readonly clients?: ReadonlyMap<string, string> | undefined;
}

/** The lines of a failure for stderr: the message, and the next commands to type. */
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

/** The exit status of a failure. */
export function exitCode(failure: Failure): number {
  return EXIT_CODES[failure.code];
}

/** Formats rows as columns. Pads each column to its widest cell, except the last, and trims trailing blanks. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.slice(0, -1).entries()) widths[at] = Math.max(widths[at] ?? 0, width(cell));
  const lines = rows.map((row) => {
    const cells = row.slice(0, -1).map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - width(cell)));
    return `${[...cells, row.at(-1) ?? ''].join('  ').trimEnd()}\n`;
  });
  return lines.join('');
}

/** Colours our own words, or leaves them as they are if the output takes no colours. */
export interface Paint {
  /** Colours what belongs to the reader, or is in order. */
  readonly good: (text: string) => string;
  /** Colours what belongs to somebody else, or is in the way. */
  readonly bad: (text: string) => string;
  /** Colours what needs attention, and git's object names. */
  readonly mark: (text: string) => string;
}

const asItIs = (text: string): string => text;

export const PLAIN: Paint = { good: asItIs, bad: asItIs, mark: asItIs };

const ESCAPE = '\x1b';

const inColour =
  (code: number) =>
  (text: string): string =>
    `${ESCAPE}[${code}m${text}${ESCAPE}[m`;

/** git's own colours: green, red, yellow. */
export const COLOURS: Paint = { good: inColour(32), bad: inColour(31), mark: inColour(33) };

/** The number of columns that a text takes, without its colour codes. */
function width(text: string): number {
  if (!text.includes(ESCAPE)) return text.length;
  const [plain = '', ...coloured] = text.split(ESCAPE);
  return coloured.reduce((sum, part) => sum + part.length - part.indexOf('m') - 1, plain.length);
}
