/** A paragraph, an item of a list, or a piece of code of a Markdown text; but for code, one line. */
export interface Block {
  readonly kind: 'text' | 'item' | 'code';
  readonly text: string;
}

const FENCE = /^\s{0,12}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}(?=[ \t]|$)/;
/** A rule, or what makes the line above a heading. */
const RULE = /^ {0,3}(?:=+|-+|(?:[-*_][ \t]*){3,})$/;
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)]|>|\|)(?:\s|$)/;

/**
 * Takes a Markdown text apart, and joins the lines of a paragraph: where it goes, each end of a line would be one. Headings
 * become bold lines, so that they stay below ours; rules go.
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

/** A mention would call people, and a tag could hide what follows it: outside of code neither is one any more. */
function harmless(text: string): string {
  // How such backticks pair is git hosts' to say.
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

/** What a text counts: its words, or more where a writing has no blanks. */
function wordsIn(text: string): number {
  return Math.max(text.split(/\s+/).filter(Boolean).length, Math.ceil(text.length / 12));
}

/** The blocks that fit into a number of words; of the first one that does not, its beginning. */
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
