/**
 * Edits JSON text without reformatting it: every byte that is not inserted or removed stays as it is.
 * Texts are binary strings (one character per byte), so that offsets are byte offsets and nothing is recoded.
 */

/** An element of an array or a member of an object, with its place in the text. */
interface JsonItem {
  /** The member's name; undefined in an array. */
  readonly key: string | undefined;
  readonly start: number;
  readonly end: number;
  readonly value: JsonNode;
}

export interface JsonNode {
  readonly kind: 'object' | 'array' | 'scalar';
  readonly start: number;
  readonly end: number;
  readonly items: readonly JsonItem[];
}

/** How the text is laid out: one step of indentation, and the line ending. */
interface JsonStyle {
  readonly indent: string;
  readonly eol: string;
}

const BYTE_ORDER_MARK = '\xEF\xBB\xBF';

/** The offset at which the text begins, after a UTF-8 byte order mark. */
export function contentStart(text: string): number {
  return text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
}

/** Whether the text is nothing but a byte order mark and blanks. */
export function isBlank(text: string): boolean {
  return text.slice(contentStart(text)).trim() === '';
}

/** UTF-8 bytes of a string as a binary string. */
export function toBinary(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/**
 * The text with its comments (after `//`, and between slash-asterisks) replaced by blanks, so that all offsets stay.
 * Some clients accept such comments in their settings. Plain JSON has none and is returned unchanged.
 */
export function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\]|\\[^]?)*(?:"|$)|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/g, (part) =>
    part.startsWith('"') ? part : part.replace(/[^\r\n]/g, ' '),
  );
}

/** The value that a binary string of JSON stands for; throws SyntaxError as `JSON.parse` does. */
export function jsonValue(text: string): unknown {
  return JSON.parse(Buffer.from(text.slice(contentStart(text)), 'latin1').toString('utf8'));
}

/**
 * Finds the places of all values.
 *
 * @param text valid JSON (`jsonValue` checks that) without comments, with or without a byte order mark
 */
export function scanJson(text: string): JsonNode {
  return scanValue(text, skipSpace(text, contentStart(text)));
}

/** The last member of that name, the one that `JSON.parse` keeps. */
export function memberOf(node: JsonNode, key: string): JsonItem | undefined {
  return node.items.findLast((item) => item.key === key);
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (' \t\r\n'.includes(text[at] ?? 'x')) at++;
  return at;
}

function scanValue(text: string, start: number): JsonNode {
  const open = text[start];
  if (open === '{' || open === '[') return scanContainer(text, start, open === '{' ? 'object' : 'array');
  const end = open === '"' ? stringEnd(text, start) : scalarEnd(text, start);
  return { kind: 'scalar', start, end, items: [] };
}

function scanContainer(text: string, start: number, kind: 'object' | 'array'): JsonNode {
  const close = kind === 'object' ? '}' : ']';
  const items: JsonItem[] = [];
  let at = skipSpace(text, start + 1);
  while (text[at] !== close) {
    const itemStart = at;
    let key: string | undefined;
    if (kind === 'object') {
      const keyEnd = stringEnd(text, at);
      key = JSON.parse(text.slice(at, keyEnd)) as string;
      at = skipSpace(text, skipSpace(text, keyEnd) + 1);
    }
    const value = scanValue(text, at);
    items.push({ key, start: itemStart, end: value.end, value });
    at = skipSpace(text, value.end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return { kind, start, end: at + 1, items };
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function scalarEnd(text: string, start: number): number {
  let at = start;
  while (/[^\s,\]}]/.test(text[at] ?? ' ')) at++;
  return at;
}

/** Reads the layout from the first member; the default is two blanks and a line feed. */
export function styleOf(text: string, root: JsonNode | undefined): JsonStyle {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const first = root?.items[0];
  const before = first === undefined ? '' : text.slice((root?.start ?? 0) + 1, first.start);
  return { indent: /\n([ \t]{1,10})$/.exec(before)?.[1] ?? '  ', eol };
}

/** The JSON text of a value at nesting level `depth`; its first line has no indentation. */
export function renderJson(value: unknown, depth: number, style: JsonStyle): string {
  const lines = JSON.stringify(value, null, style.indent).split('\n');
  return toBinary(lines.join(style.eol + style.indent.repeat(depth)));
}

/**
 * Adds rendered items at the end of a container.
 *
 * @param depth the nesting level of the container's items
 */
export function appendItems(
  text: string,
  container: JsonNode,
  depth: number,
  bodies: readonly string[],
  style: JsonStyle,
): string {
  const lineStart = style.eol + style.indent.repeat(depth);
  const last = container.items.at(-1);
  const at = last === undefined ? container.start + 1 : last.end;
  // If a line end or a comment precedes the closing bracket already, no line end is added.
  const isOnSeveralLines = /[\n/]/.test(text.slice(at, container.end - 1));
  const tail = isOnSeveralLines ? '' : style.eol + style.indent.repeat(depth - 1);
  const added = (last === undefined ? '' : ',') + lineStart + bodies.join(',' + lineStart) + tail;
  return text.slice(0, at) + added + text.slice(at);
}

/** Removes one item with its comma and the blanks that led to it; comments stay. */
export function removeItem(text: string, container: JsonNode, index: number): string {
  const item = container.items[index];
  if (item === undefined) return text;
  const previous = container.items[index - 1];
  const next = container.items[index + 1];
  if (previous !== undefined) {
    const between = commentsOf(withoutComma(text.slice(previous.end, item.start)));
    return text.slice(0, previous.end) + between + text.slice(item.end);
  }
  if (next !== undefined) {
    const between = withoutComma(text.slice(item.end, next.start));
    return text.slice(0, item.start) + between.trimStart() + text.slice(next.start);
  }
  const before = text.slice(container.start + 1, item.start);
  const after = text.slice(item.end, container.end - 1);
  const kept = (before + after).trim() === '' ? '' : commentsOf(before) + after;
  return text.slice(0, container.start + 1) + kept + text.slice(container.end - 1);
}

/** Drops a text of blanks; keeps one that contains a comment. */
function commentsOf(between: string): string {
  return between.trim() === '' ? '' : between;
}

/** The text between two items without the comma that separates them. */
function withoutComma(between: string): string {
  const comma = withoutComments(between).indexOf(',');
  return comma < 0 ? between : between.slice(0, comma) + between.slice(comma + 1);
}
