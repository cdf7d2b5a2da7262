import { UNKNOWN } from './unknown.ts';

const SIMPLE: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
  e: '\u001b',
  '\\': '\\',
};
const ESCAPE =
  /\\(?:([ntrabfve\\])|0?([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8}))/g;

/** Decodes the escapes of `echo -e` and `printf`; `\c` ends the text. */
export function decodeEscapes(text: string): string {
  const stop = text.search(/(?<!\\)(?:\\\\)*\\c/);
  const end = stop < 0 ? text.length : text.indexOf('\\c', stop);
  return text.slice(0, end).replace(ESCAPE, (_, simple, octal, hex, short, long) => {
    if (typeof simple === 'string') return SIMPLE[simple] ?? '';
    if (typeof octal === 'string') return String.fromCharCode(parseInt(octal, 8));
    const digits = [hex, short, long].find((part) => typeof part === 'string');
    return character(parseInt(digits ?? '', 16));
  });
}

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : UNKNOWN;
}

/** What `printf` prints for a format and its arguments; the format is used again while arguments are left. */
export function formatText(format: string, values: readonly string[]): string {
  const directive = /%(?:%|([-#+ 0]*)(\*|\d+)?(?:\.(\*|\d+))?[hlLjzt]*([a-zA-Z]|\([^()]*\)T))/g;
  let next = 0;
  let result = '';
  do {
    const start = next;
    const expanded = format.replace(directive, (all, flags, width, precision, kind) => {
      if (all === '%%') return '%';
      if (width === '*') next++;
      return directiveText(String(kind), values[next++] ?? '', String(flags), Number(width ?? 0), precision);
    });
    result += decodeEscapes(expanded);
    if (next === start) break;
  } while (next < values.length && result.length < 1 << 16);
  return result;
}

function directiveText(
  kind: string,
  value: string,
  flags: string,
  width: number,
  precision: unknown,
): string {
  const limit = precision === undefined || precision === '*' ? undefined : Number(precision);
  const pad = (text: string) => {
    if (width > 4096) return UNKNOWN;
    return flags.includes('-') ? text.padEnd(width) : text.padStart(width, flags.includes('0') ? '0' : ' ');
  };
  // A backslash of an argument is text, not an escape; the format is decoded after this.
  const literal = (text: string) => text.replace(/\\/g, '\\\\');
  if (kind === 's') return pad(literal(limit === undefined ? value : value.slice(0, limit)));
  if (kind === 'b') return pad(literal(decodeEscapes(value)));
  if (kind === 'q')
    return literal(/^[\w./:@%+=-]+$/.test(value) ? value : `'${value.replace(/'/g, "'\\''")}'`);
  if (kind === 'c') return literal(value.slice(0, 1));
  if ('diu'.includes(kind) && /^-?\d*$/.test(value)) return pad(value === '' ? '0' : String(Number(value)));
  if (kind === 'x' && /^\d+$/.test(value)) return pad(Number(value).toString(16));
  return UNKNOWN;
}
