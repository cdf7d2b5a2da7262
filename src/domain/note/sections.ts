import { cutToBytes, escapeText } from '../messages.ts';

/** Headings in notes of this program and its predecessors. A title is compared in lower case, up to a colon, bracket or dash. */
const HEADINGS = {
  goal: ['goal', 'the goal', 'objective', 'purpose'],
  state: ['state', 'current state', 'status', 'where we are'],
  nextAction: [
    ...['next', 'next action', 'next actions', 'next step', 'next steps'],
    ...['next session prompt', "where we're going"],
  ],
  stopConditions: ['stop conditions', 'stop condition', 'stop when', 'stop if'],
  importantFiles: ['important files', 'files', 'key files'],
  tests: ['tests', 'testing', 'tested', 'how it was tested', 'test results', 'test plan', 'verification'],
};

/** What a note says under the headings that a handover has; each text as it stands, without its heading. */
export type NoteSections = { readonly [Field in keyof typeof HEADINGS]?: string | undefined };

const FIELDS = Object.keys(HEADINGS) as (keyof NoteSections)[];

const fieldOf = (title: string) =>
  FIELDS.find((field) => (HEADINGS[field] as readonly string[]).includes(title));

const ATX = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
/** Backticks with more backticks after them on the line are a code span, not a fence. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
/** Authors also write headings as a bold line (`BOLD`), or as a word and a colon (`LABEL`). */
const BOLD = /^\*\*([^*]{1,80})\*\*:?(.*)/;
/** A list item that begins in bold: some notes write their sections as a list. */
const BOLD_ITEM = /^ {0,3}[-*+][ \t]+\*\*([^*]{1,80})\*\*:?(.*)/;
const LABEL = /^([A-Za-z][A-Za-z' ]{1,30}):(.*)/;
/** A short note may name its next action within a line: `Tests are green. Next: the rate limit.` */
const NEXT_SENTENCE = /[.!?] Next(?: steps?| actions?)?: (?=\S)/;

interface Section {
  readonly lines: string[];
  readonly level: number;
  /** Whether handovers have this section. */
  readonly known: boolean;
}

interface Heading {
  readonly level: number;
  readonly title: string;
  /** Text on the heading's own line. */
  readonly rest: string;
}

/**
 * Finds the sections of a Markdown note by their headings (`# Goal`, `**Next action**`, `Goal: …`). A section ends at the
 * next heading of its own level or a higher one; headings inside code fences are text. A label inside a section
 * (`Status: half of it` under `# Next`) begins a section, too, but the outer section goes on and has these lines as well. If
 * two sections have the same name, the first counts. If no section names the next action, the end of a line may:
 * `… Next: the rate limit.` The time is linear in the length of the body.
 */
export function noteSections(body: string): NoteSections {
  const found = new Map<keyof NoteSections, string[]>();
  const inner = new Map<keyof NoteSections, string[]>();
  let current: Section | undefined;
  let label: string[] | undefined;
  let fence: string | undefined;
  let sentence: string | undefined;
  for (const line of body.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    const heading = fence === undefined ? headingOf(line) : undefined;
    if (fence === undefined) sentence ??= nextSentence(line);
    fence = fenceAfter(fence, line);
    const field = heading && fieldOf(heading.title);
    if (heading === undefined || (field === undefined && isBelow(heading, current))) {
      current?.lines.push(line);
      label?.push(line);
      continue;
    }
    const lines = heading.rest === '' ? [] : [heading.rest];
    const isInside = current?.known === true && heading.level > Math.max(current.level, LABEL_LEVEL - 1);
    if (isInside) current?.lines.push(line);
    else current = { lines, level: heading.level, known: field !== undefined };
    label = isInside ? lines : undefined;
    const sections = isInside ? inner : found;
    if (field !== undefined && !sections.has(field)) sections.set(field, lines);
  }
  const texts = [...inner, ...found].map(([field, lines]) => [field, lines.join('\n').trim()] as const);
  return { nextAction: sentence, ...Object.fromEntries(texts.filter(([, text]) => text !== '')) };
}

/** Whether a line is nothing but the heading of a section that handovers have. */
export function isSectionHeading(line: string): boolean {
  const heading = headingOf(line);
  return heading !== undefined && heading.rest === '' && fieldOf(heading.title) !== undefined;
}

/** Bold lines and labels rank below every `#` heading. */
const LABEL_LEVEL = 7;
const ITEM_LEVEL = 8;

/** Whether an unknown heading belongs to the current section: one with more `#` does, and a label always does. */
function isBelow({ level }: Heading, current: { level: number } | undefined): boolean {
  return level >= LABEL_LEVEL || level > (current?.level ?? LABEL_LEVEL);
}

function headingOf(line: string): Heading | undefined {
  const atx = ATX.exec(line);
  if (atx !== null) {
    const [, marks = '', text = ''] = atx;
    return { level: marks.length, title: titleOf(text.replace(/[ \t]#+[ \t]*$/, '')), rest: '' };
  }
  const item = BOLD_ITEM.exec(line);
  const label = item ?? BOLD.exec(line) ?? LABEL.exec(line);
  if (label === null) return undefined;
  const [, text = '', rest = ''] = label;
  return { level: item === null ? LABEL_LEVEL : ITEM_LEVEL, title: titleOf(text), rest: rest.trim() };
}

function nextSentence(line: string): string | undefined {
  const found = NEXT_SENTENCE.exec(line);
  return found === null ? undefined : line.slice(found.index + found[0].length);
}

/** Cuts a title after its name: `State: done, not done` becomes `state`. */
function titleOf(text: string): string {
  const name =
    text
      .replaceAll('*', '')
      .toLowerCase()
      .split(/[:(–—]/, 1)[0] ?? '';
  return name.replace(/[^a-z']+/g, ' ').trim();
}

/** Returns the fence that is open after this line; `undefined`: none. */
function fenceAfter(open: string | undefined, line: string): string | undefined {
  const marks = FENCE.exec(line)?.[1];
  if (marks === undefined) return open;
  if (open === undefined) return marks;
  const closes = marks[0] === open[0] && marks.length >= open.length && line.trim() === marks;
  return closes ? undefined : open;
}

/** A note as its author wrote it. `head + body` is the note again, character for character. */
interface NoteDocument {
  /** The front matter with its `---` lines, as it stands; empty when there is none. */
  readonly head: string;
  /** The YAML between the `---` lines; `undefined` when there is none. */
  readonly yaml: string | undefined;
  readonly body: string;
}

const OPENING = /^\uFEFF?---[ \t]*\r?\n/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/gm;
/**
 * Longer than any real front matter (256 quoted references of 1,024 characters fit): a note that only begins with a
 * thematic break is not searched to its end.
 */
const MAX_HEAD_CHARACTERS = 640 * 1024;

/**
 * Takes a note apart at its YAML front matter: a first line `---` (a byte order mark may stand before it), and the next line
 * that is `---` or `...`. Without that second line, the first is a thematic break of Markdown, and all is body.
 */
export function splitNote(note: string): NoteDocument {
  const opening = OPENING.exec(note)?.[0];
  if (opening === undefined) return { head: '', yaml: undefined, body: note };
  CLOSING.lastIndex = opening.length;
  const closing = CLOSING.exec(note.slice(0, MAX_HEAD_CHARACTERS));
  if (closing === null) return { head: '', yaml: undefined, body: note };
  const end = closing.index + closing[0].length;
  return { head: note.slice(0, end), yaml: note.slice(opening.length, closing.index), body: note.slice(end) };
}

/** Whom and what a note concerns, from the options of `write`. */
export interface Address {
  readonly to: string | undefined;
  readonly tags: readonly string[];
  readonly references: readonly string[];
}

/** A note as it is written: its bytes, and what its commit says about it. */
export interface PreparedNote {
  readonly note: Uint8Array;
  readonly summary: string;
  readonly to: string | undefined;
  /** The operator in its front matter's `from`; a note without front matter is from its session only. */
  readonly from: string | undefined;
}

export interface NoteScene {
  readonly topic: string;
  readonly from: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Whether any of these options is given: then the note needs front matter. */
export function isAddressed({ to, tags, references }: Address): boolean {
  return to !== undefined || tags.length > 0 || references.length > 0;
}

/** Begins each line, so that no text of a note stands at a line's start, where turns and tags of a chat begin. */
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

/**
 * What a client or a model could take for its own markup: tags of harnesses and tool calls, tokens of chat
 * templates. Other tags, and comparisons, stay as they are: a note may be about them.
 */
const HARNESS_TAG =
  /<(?=[ \t]{0,8}\/?[ \t]{0,8}(?:[a-z]{1,16}:)?(?:system-reminder|system|function_calls|function_results|invoke|parameter|tool_use|tool_result|tool_call|thinking|untrusted-content|untrusted|handoff|hook|start_of_turn|end_of_turn|assistant|human|user)\b[^<\n]{0,200}>)/gi;
/** Some models write their tokens with a full-width bar and a low block. */
const TEMPLATE_TOKEN = /<(?=[ \t]{0,8}[|\uff5c][a-z_\u2581 -]{1,48}[|\uff5c][ \t]{0,8}>|<\/?SYS>>)/gi;
/** A Markdown image: rendering it requests its address, and so sends any data in the address. */
const IMAGE = /!(?=\[[^\]\n]{0,200}\]\()/g;

/**
 * Makes a text by others safe to show to an agent: nothing is deleted, but what could steer a terminal, hide, or pass
 * for a client's markup becomes visible as an escape. It does not judge the prose.
 */
export function escapeForAgent(text: string): string {
  const plain = escapeText(text);
  // Most texts hold no `<` and no `![`, and V8 compiles a pattern only when it is first used.
  const tagless = plain.includes('<')
    ? plain.replace(HARNESS_TAG, '\\u{3c}').replace(TEMPLATE_TOKEN, '\\u{3c}')
    : plain;
  return tagless.includes('![') ? tagless.replace(IMAGE, '\\u{21}') : tagless;
}
