import type { ProgramCall, Program, Status } from '../machine.ts';
import { hasOption, optionValues, parseOptions } from '../options.ts';
import { filterInput } from '../output.ts';
import { isKnown, UNKNOWN } from '../unknown.ts';
import { runChildShell } from './shells.ts';

/** What a sed script does beside printing. */
interface SedEffects {
  readonly files: string[];
  readonly commands: string[];
}

/** Reads a sed script for its `w`, `s///w` and `e` commands; one pass. */
function readSedScript(script: string): SedEffects {
  const found: SedEffects = { files: [], commands: [] };
  let i = 0;
  while (i < script.length) {
    i = skipAddress(script, i);
    const command = script.charAt(i++);
    const end = lineEnd(script, i);
    if (command === 'w' || command === 'W') found.files.push(script.slice(i, end).trim());
    else if (command === 'e') found.commands.push(script.slice(i, end).trim());
    if ('wWerRaic#'.includes(command) && command !== '') {
      i = 'aic'.includes(command) ? textEnd(script, i) : end;
    } else if (command === 's' || command === 'y') {
      i = readSubstitution(script, i, command === 's' ? found : undefined);
    }
  }
  return found;
}

function lineEnd(script: string, from: number): number {
  const end = script.indexOf('\n', from);
  return end < 0 ? script.length : end;
}

/** Text of `a`, `i` and `c` goes on over lines that end in a backslash. */
function textEnd(script: string, from: number): number {
  let end = lineEnd(script, from);
  while (end < script.length && script[end - 1] === '\\') end = lineEnd(script, end + 1);
  return end;
}

function skipAddress(script: string, from: number): number {
  let i = from;
  while (i < script.length) {
    const char = script.charAt(i);
    if (char === '/') i = delimited(script, i + 1, '/');
    else if (char === '\\' && i + 1 < script.length) i = delimited(script, i + 2, script.charAt(i + 1));
    else if (/[\s\d,$~+!;{}IM]/.test(char)) i++;
    else return i;
  }
  return i;
}

/** Index after the delimiter that ends a regular expression or replacement. */
function delimited(script: string, from: number, delimiter: string): number {
  let inSet = false;
  for (let i = from; i < script.length; i++) {
    const char = script.charAt(i);
    if (char === '\\') i++;
    else if (char === '[' && !inSet && script.indexOf(']', i + 2) > 0) inSet = delimiter === '/';
    else if (char === ']') inSet = false;
    else if (char === delimiter && !inSet) return i + 1;
    else if (char === '\n' && inSet) inSet = false;
  }
  return script.length;
}

function readSubstitution(script: string, from: number, found: SedEffects | undefined): number {
  const delimiter = script.charAt(from);
  const middle = delimited(script, from + 1, delimiter);
  let i = delimited(script, middle, delimiter);
  const replacement = script.slice(middle, i - 1).replaceAll(`\\${delimiter}`, delimiter);
  if (found === undefined) return i;
  for (; i < script.length && /[gpiImM\de]/.test(script.charAt(i)); i++) {
    if (script[i] === 'e') found.commands.push(replacement);
  }
  if (script[i] !== 'w') return i;
  const end = lineEnd(script, i);
  found.files.push(script.slice(i + 1, end).trim());
  return end;
}

/** What a script prints that only adds to lines (`s/^/delete /`, `s/$/.md/`, or around `&`); else unknown. */
function filtered(script: string, text: string): string {
  const [, delimiter = '', pattern, replacement] =
    /^s([/|,#@])(\^|\$|\.\*)\1([^/|,#@]*)\1g?$/.exec(script) ?? [];
  if (delimiter === '' || replacement === undefined) return text === '' ? '' : UNKNOWN;
  const lines = text.replace(/\n$/, '').split('\n');
  const change = (line: string) => {
    if (pattern === '^') return replacement + line;
    return pattern === '$' ? line + replacement : replacement.replace(/&/g, () => line);
  };
  return lines.map((line) => `${change(line)}\n`).join('');
}

function sed(call: ProgramCall): Status {
  const { machine, frame } = call;
  const options = parseOptions(call.args, {
    short: 'e:f:l:i::',
    long: 'expression= file= line-length= in-place=? follow-symlinks quiet silent regexp-extended separate null-data',
  });
  const given = optionValues(options, 'e', 'expression');
  const isInline = given.length === 0 && !hasOption(options, 'f', 'file');
  const script = isInline ? (options.operands[0] ?? '') : given.join('\n');
  const files = isInline ? options.operands.slice(1) : options.operands;
  if (hasOption(options, 'f', 'file')) machine.unsure = true;
  const found = readSedScript(script);
  for (const file of found.files) machine.write(frame.scope, file, 'sed w');
  for (const command of found.commands) runChildShell(call, command);
  if (hasOption(options, 'i', 'in-place')) {
    const follows = hasOption(options, 'follow-symlinks');
    for (const file of files) machine.write(frame.scope, file, 'sed -i', follows);
  } else {
    const text = filterInput(call, files);
    frame.output.add(isKnown(text) || /^s/.test(script) ? filtered(script, text) : UNKNOWN);
  }
  return undefined;
}

export const SED_PROGRAMS: ReadonlyMap<string, Program> = new Map([
  ['sed', sed],
  ['ssed', sed],
]);
