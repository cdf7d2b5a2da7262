import { UNKNOWN, isKnown } from '../effects.ts';
import { basename, dirname } from '../disk.ts';
import type { Program, Shell, Status } from '../machine.ts';
import { byName, hasOption, optionValues, parseOptions, optionValue } from '../options.ts';
import { recordSpelled } from '../spelled.ts';
import { patchedFiles } from '../../domain/patch.ts';

/** Returns the text that a filter reads: its file operands, as far as known, or else its input. */
export function filterInput(shell: Shell, files: readonly string[]): string {
  const { rest } = shell.input;
  if (files.length === 0) return rest;
  return files.map((file) => (file === '-' ? rest : (shell.fileText(file) ?? UNKNOWN))).join('');
}

/** Returns a filter that prints some lines of its input (`head`). All lines count as printed. */
function passThrough(short: string): Program {
  return (shell, args) => {
    const { operands } = parseOptions(args, { short, long: 'lines= bytes=' });
    shell.print(filterInput(shell, operands));
    return undefined;
  };
}

/** Handles `sort` and `uniq`: they pass lines on, or write them to a file. */
function ordered(shell: Shell, args: readonly string[], name: string): Status {
  const options = parseOptions(args, { short: 'k:t:S:T:o:f:s:w:', long: 'output= key= field-separator=' });
  const files = name === 'sort' ? optionValues(options, 'o', 'output') : options.operands.slice(1, 2);
  shell.print(filterInput(shell, options.operands.slice(0, 1)));
  for (const file of files) shell.write(file, name);
  return undefined;
}

/** Handles `grep`: prints lines or, with `-l`, the names of the files that may match. */
function grep(shell: Shell, args: readonly string[]): Status {
  const options = parseOptions(args, {
    short: 'e:f:A:B:C:m:g:t:d:D:',
    long: 'regexp= file= files-with-matches include= exclude= max-count= recursive',
  });
  const files = options.operands.slice(hasOption(options, 'e', 'f', 'regexp', 'file') ? 0 : 1);
  if (!hasOption(options, 'l', 'files-with-matches')) {
    shell.print(filterInput(shell, files));
    return undefined;
  }
  for (const file of files) {
    const path = shell.isFolder(file) ? shell.path(file) : undefined;
    const found = path === undefined ? [file] : [...shell.machine.disk.world.watched(path), UNKNOWN];
    shell.print(found.map((name) => `${name}\n`).join(''));
  }
  return undefined;
}

function ls(shell: Shell, args: readonly string[]): Status {
  const operands = args.filter((word) => !word.startsWith('-') && isKnown(word));
  const flags = args.filter((word) => word.startsWith('-')).join('');
  const lines: string[] = [];
  for (const word of operands.length > 0 ? operands : ['.']) {
    const path = shell.path(word);
    if (path === undefined) lines.push(UNKNOWN);
    else if (flags.includes('d') || !shell.machine.disk.isDirectory(path)) lines.push(word);
    else {
      const names = shell.machine.disk.world.entries(path);
      lines.push(...names.filter((name) => !name.startsWith('.') || /[aA]/.test(flags)).sort());
    }
  }
  shell.print(/[lLRis]/.test(flags) ? UNKNOWN : lines.map((line) => `${line}\n`).join(''));
  return undefined;
}

function pathPart(shell: Shell, args: readonly string[], name: string): Status {
  const [word = '', suffix = ''] = parseOptions(args, {}).operands;
  const base = basename(word);
  const cut = base.endsWith(suffix) ? base.slice(0, base.length - suffix.length) : base;
  shell.print(args[0]?.startsWith('-') === true ? UNKNOWN : `${name === 'dirname' ? dirname(word) : cut}\n`);
  return undefined;
}

