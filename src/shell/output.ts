import { decodeEscapes, formatText } from './format.ts';
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
