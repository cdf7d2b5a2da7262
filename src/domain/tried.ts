import { type Oid, parseOid } from './names.ts';
import { cutToBytes, shellWord } from './messages.ts';

/** What `git handoff try` ran on a tree, and its exit status. */
export interface Tried {
  /** See `triedText`. */
  readonly command: string;
  readonly status: number;
  readonly tree: Oid;
}

/** How many commands a note and a journal remember, each with its last run. */
export const MAX_TRIED = 4;
/** Bytes. */
const MAX_COMMAND = 200;

/** The command as it may be typed, cut after a whole word: half a word could be half a secret, which no scanner finds. */
export function triedText(argv: readonly string[]): string {
  let text = '';
  for (const word of argv) {
    // An option needs no quotes.
    const next = `${text}${text === '' ? '' : ' '}${shellWord(word).replace(/^'(-[\w./=-]*)'$/, '$1')}`;
    if (Buffer.byteLength(next) > MAX_COMMAND) return `${text} …`;
    text = next;
  }
  return text;
}

/** Returns the value of a note's trailer `Handoff-Tried`, on one line; `undefined` if nothing was tried. */
export function formatTried(tried: readonly Tried[]): string | undefined {
  if (tried.length === 0) return undefined;
  return JSON.stringify(tried.map(({ tree, status, command }) => [tree, status, command]));
}

/** Reads the value of that trailer, and leaves out what is invalid: anybody may have written it. */
export function parseTried(text: string | undefined): Tried[] {
  let found: unknown;
  try {
    found = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(found)) return [];
  return found.slice(0, MAX_TRIED).flatMap((one: unknown): Tried[] => {
    const [name, status, command] = Array.isArray(one) ? (one as unknown[]) : [];
    const tree = typeof name === 'string' ? parseOid(name) : undefined;
    if (tree === undefined || !Number.isInteger(status) || typeof command !== 'string') return [];
    return [{ tree, status: status as number, command: cutToBytes(command, MAX_COMMAND) }];
  });
}
