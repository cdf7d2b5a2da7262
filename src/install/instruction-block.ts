/**
 * The lines that `git handoff init --instructions` puts into a project's instruction files (AGENTS.md and its
 * like). Pure; texts are binary strings (one character a byte), because such a file may hold any bytes.
 */
import { contentStart } from './json-text.ts';

export const INSTRUCTIONS_START = '<!-- git-handoff:start -->';
export const INSTRUCTIONS_END = '<!-- git-handoff:end -->';

const LINES = [
  INSTRUCTIONS_START,
  '## Handoffs between sessions',
  '',
  'Notes for the next session are kept by `git handoff`, not in files. Every verb explains itself with `-h`.',
  '',
  '- Continue earlier work: `git handoff list`, then `git handoff boot <topic>` (exit status 1: stale, read what it says',
  '  before you continue), then `git handoff take <topic>` if its session has ended.',
  '- Before you stop: `git handoff write <topic> --file <file>`, with the headings Goal, Current State, Important Files,',
  '  Next Action, Stop Conditions.',
  "- Commit only your own work: `git handoff commit -m '<message>'`. Whose each change is: `git handoff status`.",
  '- A refusal names what to do instead: do that, never work around it. Work that is gone: `git handoff rescue`.',
  INSTRUCTIONS_END,
];

/** Where our block stands in a text. */
interface Place {
  readonly start: number;
  /** The offset after the end marker's line, its line end included. */
  readonly end: number;
}

/** Whether a text holds our block: `damaged` is a marker without its other, or more than one block. */
type BlockState = 'none' | 'whole' | 'damaged';

/** Whether a text holds our block; `damaged` where the markers do not make one. */
export function blockState(text: string): BlockState {
  const starts = markers(text, INSTRUCTIONS_START);
  const ends = markers(text, INSTRUCTIONS_END);
  if (starts.length + ends.length === 0) return 'none';
  return findBlock(text) === undefined ? 'damaged' : 'whole';
}

/**
 * The text with our block: in the place of the present one, else at the end after a blank line. The line ends are the
 * text's own, and a missing final one stays missing. A damaged text is returned unchanged.
 */
export function withInstructions(text: string): string {
  const state = blockState(text);
  if (state === 'damaged') return text;
  const place = findBlock(text);
  if (place !== undefined) {
    const lineEnd = /\r?\n$/.exec(text.slice(place.start, place.end))?.[0] ?? '';
    return (
      text.slice(0, place.start) + block(lineEndOf(text.slice(place.start))) + lineEnd + text.slice(place.end)
    );
  }
  const eol = lineEndOf(text);
  if (text.length === contentStart(text)) return text + block(eol) + eol;
  return text.endsWith('\n') ? text + eol + block(eol) + eol : text + eol + eol + block(eol);
}

/** The text without our block and the blank line before it; a damaged text is returned unchanged. */
export function withoutInstructions(text: string): string {
  const place = findBlock(text);
  if (place === undefined) return text;
  const eol = lineEndOf(text.slice(place.start));
  const before = text.slice(0, place.start);
  const after = text.slice(place.end);
  const isOpenEnd = after === '' && !text.endsWith('\n');
  if (isOpenEnd && before.endsWith(eol + eol)) return before.slice(0, -2 * eol.length);
  return (before.endsWith(`\n${eol}`) ? before.slice(0, -eol.length) : before) + after;
}

/** Whether a line of its own imports that file, as Claude Code and Gemini CLI read it. */
export function importsFile(text: string, name: string): boolean {
  const lines = text
    .slice(contentStart(text))
    .split('\n')
    .map((line) => line.trim());
  return lines.includes(`@${name}`) || lines.includes(`@./${name}`);
}

function block(eol: string): string {
  return LINES.join(eol);
}

/** The one block of a text; undefined when there is none or it is damaged. */
function findBlock(text: string): Place | undefined {
  const [start, anotherStart] = markers(text, INSTRUCTIONS_START);
  const [last, anotherEnd] = markers(text, INSTRUCTIONS_END);
  if (start === undefined || last === undefined || anotherStart !== undefined || anotherEnd !== undefined) {
    return undefined;
  }
  if (last < start) return undefined;
  const lineEnd = text.indexOf('\n', last);
  return { start, end: lineEnd < 0 ? text.length : lineEnd + 1 };
}

/** The offsets of the lines that hold this marker alone. */
function markers(text: string, marker: string): number[] {
  const found: number[] = [];
  let from = contentStart(text);
  for (let at = text.indexOf(marker, from); at >= 0; at = text.indexOf(marker, from)) {
    from = at + marker.length;
    const startsLine = at === contentStart(text) || text[at - 1] === '\n';
    const behind = text.indexOf('\n', from);
    if (startsLine && text.slice(from, behind < 0 ? text.length : behind).trim() === '') found.push(at);
  }
  return found;
}

/** The first line end of a text; a line feed where it has none. */
function lineEndOf(text: string): string {
  const at = text.indexOf('\n');
  return at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n';
}