/** Handles `sed`. The script is not parsed: with `-i`, sed counts as writing all files that it is given. */
function sed(shell: Shell, args: readonly string[]): Status {
  const options = parseOptions(args, {
    short: 'e:f:l:i::',
    long: 'expression= file= line-length= in-place=? follow-symlinks quiet silent regexp-extended separate null-data',
  });
  // On a Mac, `-i` takes the next word, which is often empty. We drop all empty words, because an empty script does nothing.
  const operands = options.operands.filter((word) => word !== '');
  const isInline = !hasOption(options, 'e', 'expression', 'f', 'file');
  const scripts = isInline ? operands.splice(0, 1) : optionValues(options, 'e', 'expression');
  // `w file` in a script writes the file.
  for (const script of scripts) recordSpelled(shell, script.replace(/(?<![A-Za-z])[wW] /g, '> '), 'sed w');
  const follows = hasOption(options, 'follow-symlinks');
  if (hasOption(options, 'i', 'in-place')) for (const file of operands) shell.write(file, 'sed -i', follows);
  shell.print(UNKNOWN);
  return undefined;
}

function tee(shell: Shell, args: readonly string[]): Status {
  const { operands } = parseOptions(args, { long: 'append ignore-interrupts output-error=?' });
  const text = shell.input.rest;
  for (const word of operands) {
    const path = shell.write(word, 'tee');
    if (path !== undefined && !args.includes('-a')) shell.machine.disk.setText(path, { text });
  }
  shell.print(text);
  return undefined;
}

/** Returns the files that a patch names, without the first `strip` folders of each path. */
export function diffPaths(text: string, strip: number): string[] {
  const names = [...text.matchAll(/^(?:\+\+\+|---|rename (?:from|to)) ([^\t\n]+)/gm)].map(
    (found) => found[1] ?? '',
  );
  return names.filter((name) => name !== '/dev/null').map((name) => name.split('/').slice(strip).join('/'));
}

function patch(shell: Shell, args: readonly string[]): Status {
  const options = parseOptions(args, {
    short: 'd:D:F:g:i:o:p:r:V:Y:z:B:',
    long: 'directory= input= output= strip= reject-file= dry-run fuzz= suffix= prefix=',
  });
  if (hasOption(options, 'dry-run', 'C')) return undefined;
  const output = optionValue(options, 'o', 'output');
  const folder = optionValue(options, 'd', 'directory');
  const place = (word: string) => (folder === undefined || word.startsWith('/') ? word : `${folder}/${word}`);
  const [target] = options.operands;
  const rejected = optionValue(options, 'r', 'reject-file');
  if (rejected !== undefined) shell.write(place(rejected), 'patch');
  if (output !== undefined) shell.write(place(output), 'patch');
  else if (target !== undefined) shell.write(place(target), 'patch', false);
  else {
    const file = optionValue(options, 'i', 'input');
    const text = filterInput(shell, file === undefined ? [] : [file]);
    const strip = Number(optionValue(options, 'p', 'strip') ?? NaN);
    if (!isKnown(text)) {
      const source = file === undefined ? shell.input.file : shell.path(file);
      const patch = { file: source ?? '', strip: Number.isNaN(strip) ? undefined : strip };
      const instead = 'patch <path> <patch file>';
      const more = source === undefined ? {} : { patch };
      shell.addUnnamedWrites(folder ?? '.', { by: 'patch', instead, ...more });
    }
    for (const name of diffPaths(text, Number.isNaN(strip) ? 0 : strip)) {
      shell.write(place(name), 'patch', false);
    }
  }
  return undefined;
}

/** Handles `apply_patch`, with the patch as a word or as input: Codex intercepts the call and changes the files itself. */
function applyPatch(shell: Shell, args: readonly string[]): Status {
  for (const { path, change, moveTo } of patchedFiles(args[0] ?? shell.input.rest)) {
    if (change === 'delete') shell.remove(path, 'apply_patch');
    else shell.write(path, 'apply_patch');
    if (moveTo !== undefined) shell.write(moveTo, 'apply_patch');
  }
  return undefined;
}

/** The programs whose output we know if we know their input, and those that change files as a patch says. */
export const FILTER_PROGRAMS = byName<Program>({
  cat: passThrough(''),
  head: passThrough('n:c:'),
  tail: passThrough('n:c:s:'),
  'grep egrep fgrep rg ag': grep,
  'dirname basename': pathPart,
  'sort uniq': ordered,
  'sed ssed': sed,
  ls,
  tee,
  patch,
  'apply_patch applypatch': applyPatch,
});
