import { UNKNOWN } from '../effects.ts';
import type { Program, ProgramCall, Status } from '../machine.ts';
import { hasOption, optionValue, parseOptions } from '../options.ts';

function remove(call: ProgramCall): Status {
  const { machine, frame } = call;
  const options = parseOptions(call.args, { long: 'recursive force interactive=? verbose dir' });
  const isRecursive = hasOption(options, 'r', 'R', 'recursive');
  for (const word of options.operands) {
    // rm(1) refuses `.` and `..`, in whatever spelling.
    if (/(?:^|\/)\.\.?\/*$/.test(word)) continue;
    const path = machine.path(frame.scope, word, false);
    const isFolder = path !== undefined && !isRecursive && machine.disk.isDirectory(path);
    // Without `-r`, rm(1) keeps a folder, but removes a link to one.
    if (isFolder && machine.disk.world.readLink(path) === undefined) continue;
    machine.remove(frame.scope, word, 'rm');
  }
  return true;
}

/** Handles `touch`, which changes no content: it only creates a missing file. */
function touch({ args, frame, machine }: ProgramCall): Status {
  const options = parseOptions(args, { short: 'd:r:t:A:', long: 'date= reference= time=' });
  if (hasOption(options, 'c', 'no-create', 'h')) return true;
  for (const word of options.operands) {
    const path = machine.path(frame.scope, word);
    if (path !== undefined && !machine.disk.exists(path)) machine.write(frame.scope, word, 'touch');
  }
  return true;
}

function dd({ args, frame, machine }: ProgramCall): Status {
  if (!args.some((word) => word.startsWith('of='))) frame.output.add(UNKNOWN);
  // dd(1) uses the last `of=`.
  const output = args.findLast((word) => word.startsWith('of='));
  if (output !== undefined) machine.write(frame.scope, output.slice(3), 'dd');
  return undefined;
}

/** Handles `tar`: the archive, what `--remove-files` removes, and members that are extracted by name. */
function tar(call: ProgramCall): Status {
  const { machine, frame } = call;
  const [first = '', ...rest] = call.args;
  const args = /^[A-Za-z]+$/.test(first) ? [`-${first}`, ...rest] : call.args;
  const options = parseOptions(args, {
    short: 'f:C:T:X:b:H:g:K:L:N:V:I:',
    long: 'file= directory= files-from= exclude= to-command= transform= strip-components= use-compress-program= remove-files',
  });
  const archive = optionValue(options, 'f', 'file');
  if (
    hasOption(options, 'c', 'r', 'u', 'A', 'create', 'append', 'update') &&
    archive !== undefined &&
    archive !== '-'
  ) {
    machine.write(frame.scope, archive, 'tar');
  }
  frame.output.add(UNKNOWN);
  if (hasOption(options, 'remove-files'))
    for (const word of options.operands) machine.remove(frame.scope, word, 'tar');
  if (!hasOption(options, 'x', 'extract', 'get') || hasOption(options, 'O', 'to-stdout')) return undefined;
  const folder = optionValue(options, 'C', 'directory') ?? '.';
  const isMoved = hasOption(options, 'transform', 'strip-components', 'T', 'files-from', 's');
  const members = isMoved ? [] : options.operands;
  for (const word of members) machine.write(frame.scope, `${folder}/${word}`, 'tar', false);
  if (!hasOption(options, 'k', 'keep-old-files', 'skip-old-files'))
    addUnnamedWrites(call, folder, members, 'tar -x -f <archive> -- <path>');
  return undefined;
}

/** Records what an archive may change: everything below the folder or, for members taken by name, below those. */
function addUnnamedWrites(
  { machine, frame, name }: ProgramCall,
  folder: string,
  members: readonly string[],
  instead: string,
) {
  const folders = members.length === 0 ? [folder] : members.map((word) => `${folder}/${word}`);
  for (const path of folders) machine.addUnnamedWrites(frame.scope, path, { by: name, instead });
}

function unzip(call: ProgramCall): Status {
  const { args, frame, machine, name } = call;
  frame.output.add(UNKNOWN);
  const options = parseOptions(args, { short: 'd:x:P:' });
  if (hasOption(options, 'l', 'p', 't', 'v', 'Z', 'n')) return undefined;
  const [, ...members] = hasOption(options, 'j') ? [] : options.operands;
  const folder = optionValue(options, 'd') ?? '.';
  for (const word of members) machine.write(frame.scope, `${folder}/${word}`, name, false);
  addUnnamedWrites(call, folder, members, 'unzip <archive> <path>');
  return undefined;
}

/**
 * Handles `chmod`, `chown` and `chattr`. They change no content, but git records a part of a file's mode, and a hook
 * that is not executable does not run.
 */
function changeMode({ args, frame, machine, name }: ProgramCall): Status {
  const grants = name === 'chmod' && args.some((word) => /^[ugoa]*\+[rwxXst]+$|^0?[57][0-7]{2}$/.test(word));
  // A mode may look like an option (`-x`). Only `-R` and the like, and words with two dashes, are options.
  const words = args.filter((word) => !/^-(?:[Rcfv]+$|-.)/.test(word) && word !== '--');
  const isLike = args.some((word) => word.startsWith('--reference'));
  for (const word of words.slice(isLike ? 0 : 1)) {
    const path = machine.path(frame.scope, word);
    if (path !== undefined) machine.mode({ path, grants });
  }
  return undefined;
}

/** The programs that remove, create and pack files. */
export const FILE_PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...['rm', 'trash', 'trash-put'].map((name) => [name, remove] as const),
  ['rmdir', () => true],
  ['touch', touch],
  ['dd', dd],
  ...['tar', 'bsdtar'].map((name) => [name, tar] as const),
  ['unzip', unzip],
  ...['chmod', 'chown', 'chgrp', 'chattr', 'setfacl'].map((name) => [name, changeMode] as const),
]);
