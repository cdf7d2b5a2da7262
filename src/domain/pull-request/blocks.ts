/** A paragraph, a list item or a code block of a Markdown text. All but code is one line. */
export interface Block {
  readonly kind: 'text' | 'item' | 'code';
  readonly text: string;
}

const FENCE = /^\s{0,12}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}(?=[ \t]|$)/;
/** A rule, or the underline of a heading. */
const RULE = /^ {0,3}(?:=+|-+|(?:[-*_][ \t]*){3,})$/;
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)]|>|\|)(?:\s|$)/;

/**
 * Splits a Markdown text into blocks and joins the lines of each paragraph: git hosts show every line break. Headings become
 * bold lines, to stay below ours; rules are dropped.
 */
export function blocksOf(text: string): Block[] {
  const blocks: { kind: Block['kind']; text: string }[] = [];
  let open: { kind: Block['kind']; text: string } | undefined;
  let fence: string | undefined;
  const begin = (kind: Block['kind'], line: string) => blocks.push((open = { kind, text: line }));
  for (const line of text.split(/\r\n|\n|\r/)) {
    const marks = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (open !== undefined) open.text += `\n${line}`;
      if (marks?.startsWith(fence) === true && line.trim() === marks) open = fence = undefined;
    } else if (marks !== undefined) {
      begin('code', line);
      fence = marks;
    } else if (line.trim() === '' || RULE.test(line)) open = undefined;
    else if (HEADING.test(line)) {
      const title = line.replace(HEADING, '').replaceAll('*', '').trim();
      if (title !== '') begin('text', `**${title}**`);
      open = undefined;
    } else if (ITEM.test(line) || open === undefined)
      begin(ITEM.test(line) ? 'item' : 'text', line.trimEnd());
    else open.text += ` ${line.trim()}`;
  }
  const last = blocks.at(-1);
  if (fence !== undefined && last !== undefined) last.text += `\n${fence}`;
  return blocks;
}

/** Blocks as a Markdown text again. */
export function textOfBlocks(blocks: readonly Block[]): string {
  return blocks
    .map(({ kind, text }, at) => {
      const shown = kind === 'code' ? text : harmless(text);
      const before = blocks[at - 1]?.kind;
      return before === undefined ? shown : `${before === 'item' && kind === 'item' ? '\n' : '\n\n'}${shown}`;
    })
    .join('');
}

/** Disarms mentions, which would notify people, and tags, which could hide what follows. Code is left alone. */
function harmless(text: string): string {
  // Git hosts differ in how such backticks pair.
  const parts = /``|\\`/.test(text) ? [text] : text.split(/(`[^`]*`)/);
  return parts
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part
            .replaceAll('<', '&lt;')
            .replace(/(?<![\w`/])@[A-Za-z0-9][\w-]{0,99}(?:\/[\w.-]{1,100})?/g, (name) => `\`${name}\``),
    )
    .join('');
}

/** The length of a text in words; a script without spaces counts by its characters. */
function wordsIn(text: string): number {
  return Math.max(text.split(/\s+/).filter(Boolean).length, Math.ceil(text.length / 12));
}

/** The blocks that fit into so many words, with the beginning of the first one that does not. */
export function cutBlocks(blocks: readonly Block[], words: number): Block[] {
  const kept: Block[] = [];
  let room = words;
  for (const block of blocks) {
    const cost = wordsIn(block.text);
    if (cost > room) {
      const beginning = block.kind === 'code' ? '' : beginningOf(block.text, room - 1);
      return [...kept, { kind: block.kind === 'code' ? 'text' : block.kind, text: `${beginning}…` }];
    }
    room -= cost;
    kept.push(block);
  }
  return kept;
}

function beginningOf(text: string, words: number): string {
  let beginning = '';
  for (const word of text.split(/(?<=\s)/)) {
    if (wordsIn(beginning + word) > words) break;
    beginning += word;
  }
  return beginning === ''
    ? Array.from(text.slice(0, Math.max(words, 0) * 12))
        .slice(0, -1)
        .join('')
    : beginning;
}
