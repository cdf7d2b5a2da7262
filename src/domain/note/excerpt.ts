import { cutToBytes } from '../surfacing.ts';
import { escapeForAgent } from './agent-text.ts';
import { splitNote } from './document.ts';
import { noteSections } from './sections.ts';

/** Begins each line, so that no text of a note stands where turns and tags of a chat begin. */
const MARK = '|';
/** How much of a note is searched for sections. Characters. */
const MAX_SEARCHED = 65_536;
/** How much of a note without headings counts as its beginning. Characters. */
const MAX_BEGINNING = 4096;

/** How much of each section a starting session is shown, in bytes of UTF-8. */
const SECTIONS = [
  { field: 'goal', label: 'Goal', bytes: 200 },
  { field: 'nextAction', label: 'Next action', bytes: 320 },
  { field: 'stopConditions', label: 'Stop conditions', bytes: 220 },
] as const;
const WHOLE_BYTES = 640;

/**
 * Returns the lines of a note that are needed first: goal, next action and stop conditions, or the beginning of a note
 * without such headings. Each line is escaped and begins with a mark; together they have at most about 800 bytes.
 */
export function noteExcerpt(note: string): string[] {
  const { body } = splitNote(note);
  const sections = noteSections(body.slice(0, MAX_SEARCHED));
  const parts = SECTIONS.flatMap(({ field, label, bytes }) => {
    const text = sections[field];
    return text === undefined ? [] : marked(labelled(label, text), bytes);
  });
  return parts.length > 0 ? parts : marked(body.slice(0, MAX_BEGINNING), WHOLE_BYTES);
}

/** Puts a label before a text. A code fence begins on a line of its own, so that its command can be copied. */
function labelled(label: string, text: string): string {
  return /^\s*(?:```|~~~)/.test(text) ? `${label}:\n${text}` : `${label}: ${text}`;
}

/** Returns whole lines as long as they fit; only a first line that is too long by itself is cut. */
function marked(text: string, bytes: number): string[] {
  const lines = escapeForAgent(text)
    .split('\n')
    .map((line) => `${MARK} ${line}`.trimEnd())
    .filter((line, at, all) => line !== MARK || (at > 0 && all[at - 1] !== MARK));
  while (lines.at(-1) === MARK) lines.pop();
  const kept: string[] = [];
  let room = bytes;
  for (const line of lines) {
    room -= new TextEncoder().encode(line).length + 1;
    if (room < 0) return kept.length === 0 ? [cutToBytes(line, bytes)] : [...kept, `${MARK} …`];
    kept.push(line);
  }
  return kept;
}
