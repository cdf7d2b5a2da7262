/** What a note says under the headings that a handover has; each as it stands, without its heading. */
export interface NoteSections {
  readonly goal: string | undefined;
  readonly state: string | undefined;
  readonly nextAction: string | undefined;
  readonly stopConditions: string | undefined;
  readonly importantFiles: string | undefined;
  readonly tests: string | undefined;
}

/** Headings as notes of this program and of its predecessors have them; compared in lower case, by their first words. */
const HEADINGS: Readonly<Record<keyof NoteSections, readonly string[]>> = {
  goal: ['goal', 'the goal', 'objective', 'purpose'],
  state: ['state', 'current state', 'status', 'where we are'],
  nextAction: [
    'next action',
    'next actions',
    'next',
    'next step',
    'next steps',
    'next session prompt',
    "where we're going",
  ],
  stopConditions: ['stop conditions', 'stop condition', 'stop when', 'stop if'],
  importantFiles: ['important files', 'files', 'key files'],
  tests: ['tests', 'testing', 'tested', 'how it was tested', 'test results', 'test plan', 'verification'],
};

const FIELDS = new Map(
  Object.entries(HEADINGS).flatMap(([field, titles]) =>
    titles.map((title) => [title, field as keyof NoteSections] as const),
  ),
);

const NOTHING: NoteSections = {
  goal: undefined,
  state: undefined,
  nextAction: undefined,
  stopConditions: undefined,
  importantFiles: undefined,
  tests: undefined,
};

const ATX = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
/** A line with further backticks is a code span. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
/** A line that is all bold, or a word and a colon, is a heading to its author. */
const BOLD = /^\*\*([^*]{1,80})\*\*:?(.*)/;
/** A list item that begins so: some notes list their sections. */
const BOLD_ITEM = /^ {0,3}[-*+][ \t]+\*\*([^*]{1,80})\*\*:?(.*)/;
const LABEL = /^([A-Za-z][A-Za-z' ]{1,30}):(.*)/;
/** A short note may name its next action within a line: `Tests are green. Next: the rate limit.` */
const NEXT_SENTENCE = /[.!?] Next(?: steps?| actions?)?: (?=\S)/;

interface Section {
  readonly lines: string[];
  readonly level: number;
  /** Whether it is a section that handovers have. */
  readonly known: boolean;
}

interface Heading {
  readonly level: number;
  readonly title: string;
  /** Text on the heading's own line. */
  readonly rest: string;
}

/**
 * Finds the sections of a Markdown note by their headings (`# Goal`, `**Next action**`, `Goal: …`). A section ends at
 * the next heading that is not below its own; headings inside code fences are text. A label below a section's own
 * heading (`Status: half of it` in the next action) begins a section, too, but the outer one goes on and keeps all its
 * lines. Of two sections with one name the first counts. If no section names the next action, the end of a line may:
 * `… Next: the rate limit.` Linear in the length of the body.
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
    const field = FIELDS.get(heading?.title ?? '');
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
  return { ...NOTHING, nextAction: sentence, ...Object.fromEntries(texts.filter(([, text]) => text !== '')) };
}

/** Whether a line is the heading of a section that handovers have, and nothing more. */
export function isSectionHeading(line: string): boolean {
  const heading = headingOf(line);
  return heading !== undefined && heading.rest === '' && FIELDS.has(heading.title);
}

/** Bold lines and labels are below every `#` heading. */
const LABEL_LEVEL = 7;
const ITEM_LEVEL = 8;

/** Whether a heading belongs to the current section: an unknown one below it does, and a label always. */
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

/** Cuts a title after its name: `State: done, not done` is `state`. */
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
