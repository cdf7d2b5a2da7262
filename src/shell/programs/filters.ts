import { pathText } from '../directories.ts';
import type { ProgramCall, Program, Status } from '../machine.ts';
import { hasOption, optionValue, parseOptions } from '../options.ts';
import { listFiles, filterInput } from '../output.ts';
import { isKnown, UNKNOWN } from '../unknown.ts';

/** A filter whose output is made of lines of its input: all of them are taken to pass. */
function passThrough(spec: string, pattern: number): Program {
  return (call) => {
    const { operands } = parseOptions(call.args, {
      short: spec,
      long: 'regexp= file= lines= bytes= output=',
    });
    call.frame.output.add(filterInput(call, operands.slice(pattern)));
    return undefined;
  };
}

/** `grep`: its lines, or with `-l` the names of the files that may match. */
function grep(call: ProgramCall): Status {
  const { machine, frame } = call;
  const options = parseOptions(call.args, {
    short: 'e:f:A:B:C:m:g:t:d:D:',
    long: 'regexp= file= files-with-matches include= exclude= max-count= recursive',
  });
  const files = options.operands.slice(hasOption(options, 'e', 'f', 'regexp', 'file') ? 0 : 1);
  if (!hasOption(options, 'l', 'files-with-matches')) {
    frame.output.add(filterInput(call, files));
    return undefined;
  }
  for (const file of files) {
    const path = machine.path(frame.scope, file);
    const isFolder = path !== undefined && machine.disk.isDirectory(path);
    const found = isFolder ? [...machine.disk.world.watched(path), UNKNOWN] : [file];
    frame.output.add(found.map((name) => `${name}\n`).join(''));
  }
  return undefined;
}

function cut(call: ProgramCall): Status {
  const options = parseOptions(call.args, {
    short: 'f:d:c:b:',
    long: 'fields= delimiter= characters= bytes=',
  });
  const text = filterInput(call, options.operands);
  const field = Number(optionValue(options, 'f', 'fields'));
  const delimiter = optionValue(options, 'd', 'delimiter') ?? '\t';
  if (!Number.isInteger(field) || field < 1) call.frame.output.add(text === '' ? '' : UNKNOWN);
  else {
    const lines = text.replace(/\n$/, '').split('\n');
    const pick = (line: string) =>
      line.includes(delimiter) ? (line.split(delimiter)[field - 1] ?? '') : line;
    call.frame.output.add(lines.map((line) => `${pick(line)}\n`).join(''));
  }
  return undefined;
}

/** `tr` with sets of the same size, or `-d`. */
function tr(call: ProgramCall): Status {
  const options = parseOptions(call.args, { long: 'delete complement squeeze-repeats' });
  const [from = '', to = ''] = options.operands.map(expandSet);
  const text = call.frame.input.rest;
  const hasClass = options.operands.some((word) => word.includes('[:'));
  if (hasOption(options, 'c', 'C', 's') || hasClass) call.frame.output.add(UNKNOWN);
  else if (hasOption(options, 'd'))
    call.frame.output.add(
      Array.from(text)
        .filter((char) => !from.includes(char))
        .join(''),
    );
  else {
    const change = (char: string) => {
      const at = from.indexOf(char);
      return at < 0 ? char : to.charAt(Math.min(at, to.length - 1));
    };
    call.frame.output.add(Array.from(text).map(change).join(''));
  }
  return undefined;
}

function expandSet(set: string): string {
  const plain = set.replace(/\\n/g, '\n').replace(/\\t/g, '\t').replace(/\\0/g, '\0').replace(/\\\\/g, '\\');
  return plain.replace(/([A-Za-z0-9])-([A-Za-z0-9])/g, (_, a: string, b: string) => {
    const size = b.charCodeAt(0) - a.charCodeAt(0) + 1;
    return size > 0
      ? Array.from({ length: size }, (_, n) => String.fromCharCode(a.charCodeAt(0) + n)).join('')
      : '';
  });
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** `base64 -d` of known text: a script that is only encoded is still read. */
function base64(call: ProgramCall): Status {
  const options = parseOptions(call.args, { short: 'w:i:o:', long: 'decode wrap= input= output=' });
  const output = optionValue(options, 'o', 'output');
  if (output !== undefined) call.machine.write(call.frame.scope, output, call.name);
  const text = filterInput(call, options.operands);
  const isDecoded = hasOption(options, 'd', 'D', 'decode') && isKnown(text);
  call.frame.output.add(isDecoded ? decodeBytes(base64Bytes(text)) : UNKNOWN);
  return undefined;
}

function base64Bytes(text: string): number[] {
  const bytes: number[] = [];
  let bits = 0;
  let count = 0;
  for (const char of text) {
    const value = BASE64.indexOf(char);
    if (value < 0) continue;
    bits = ((bits << 6) | value) & 0xffff;
    count += 6;
    if (count >= 8) bytes.push((bits >> (count -= 8)) & 0xff);
  }
  return bytes;
}

/** Percent-decoding is the language's own UTF-8 decoder; bytes that are none stay unknown. */
function decodeBytes(bytes: readonly number[]): string {
  try {
    return decodeURIComponent(bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''));
  } catch {
    return UNKNOWN;
  }
}

function rev(call: ProgramCall): Status {
  const lines = filterInput(call, call.args).split('\n');
  call.frame.output.add(lines.map((line) => Array.from(line).reverse().join('')).join('\n'));
  return undefined;
}

function seq(call: ProgramCall): Status {
  const numbers = call.args.map(Number);
  const [first = 1, last = first] = numbers.length > 1 ? [numbers[0], numbers.at(-1)] : [1, numbers[0]];
  const isSmall = numbers.every(Number.isInteger) && numbers.length < 3 && last - first < 1000;
  for (let n = first; isSmall && n <= last; n++) call.frame.output.add(`${n}\n`);
  if (!isSmall) call.frame.output.add(UNKNOWN);
  return undefined;
}

/** Programs whose output is known when their input is. */
export const FILTER_PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['cat', passThrough('', 0)],
  ['tac', passThrough('s:', 0)],
  ['head', passThrough('n:c:', 0)],
  ['tail', passThrough('n:c:s:', 0)],
  ['column', passThrough('s:t:', 0)],
  ...['grep', 'egrep', 'fgrep', 'rg', 'ag'].map((name) => [name, grep] as const),
  ...['dirname', 'basename', 'realpath', 'readlink'].map((name) => [name, pathText] as const),
  ['ls', listFiles],
  ['cut', cut],
  ['tr', tr],
  ['base64', base64],
  ['rev', rev],
  ['seq', seq],
]);
