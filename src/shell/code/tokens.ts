/** Tokens of a one-line program in any of the usual scripting languages. */

export type Language = 'python' | 'javascript' | 'perl' | 'ruby' | 'php' | 'other';

export interface Token {
  /** `shell` is text in backticks or `qx{}` where that runs a command. */
  readonly kind: 'string' | 'shell' | 'name' | 'number' | 'mark' | 'newline';
  /** Text of a string with its escapes decoded; interpolations are left in place. */
  readonly text: string;
  readonly interpolates: boolean;
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']', '<': '>' };
const NAME = /[$@%]?[A-Za-z_][\w]*[!?]?/y;

/** Splits code into tokens, dropping comments; one pass, never fails. */
export function tokenize(code: string, language: Language): Token[] {
  const tokens: Token[] = [];
  const push = (kind: Token['kind'], text: string, interpolates = false) => {
    tokens.push({ kind, text, interpolates });
  };
  let i = 0;
  while (i < code.length) {
    const char = code.charAt(i);
    if (char === '\n') push('newline', char);
    if (/\s/.test(char)) {
      i++;
      continue;
    }
    const comment = commentEnd(code, i, language);
    if (comment > i) {
      i = comment;
      continue;
    }
    if (char === '"' || char === "'" || char === '`') {
      const string = readString(code, i, language, tokens.at(-1));
      push(string.kind, string.text, string.interpolates);
      i = string.end;
      continue;
    }
    NAME.lastIndex = i;
    const name = NAME.exec(code)?.[0];
    if (name !== undefined) {
      const quoted = readQuoteOperator(code, i, name, language);
      if (quoted === undefined) push('name', name.replace(/[!?]$/, ''));
      else push(quoted.kind, quoted.text, quoted.interpolates);
      i = quoted?.end ?? i + name.length;
      continue;
    }
    const mark = /\d[\w.]*|->|=>|::|\*\*|\|\||\?\?|[+.*/-]=|[=!<>]==?|[^]/y;
    mark.lastIndex = i;
    const text = mark.exec(code)?.[0] ?? char;
    if (/^\d/.test(text)) push('number', text);
    else push('mark', text === '->' || text === '::' ? '.' : text);
    i += text.length;
  }
  return tokens;
}

function commentEnd(code: string, i: number, language: Language): number {
  const hash =
    language !== 'javascript' && code[i] === '#' && (i === 0 || /[\s;{}]/.test(code.charAt(i - 1)));
  const slashes = (language === 'javascript' || language === 'php') && code.startsWith('//', i);
  if (hash || slashes) {
    const end = code.indexOf('\n', i);
    return end < 0 ? code.length : end;
  }
  if (code.startsWith('/*', i) && (language === 'javascript' || language === 'php')) {
    const end = code.indexOf('*/', i + 2);
    return end < 0 ? code.length : end + 2;
  }
  return i;
}

interface Quoted {
  readonly kind: 'string' | 'shell';
  readonly text: string;
  readonly interpolates: boolean;
  readonly end: number;
}

function readString(code: string, open: number, language: Language, before: Token | undefined): Quoted {
  const quote = code.charAt(open);
  const triple = language === 'python' && code.startsWith(quote.repeat(3), open) ? quote.repeat(3) : quote;
  const prefix = language === 'python' && before?.kind === 'name' && /^[rbfuRBFU]{1,2}$/.test(before.text);
  const isRaw = prefix && /r/i.test(before.text);
  const start = open + triple.length;
  let end = start;
  while (end < code.length && !code.startsWith(triple, end)) end += code[end] === '\\' ? 2 : 1;
  const source = code.slice(start, end);
  const isPlain = quote === "'" && language !== 'python' && language !== 'javascript';
  const text = isRaw ? source : isPlain ? source.replace(/\\(['\\])/g, '$1') : decode(source);
  const isShell = quote === '`' && (language === 'perl' || language === 'ruby' || language === 'php');
  const isFormat = prefix && /f/i.test(before.text);
  const interpolates =
    language === 'python' ? isFormat : language === 'javascript' ? quote === '`' : quote !== "'";
  return { kind: isShell ? 'shell' : 'string', text, interpolates, end: end + triple.length };
}

/** Perl's and Ruby's `q{…}`, `qq{…}`, `qx{…}`, `qw{…}` and `%q(…)`. */
function readQuoteOperator(code: string, at: number, name: string, language: Language): Quoted | undefined {
  const operator =
    language === 'perl' ? /^q[qxw]?$/.exec(name) : language === 'ruby' ? /^%[qQwxi]$/.exec(name) : null;
  const open = code.charAt(at + name.length);
  if (operator === null || !/[([{<|/!]/.test(open)) return undefined;
  const close = CLOSING[open] ?? open;
  let depth = 1;
  let end = at + name.length + 1;
  for (; end < code.length; end++) {
    const char = code.charAt(end);
    if (char === '\\') end++;
    else if (char === close && --depth === 0) break;
    else if (char === open && close !== open) depth++;
  }
  const text = code.slice(at + name.length + 1, end);
  return {
    kind: name.endsWith('x') ? 'shell' : 'string',
    text,
    interpolates: /q[qx]|Q/.test(name),
    end: end + 1,
  };
}

function decode(source: string): string {
  if (!source.includes('\\')) return source;
  return source.replace(
    /\\(?:x([0-9a-fA-F]{2})|u\{?([0-9a-fA-F]{4})\}?|(\n)|([^]))/g,
    (_, hex, unicode, line, char) => {
      if (hex !== undefined || unicode !== undefined)
        return String.fromCharCode(parseInt(String(hex ?? unicode), 16));
      if (line !== undefined) return '';
      return char === 'n' ? '\n' : char === 't' ? '\t' : String(char);
    },
  );
}
