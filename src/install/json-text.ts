/**
 * Edits JSON text without reformatting it: every byte that is not inserted or removed stays as it is. Texts are binary strings
 * (one character per byte), so that offsets are byte offsets and nothing is recoded.
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
 * Some clients accept such comments in their settings. Plain JSON has no comments and is returned unchanged.
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

/** A string, a bracket, a comma, a colon, or a run of other characters: a number, a word or a byte order mark. */
const TOKEN = /"(?:[^"\\]|\\[^])*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Finds the places of all values. `text` is JSON that `jsonValue` accepts, maybe after a byte order mark; it has no comments. */
export function scanJson(text: string): JsonNode {
  const tokens = [...text.matchAll(TOKEN)].map(({ 0: token, index }) => ({ token, index }));
  let at = contentStart(text) === 0 ? 0 : 1;
  const next = () => tokens[at++] ?? { token: '', index: text.length };
  const value = ({ token, index: start } = next()): JsonNode => {
    const kind = token === '{' ? 'object' : token === '[' ? 'array' : 'scalar';
    const items: JsonItem[] = [];
    let last = { token, index: start };
    if (kind !== 'scalar') {
      for (last = next(); !'}]'.includes(last.token); last = next()) {
        const first = last.token === ',' ? next() : last;
        const key = kind === 'object' ? (JSON.parse(first.token) as string) : undefined;
        const inner = key === undefined ? value(first) : value((next(), next()));
        items.push({ key, start: first.index, end: inner.end, value: inner });
      }
    }
    return { kind, start, end: last.index + last.token.length, items };
  };
  return value();
}

/** The last member of that name, the one that `JSON.parse` keeps. */
export function memberOf(node: JsonNode, key: string): JsonItem | undefined {
  return node.items.findLast((item) => item.key === key);
}

/** Reads the layout from the first member; the default is two blanks and a line feed. */
export function styleOf(text: string, root: JsonNode): JsonStyle {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const before = text.slice(root.start + 1, root.items[0]?.start ?? root.start);
  return { indent: /\n([ \t]{1,10})$/.exec(before)?.[1] ?? '  ', eol };
}

/** The JSON text of a value at nesting level `depth`; its first line has no indentation. */
export function renderJson(value: unknown, depth: number, style: JsonStyle): string {
  const lines = JSON.stringify(value, null, style.indent).split('\n');
  return toBinary(lines.join(style.eol + style.indent.repeat(depth)));
}

/** Adds a rendered item at the end of a container. `depth`: the nesting level of the container's items. */
export function appendItem(
  text: string,
  container: JsonNode,
  depth: number,
  body: string,
  style: JsonStyle,
): string {
  const last = container.items.at(-1);
  const at = last === undefined ? container.start + 1 : last.end;
  // No line end is added if there is a line end or a comment before the closing bracket.
  const isOnSeveralLines = /[\n/]/.test(text.slice(at, container.end - 1));
  const tail = isOnSeveralLines ? '' : style.eol + style.indent.repeat(depth - 1);
  const added = (last === undefined ? '' : ',') + style.eol + style.indent.repeat(depth) + body + tail;
  return text.slice(0, at) + added + text.slice(at);
}

/** Removes one item with its comma and the blanks before it; comments stay. */
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
