import type { ProgramCall, Program, Status } from './machine.ts';
import { isKnown, UNKNOWN } from './unknown.ts';
import { setVariable } from './variables.ts';

function echo({ args, frame }: ProgramCall): Status {
  let first = 0;
  while (/^-[neE]+$/.test(args[first] ?? '')) first++;
  const flags = args.slice(0, first).join('');
  const text = args.slice(first).join(' ');
  const decoded = flags.includes('e') ? decodeEscapes(text) : text;
  frame.output.add(flags.includes('n') ? decoded : `${decoded}\n`);
  return true;
}

function printf({ name, args, frame, machine }: ProgramCall): Status {
  const words = args[0] === '--' ? args.slice(1) : [...args];
  const variable = words[0] === '-v' ? words[1] : undefined;
  const [format = '', ...values] = variable === undefined ? words : words.slice(2);
  const text = formatText(format, values);
  if (variable === undefined) frame.output.add(text);
  else setVariable(machine, frame.scope, variable, text, name);
  return true;
}

export const TEXT_BUILTINS: readonly (readonly [string, Program])[] = [
  ['echo', echo],
  ['printf', printf],
];

/** The text that a filter reads: its file operands where they are known, else its input. */
export function filterInput({ frame, machine }: ProgramCall, files: readonly string[]): string {
  if (files.length === 0) return frame.input.rest;
  return files
    .map((file) => {
      if (file === '-') return frame.input.rest;
      const path = machine.path(frame.scope, file);
      return (path === undefined ? undefined : machine.disk.text(path)) ?? UNKNOWN;
    })
    .join('');
}

/** `ls`: the names that its operands list. */
export function listFiles({ args, frame, machine }: ProgramCall): Status {
  const operands = args.filter((word) => !word.startsWith('-') && isKnown(word));
  const flags = args.filter((word) => word.startsWith('-')).join('');
  const lines: string[] = [];
  for (const word of operands.length > 0 ? operands : ['.']) {
    const path = machine.path(frame.scope, word);
    if (path === undefined) lines.push(UNKNOWN);
    else if (flags.includes('d') || !machine.disk.isDirectory(path)) lines.push(word);
    else {
      const names = machine.disk.world.entries(path);
      lines.push(...names.filter((name) => !name.startsWith('.') || /[aA]/.test(flags)).sort());
    }
  }
  frame.output.add(/[lLRis]/.test(flags) ? UNKNOWN : lines.map((line) => `${line}\n`).join(''));
  return undefined;
}

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
function decodeEscapes(text: string): string {
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
function formatText(format: string, values: readonly string[]): string {
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
