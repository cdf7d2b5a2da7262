/** A path that a note names: only ever compared with what git knows, never opened. */
export interface NamedPath {
  /** The path as the note has it. */
  readonly text: string;
  /** The path from the top of the working tree; `undefined`: it is not inside. */
  readonly path: string | undefined;
  /** Whether it looks like a path; otherwise it counts only if there is such a file. */
  readonly sure: boolean;
}

export interface NamedPaths {
  readonly paths: readonly NamedPath[];
  /** How many more paths the section names. */
  readonly left: number;
}

/** How many of a note's files are checked. */
export const MAX_FILES = 50;
/** How much of a section is read. Characters. */
const MAX_SECTION = 20_000;
const MAX_PATH = 1000;

const MARKER = /^(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/;
const LINK = /\]\(([^()\s]+)\)/g;

/**
 * Returns the paths of an "important files" section: code spans and links, else the first word of a list item or line. `top`:
 * the top of the working tree, to which absolute paths are made relative; left out where there is none.
 */
export function importantPaths(section: string, top?: string): NamedPaths {
  const found = new Map<string, NamedPath>();
  for (const line of section.slice(0, MAX_SECTION).split('\n')) {
    for (const named of namesIn(line.trim(), top)) {
      const key = named.path ?? `\0${named.text}`;
      if (!found.has(key)) found.set(key, named);
    }
  }
  const paths = [...found.values()];
  return { paths: paths.slice(0, MAX_FILES), left: Math.max(0, paths.length - MAX_FILES) };
}

function namesIn(line: string, top: string | undefined): NamedPath[] {
  const item = line.replace(MARKER, '');
  const parts = item.split('`');
  // A span stands between two backticks; a last backtick without a partner opens none.
  const spans = parts.filter((_, at) => at % 2 === 1 && at < parts.length - 1).map((text) => text.trim());
  const links = [...item.matchAll(LINK)].map(([, target = '']) => target);
  const marked = [...spans, ...links].filter((text) => text !== '' && !text.includes('://'));
  if (marked.length > 0) return marked.map((text) => named(text, top)).filter(isLikely);
  // The first word may be prose: without backticks or a link, it counts only if it looks like a path.
  const word = (item.split(/[\s|]/).find((part) => part !== '') ?? '').replace(/[,;:*]{1,3}$/, '');
  const plain = named(word.replace(/^\*{1,2}/, ''), top);
  return word !== '' && plain.sure && !word.includes('://') ? [plain] : [];
}

/** Whether a marked text may be a path: with blanks or parentheses it is more likely a command or a function. */
function isLikely({ text, sure }: NamedPath): boolean {
  return sure || /^[^\s()]+$/.test(text);
}

const LINE_NUMBER = /(?::\d{1,9}(?:[:-]\d{1,9})?|#L\d{1,9}(?:-L\d{1,9})?)$/;

function named(text: string, top: string | undefined): NamedPath {
  const bare = text.replace(LINE_NUMBER, '');
  return { text, path: pathInside(bare, top), sure: looksLikePath(bare) };
}

function looksLikePath(text: string): boolean {
  const hasEnding = /[^.]\.[A-Za-z0-9_+-]{1,16}$/.test(text);
  if (/[()]/.test(text)) return hasEnding && text.includes('/');
  if (/\s/.test(text)) return hasEnding && !text.startsWith('-');
  if (/[*?]/.test(text)) return false;
  return hasEnding || text.includes('/');
}

/** Returns the path from the top, without `.` and empty parts; `undefined`: it leads out of the tree, or into `.git`. */
function pathInside(text: string, top: string | undefined): string | undefined {
  const relative = top !== undefined && text.startsWith(`${top}/`) ? text.slice(top.length + 1) : text;
  if (relative.startsWith('/') || relative.startsWith('~') || relative.length > MAX_PATH) return undefined;
  // eslint-disable-next-line no-control-regex -- no name that is typed has them, and NUL ends an argument
  if (/[\u0000-\u001f\u007f\\\ufffd]/.test(relative)) return undefined;
  const parts = relative.split('/').filter((part) => part !== '' && part !== '.');
  const isOutside = parts.some((part) => part === '..' || /^\.git[ .]*$/i.test(part));
  return isOutside || parts.length === 0 ? undefined : parts.join('/');
}
