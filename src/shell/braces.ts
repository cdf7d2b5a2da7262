/** Brace expansion on the text of a word (bash expands braces before anything else), in one pass. */

const MAX_WORDS = 1024;
const MAX_CHARACTERS = 1 << 18;

interface Group {
  readonly start: number;
  /** The finished alternatives, each as the texts that it stands for. */
  readonly done: string[][];
  current: string[];
}

/** Returns every word that a word's text stands for, in order; `undefined` when there are too many to try. */
export function expandBraces(text: string): string[] | undefined {
  const groups: Group[] = [{ start: 0, done: [], current: [''] }];
  let literal = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    const group = groups.at(-1);
    if (group === undefined) return undefined;
    if (char === '\\') i++;
    else if (char === "'" || char === '"' || char === '`') i = closingQuote(text, i, char);
    else if (char === '$' && (text[i + 1] === '{' || text[i + 1] === '(')) i = closingParen(text, i + 1);
    else if (char === '{' || (groups.length > 1 && (char === ',' || char === '}'))) {
      if (!append(group, [text.slice(literal, i)])) return undefined;
      literal = i + 1;
      if (char === '{') groups.push({ start: i, done: [], current: [''] });
      else if (char === ',') {
        group.done.push(group.current);
        group.current = [''];
      } else {
        groups.pop();
        const parent = groups.at(-1);
        if (parent === undefined || !append(parent, alternatives(group))) return undefined;
      }
    }
  }
  return finish(groups, text, literal);
}

function finish(groups: readonly Group[], text: string, literal: number): string[] | undefined {
  const [outer, unclosed] = groups;
  if (outer === undefined) return undefined;
  const rest = unclosed === undefined ? text.slice(literal) : text.slice(unclosed.start);
  return append(outer, [rest]) ? outer.current : undefined;
}

function alternatives(group: Group): string[] {
  if (group.done.length > 0) return [...group.done, group.current].flat();
  const only = group.current.length === 1 ? group.current[0] : undefined;
  return (only === undefined ? undefined : range(only)) ?? group.current.map((text) => `{${text}}`);
}

/** Returns the words of a sequence (`1..9`, `a..e`, `01..10..3`); `undefined` when the text is none. */
function range(text: string): string[] | undefined {
  const found = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(text);
  const [, from = '', to = '', step] = found ?? [];
  const letters = /[A-Za-z]/.test(from);
  if (found === null || letters !== /[A-Za-z]/.test(to)) return undefined;
  const number = (word: string) => (letters ? word.charCodeAt(0) : Number(word));
  const by = Math.max(1, Math.abs(Number(step ?? 1))) * (number(from) <= number(to) ? 1 : -1);
  const width = /^-?0\d|^-?0$/.test(from) || /^-?0\d/.test(to) ? Math.max(from.length, to.length) : 0;
  const words: string[] = [];
  for (let n = number(from); by > 0 ? n <= number(to) : n >= number(to); n += by) {
    words.push(letters ? String.fromCharCode(n) : String(n).padStart(width, '0'));
    if (words.length > MAX_WORDS) return words;
  }
  return words;
}

/** Appends every ending to every text of a group. Returns false when the result is too large. */
function append(group: Group, endings: readonly string[]): boolean {
  if (endings.length === 1 && endings[0] === '') return true;
  if (group.current.length * endings.length > MAX_WORDS) return false;
  group.current = group.current.flatMap((text) => endings.map((ending) => text + ending));
  return group.current.length * (group.current[0]?.length ?? 0) <= MAX_CHARACTERS;
}

function closingQuote(text: string, open: number, quote: string): number {
  for (let i = open + 1; i < text.length; i++) {
    if (text[i] === '\\' && quote !== "'") i++;
    else if (text[i] === quote) return i;
  }
  return text.length;
}

function closingParen(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    const char = text.charAt(i);
    if (char === '\\') i++;
    else if (char === "'" || char === '"') i = closingQuote(text, i, char);
    else if (char === '(' || char === '{') depth++;
    else if ((char === ')' || char === '}') && --depth === 0) return i;
  }
  return text.length;
}
