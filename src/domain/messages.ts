/** Every reason why a command can stop, as `--json` shows it, with its exit code; 0 is success. */
export const EXIT_CODES = {
  'not-found': 1,
  stale: 1,
  refused: 1,
  secret: 1,
  usage: 2,
  'not-owner': 3,
  'unknown-operator': 3,
  'lost-race': 4,
  remote: 5,
  integrity: 6,
  environment: 7,
  internal: 70,
} as const;
export type FailureCode = keyof typeof EXIT_CODES;

interface FailureDetails {
  /** The next command to type; it works as printed. */
  readonly hint?: string;
  /** A second command, which does or shows more. */
  readonly otherHint?: string;
  /** The ref that keeps the text that the caller wanted to write. */
  readonly lostRef?: string;
  /** Whether the message already says where the text is, or that it could not be kept. */
  readonly locatesText?: true;
  readonly cause?: unknown;
}

/** Why a command refuses or fails: what happened, and the next command to type. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly hint: string | undefined;
  readonly otherHint: string | undefined;
  readonly lostRef: string | undefined;
  readonly locatesText: boolean;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Failure';
    this.code = code;
    this.hint = details.hint;
    this.otherHint = details.otherHint;
    this.lostRef = details.lostRef;
    this.locatesText = details.locatesText === true;
  }
}

export const NO_SPACE_HINT = 'free some disk space, then try again';
export const NOT_WRITABLE_HINT = 'make the repository writable for this user, then try again';
export const DISK_ERROR_HINT = 'look for free space and disk errors: df . && dmesg | tail';

/** What to do about a system call that failed for a reason outside the program, by errno(3). */
const SYSTEM_HINTS = new Map([
  ['ENOSPC', NO_SPACE_HINT],
  ['EDQUOT', NO_SPACE_HINT],
  ['EROFS', NOT_WRITABLE_HINT],
  ['EACCES', NOT_WRITABLE_HINT],
  ['EPERM', NOT_WRITABLE_HINT],
  ['EIO', DISK_ERROR_HINT],
]);

/**
 * Turns whatever was thrown into a failure. Anything that is no `Failure` is our own bug and is reported with its stack,
 * unless the disk is the reason: full, not writable or broken.
 */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const hint = error instanceof Error && 'code' in error ? SYSTEM_HINTS.get(String(error.code)) : undefined;
  if (hint !== undefined) return new Failure('environment', (error as Error).message, { hint, cause: error });
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = `this is a fault of git-handoff, please report it: ${text}`;
  return new Failure('internal', message, { cause: error });
}

/**
 * Makes text that we did not write (notes, names, git's messages) safe for a terminal or an agent.
 * Nothing is deleted: what could steer a terminal or hide from a reader becomes visible instead.
 */

/** C0 without tab and line feed, C1, bidi controls, invisible and tag characters, lone variation selectors. */
const UNSAFE =
  // eslint-disable-next-line no-control-regex -- these characters are the subject
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ufe00-\ufe0f]{2,}|[\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/gu;

/** Text without anything to escape: printable ASCII, tabs and line feeds. This is the common case, and quick to test. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;
const PLAIN_LINE = /^[\x20-\x7e]*$/;

/** An emoji joined with U+200D is one picture; the joiner is harmless there. */
const EMOJI_JOINER = /(\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic})/gu;
const JOINER_PLACEHOLDER = '\u{10ffff}';

function visible(character: string): string {
  return Array.from(character)
    .map((one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
    .join('');
}

/** Escapes a text of several lines; line feeds and tabs stay, a carriage return before a line feed is dropped. */
export function escapeText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replaceAll(JOINER_PLACEHOLDER, visible)
    .replace(EMOJI_JOINER, `$1${JOINER_PLACEHOLDER}`)
    .replaceAll('\r\n', '\n')
    .replace(UNSAFE, visible)
    .replaceAll(JOINER_PLACEHOLDER, '\u200d');
}

/** Escapes a text that must stay on one line (names, summaries, messages). */
export function escapeLine(text: string): string {
  if (PLAIN_LINE.test(text)) return text;
  return escapeText(text).replaceAll('\n', '\\n').replaceAll('\t', ' ');
}

/** Escapes the unsafe characters of a JSON text; a parser still reads the same values. */
export function escapeJson(json: string): string {
  if (PLAIN_LINE.test(json)) return json;
  return json.replace(UNSAFE, (characters) =>
    // JSON's escapes name UTF-16 code units.
    Array.from(characters, (one) => one.split('').map(unitEscape).join('')).join(''),
  );
}

const unitEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

const SAFE_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * Quotes a word for a command that we print: a harmless word stays bare, others get single quotes. A word with
 * characters that must not be shown raw becomes `$'…'`, which bash and zsh read.
 */
export function shellWord(word: string): string {
  if (SAFE_WORD.test(word) && !word.startsWith('-')) return word;
  if (escapeLine(word) === word) return `'${word.replaceAll("'", `'\\''`)}'`;
  const quoted = Array.from(word).map((one) => {
    if (one === "'" || one === '\\') return `\\${one}`;
    return escapeLine(one) === one ? one : `\\U${(one.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
  });
  return `$'${quoted.join('')}'`;
}

/**
 * Quotes a word for a command that works as printed in any POSIX shell (dash does not know `$'…'`): line feeds stay as
 * they are inside the quotes. `undefined` if the word holds what must not be shown raw: then it has to go into a file.
 */
export function plainWord(word: string): string | undefined {
  if (SAFE_WORD.test(word) && !word.startsWith('-')) return word;
  return escapeText(word) === word ? `'${word.replaceAll("'", `'\\''`)}'` : undefined;
}

/** Lists names in a sentence: the first of them, and how many more there are. */
export function listed(names: readonly string[], most = 5): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `1 path`, `2 paths`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Cuts a text to at most `bytes` UTF-8 bytes at a character's edge, and marks the cut. */
export function cutToBytes(text: string, bytes: number): string {
  const [encoder, mark] = [new TextEncoder(), '…'];
  if (encoder.encode(text).length <= bytes) return text;
  const room = Math.max(0, bytes - encoder.encode(mark).length);
  const { read } = encoder.encodeInto(text, new Uint8Array(room));
  // A joiner at the cut would be invisible.
  return text.slice(0, read).replace(/\u200d$/, '') + mark;
}

/** Cuts a text to at most `most` characters, the last of which then marks the cut. */
export function cutToCharacters(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = Array.from(text.slice(0, 2 * (most + 1)));
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [7 * 86_400, 'week'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** Returns an age such as "3 minutes ago"; "just now" for a time in the future. Takes milliseconds since the epoch. */
export function ago(then: number, now: number): string {
  const seconds = Math.floor((now - then) / 1000);
  for (const [size, unit] of STEPS) {
    const count = Math.floor(seconds / size);
    if (count >= 1) return `${counted(count, unit)} ago`;
  }
  return 'just now';
}

/** Formats milliseconds since the epoch as RFC 3339, with whole seconds. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`;
}
