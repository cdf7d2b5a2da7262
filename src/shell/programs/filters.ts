import { UNKNOWN, isKnown } from '../effects.ts';
import { basename, dirname } from '../disk.ts';
import type { Program, ProgramCall, Status } from '../machine.ts';
import { hasOption, optionValues, parseOptions, optionValue } from '../options.ts';
import { recordSpelled } from '../spelled.ts';
import { patchedFiles } from '../../domain/patch.ts';

/** Returns the text that a filter reads: its file operands, as far as known, or else its input. */
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

/** Returns a filter that prints some lines of its input (`head`). All lines count as printed. */
function passThrough(short: string): Program {
  return (call) => {
    const { operands } = parseOptions(call.args, { short, long: 'lines= bytes=' });
    call.frame.output.add(filterInput(call, operands));
    return undefined;
  };
}

/** Handles `sort` and `uniq`: they pass lines on, or write them to a file. */
const ordered: Program = (call) => {
  const { name, args, frame, machine } = call;
  const options = parseOptions(args, { short: 'k:t:S:T:o:f:s:w:', long: 'output= key= field-separator=' });
  const files = name === 'sort' ? optionValues(options, 'o', 'output') : options.operands.slice(1, 2);
  frame.output.add(filterInput(call, options.operands.slice(0, 1)));
  for (const file of files) machine.write(frame.scope, file, name);
  return undefined;
};

/** Handles `grep`: prints lines or, with `-l`, the names of the files that may match. */
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

/** Handles `ls`: prints the names that its operands list. */
function ls({ args, frame, machine }: ProgramCall): Status {
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

/** Handles `dirname` and `basename` of one path. */
function pathPart({ name, args, frame }: ProgramCall): Status {
  const [word = '', suffix = ''] = parseOptions(args, {}).operands;
  const base = basename(word);
  const cut = base.endsWith(suffix) ? base.slice(0, base.length - suffix.length) : base;
  frame.output.add(
    args[0]?.startsWith('-') === true ? UNKNOWN : `${name === 'dirname' ? dirname(word) : cut}\n`,
  );
  return undefined;
}

/** Handles `sed -i`. Its script is not parsed. */
function sed({ args, frame, machine }: ProgramCall): Status {
  const options = parseOptions(args, {
    short: 'e:f:l:i::',
    long: 'expression= file= line-length= in-place=? follow-symlinks quiet silent regexp-extended separate null-data',
  });
  // On a Mac `-i` takes the next word, often an empty one. Empty words can be dropped: an empty script does nothing.
  const operands = options.operands.filter((word) => word !== '');
  const isInline = !hasOption(options, 'e', 'expression', 'f', 'file');
  const scripts = isInline ? operands.splice(0, 1) : optionValues(options, 'e', 'expression');
  // `w file` in a script writes the file.
  for (const script of scripts)
    recordSpelled(machine, frame.scope, script.replace(/(?<![A-Za-z])[wW] /g, '> '), 'sed w');
  const follows = hasOption(options, 'follow-symlinks');
  if (hasOption(options, 'i', 'in-place'))
    for (const file of operands) machine.write(frame.scope, file, 'sed -i', follows);
  frame.output.add(UNKNOWN);
  return undefined;
}

/** Handles `tee`: writes its input to files, and passes it on. */
function tee(call: ProgramCall): Status {
  const { frame, machine } = call;
  const { operands } = parseOptions(call.args, { long: 'append ignore-interrupts output-error=?' });
  const text = frame.input.rest;
  for (const word of operands) {
    const path = machine.write(frame.scope, word, 'tee');
    if (path !== undefined && !call.args.includes('-a')) machine.disk.setText(path, { text });
  }
  frame.output.add(text);
  return undefined;
}

/** The programs whose output is known if their input is. */
export const FILTER_PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['cat', passThrough('')],
  ['head', passThrough('n:c:')],
  ['tail', passThrough('n:c:s:')],
  ...['grep', 'egrep', 'fgrep', 'rg', 'ag'].map((name) => [name, grep] as const),
  ...['dirname', 'basename'].map((name) => [name, pathPart] as const),
  ...['sort', 'uniq'].map((name) => [name, ordered] as const),
  ...['sed', 'ssed'].map((name) => [name, sed] as const),
  ['ls', ls],
  ['tee', tee],
]);

/** Returns the files that a patch names. */
export function diffPaths(text: string, strip: number): string[] {
  const names = [...text.matchAll(/^(?:\+\+\+|---|rename (?:from|to)) ([^\t\n]+)/gm)].map(
    (found) => found[1] ?? '',
  );
  return names.filter((name) => name !== '/dev/null').map((name) => name.split('/').slice(strip).join('/'));
}

function patch(call: ProgramCall): Status {
  const { machine, frame } = call;
  const options = parseOptions(call.args, {
    short: 'd:D:F:g:i:o:p:r:V:Y:z:B:',
    long: 'directory= input= output= strip= reject-file= dry-run fuzz= suffix= prefix=',
  });
  if (hasOption(options, 'dry-run', 'C')) return undefined;
  const output = optionValue(options, 'o', 'output');
  const folder = optionValue(options, 'd', 'directory');
  const place = (word: string) => (folder === undefined || word.startsWith('/') ? word : `${folder}/${word}`);
  const [target, diff] = options.operands;
  const rejected = optionValue(options, 'r', 'reject-file');
  if (rejected !== undefined) machine.write(frame.scope, place(rejected), 'patch');
  if (output !== undefined) machine.write(frame.scope, place(output), 'patch');
  else if (target !== undefined) machine.write(frame.scope, place(target), 'patch', false);
  else {
    const file = optionValue(options, 'i', 'input') ?? diff;
    const text = filterInput(call, file === undefined ? [] : [file]);
    const strip = Number(optionValue(options, 'p', 'strip') ?? NaN);
    if (!isKnown(text)) {
      const source = file === undefined ? frame.input.file : machine.path(frame.scope, file);
      const patch = { file: source ?? '', strip: Number.isNaN(strip) ? undefined : strip };
      const instead = 'patch <path> <patch file>';
      const more = source === undefined ? {} : { patch };
      machine.addUnnamedWrites(frame.scope, folder ?? '.', { by: 'patch', instead, ...more });
    }
    for (const name of diffPaths(text, Number.isNaN(strip) ? 0 : strip)) {
      machine.write(frame.scope, place(name), 'patch', false);
    }
  }
  return undefined;
}

/** Handles `apply_patch`, with the patch as a word or as input: Codex intercepts the call and changes the files itself. */
function applyPatch({ args, frame, machine }: ProgramCall): Status {
  for (const { path, change, moveTo } of patchedFiles(args[0] ?? frame.input.rest)) {
    if (change === 'delete') machine.remove(frame.scope, path, 'apply_patch');
    else machine.write(frame.scope, path, 'apply_patch');
    if (moveTo !== undefined) machine.write(frame.scope, moveTo, 'apply_patch');
  }
  return undefined;
}

export const PATCH_PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['patch', patch],
  ['apply_patch', applyPatch],
  ['applypatch', applyPatch],
]);
