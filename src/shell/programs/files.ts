import type { Call, Program, Status } from '../machine.ts';
import { hasOption, optionValue, parseOptions } from '../options.ts';
import { UNKNOWN } from '../unknown.ts';
import { readText } from '../output.ts';

function remove(call: Call): Status {
  const { machine, frame } = call;
  const options = parseOptions(call.args, { long: 'recursive force interactive=? verbose dir' });
  const isRecursive = hasOption(options, 'r', 'R', 'recursive');
  for (const word of options.operands) {
    // It refuses `.` and `..`, however they are reached.
    if (/(?:^|\/)\.\.?\/*$/.test(word)) continue;
    const path = machine.path(frame.scope, word, false);
    const isFolder = path !== undefined && !isRecursive && machine.disk.isDirectory(path);
    // Without `-r` a folder stays; a link to one does not.
    if (isFolder && machine.disk.world.readLink(path) === undefined) continue;
    // A slash at the end makes `rm -r` empty the folder behind a link.
    const target = path !== undefined && word.endsWith('/') ? machine.disk.realpath('/', path) : word;
    machine.remove(frame.scope, target, 'rm');
  }
  return true;
}

/** `chmod` changes what git keeps of a file's mode: of all words but the first, or all with `--reference`. */
function changeMode({ args, frame, machine }: Call): Status {
  // `-x` and the like take rights away; only `-R` and what begins with two dashes are options.
  const words = args.filter((word) => !/^-(?:[Rcfv]+$|-.)/.test(word) && word !== '--');
  const isLike = args.some((word) => word.startsWith('--reference'));
  for (const word of words.slice(isLike ? 0 : 1)) machine.write(frame.scope, word, 'chmod');
  return undefined;
}

/** `touch` changes no content: only a file that is not there yet comes into being. */
function touch({ args, frame, machine }: Call): Status {
  const options = parseOptions(args, { short: 'd:r:t:A:', long: 'date= reference= time=' });
  if (hasOption(options, 'c', 'no-create', 'h')) return true;
  for (const word of options.operands) {
    const path = machine.path(frame.scope, word);
    if (path !== undefined && !machine.disk.exists(path)) machine.write(frame.scope, word, 'touch');
  }
  return true;
}

function tee(call: Call): Status {
  const { frame, machine } = call;
  const { operands } = parseOptions(call.args, { long: 'append ignore-interrupts output-error=?' });
  const text = readText(call, []);
  for (const word of operands) {
    const path = machine.write(frame.scope, word, 'tee');
    if (path !== undefined && !call.args.includes('-a')) machine.disk.setText(path, { text });
  }
  frame.output.add(text);
  return undefined;
}

function dd({ args, frame, machine }: Call): Status {
  if (!args.some((word) => word.startsWith('of='))) frame.output.add(UNKNOWN);
  // Of several the last one counts.
  const output = args.findLast((word) => word.startsWith('of='));
  if (output !== undefined) machine.write(frame.scope, output.slice(3), 'dd');
  return undefined;
}

/** `tar`: the archive, what `--remove-files` removes, and members that are extracted by name. */
function tar(call: Call): Status {
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
  machine.unsure = true;
  const folder = optionValue(options, 'C', 'directory');
  for (const word of options.operands) {
    machine.write(frame.scope, folder === undefined ? word : `${folder}/${word}`, 'tar', false);
  }
  return undefined;
}

function zip({ args, frame, machine }: Call): Status {
  const options = parseOptions(args, { short: 'b:i:x:n:t:P:', long: 'move recurse-paths exclude= include=' });
  const [archive, ...files] = options.operands;
  if (archive !== undefined && archive !== '-') machine.write(frame.scope, archive, 'zip', false);
  if (hasOption(options, 'm', 'move')) for (const word of files) machine.remove(frame.scope, word, 'zip -m');
  return undefined;
}

function unpack({ args, frame, machine, name }: Call): Status {
  frame.output.add(UNKNOWN);
  const reads = name === 'unzip' ? /^-[lptvZ]/ : /^-[ti]|^l$|^t$/;
  if (!args.some((word) => reads.test(word))) machine.unsure = true;
  return undefined;
}

/** Zstandard keeps its input unless told otherwise. */
function zstd({ args, frame, machine, name }: Call): Status {
  const options = parseOptions(args, { short: 'o:D:T:', long: 'rm output=' });
  frame.output.add(UNKNOWN);
  for (const word of options.values.get('o') ?? []) machine.write(frame.scope, word, name);
  for (const word of options.operands) {
    if (hasOption(options, 'rm')) machine.remove(frame.scope, word, name);
    if (word.endsWith('.zst') && name !== 'zstdcat') machine.write(frame.scope, word.slice(0, -4), name);
  }
  return undefined;
}

/** Programs that remove, create and pack files. */
export const FILE_PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['rm', remove],
  ['srm', remove],
  ['trash', remove],
  ['trash-put', remove],
  ['rmdir', () => true],
  ['chmod', changeMode],
  ['touch', touch],
  ['tee', tee],
  ['dd', dd],
  ['tar', tar],
  ['bsdtar', tar],
  ['zip', zip],
  ['unzip', unpack],
  ['cpio', unpack],
  ['zstd', zstd],
  ['unzstd', zstd],
]);
