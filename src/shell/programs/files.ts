import { UNKNOWN, isKnown } from '../effects.ts';
import type { Program, ProgramCall, Status } from '../machine.ts';
import {
  hasOption,
  optionValue,
  parseOptions,
  type Options,
  type GetoptSpec,
  optionValues,
} from '../options.ts';
import { basename } from '../disk.ts';

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

/** Handles `mktemp -d`, so that changes in the new folder do not count as changes here. A free name stands for the real one. */
function makeTemporary({ args, frame, machine }: ProgramCall): Status {
  const options = parseOptions(args, { short: 'p:', long: 'directory quiet suffix= tmpdir=' });
  const template = hasOption(options, 't') ? undefined : options.operands[0];
  let path = template ?? `${machine.text(frame.scope, 'TMPDIR') ?? '/tmp'}/tmp.`;
  const isPlaced = path.startsWith('/') && !hasOption(options, 'p', 'tmpdir');
  const isFolder = isPlaced && hasOption(options, 'd', 'directory');
  while (isFolder && machine.disk.exists(path)) path += 'X';
  if (isFolder) machine.disk.addFolder(path);
  else machine.changesBelow(machine.cwd(frame.scope));
  frame.output.add(isFolder ? `${path}\n` : UNKNOWN);
  return true;
}

function dd({ args, frame, machine }: ProgramCall): Status {
  if (!args.some((word) => word.startsWith('of='))) frame.output.add(UNKNOWN);
  // dd(1) uses the last `of=`.
  const output = args.findLast((word) => word.startsWith('of='));
  if (output !== undefined) machine.write(frame.scope, output.slice(3), 'dd');
  return undefined;
}

/** Handles `tar`: the archive that it writes, what `--remove-files` removes, and what it extracts. */
function tar(call: ProgramCall): Status {
  const { machine, frame } = call;
  const [first = '', ...rest] = call.args;
  const args = /^[A-Za-z]+$/.test(first) ? [`-${first}`, ...rest] : call.args;
  const options = parseOptions(args, {
    short: 'f:C:T:X:b:H:g:K:L:N:V:I:',
    long: 'file= directory= files-from= exclude= to-command= transform= strip-components= use-compress-program= remove-files',
  });
  const archive = optionValue(options, 'f', 'file');
  const packs = hasOption(options, 'c', 'r', 'u', 'A', 'create', 'append', 'update');
  if (packs && archive !== undefined && archive !== '-') machine.write(frame.scope, archive, 'tar');
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

/** Records what unpacking an archive may change: anything in the folder or, if members are named, only those. */
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
    if (path !== undefined) machine.found.modes.push({ path, grants });
  }
  return undefined;
}

/** The programs that remove, create and pack files. */
export const FILE_PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...['rm', 'trash', 'trash-put'].map((name) => [name, remove] as const),
  ['rmdir', () => true],
  ['touch', touch],
  ['dd', dd],
  ['mktemp', makeTemporary],
  ...['tar', 'bsdtar'].map((name) => [name, tar] as const),
  ['unzip', unzip],
  ...['chmod', 'chown', 'chgrp', 'chattr', 'setfacl'].map((name) => [name, changeMode] as const),
]);

const COPY: GetoptSpec = {
  short: 't:S:m:o:g:Z:',
  long: 'target-directory= suffix= mode= owner= group= backup=? update=? no-target-directory no-clobber recursive parents remove-destination remove-source-files delete dry-run rsh= exclude= include= link symbolic-link directory symbolic force',
};

/** A source and its new name: `cp a b/` makes `b/a`. */
interface Transfer {
  readonly from: string;
  readonly to: string;
}

function transfersOf(call: ProgramCall, options: Options, operands: readonly string[]): Transfer[] {
  const { machine, frame, name } = call;
  const folder = name === 'rsync' ? undefined : optionValue(options, 't', 'target-directory');
  const isPlain = hasOption(options, 'T', 'no-target-directory');
  const target = folder ?? operands.at(-1);
  const sources = folder === undefined ? operands.slice(0, -1) : operands;
  if (target === undefined) return [];
  if (sources.length === 0) return name === 'ln' ? [{ from: target, to: basename(target) }] : [];
  const path = machine.path(frame.scope, target);
  const inside =
    folder !== undefined ||
    sources.length > 1 ||
    (!isPlain && (target.endsWith('/') || (path !== undefined && machine.disk.isDirectory(path))));
  return sources.map((from) => {
    if (!inside) return { from, to: target };
    const keepsFolders =
      hasOption(options, 'parents', 'R', 'relative') && (name === 'cp' || name === 'rsync');
    // The contents of `dir/.` (for rsync: `dir/`) go directly into the target.
    if (/(?:^|\/)\.$/.test(from) || (name === 'rsync' && from.endsWith('/'))) return { from, to: target };
    return { from, to: `${target}/${keepsFolders ? from : basename(from)}` };
  });
}

function copy(call: ProgramCall): Status {
  const { machine, frame, name } = call;
  const options = parseOptions(call.args, name === 'rsync' ? { ...COPY, short: 'e:f:B:M:' } : COPY);
  const deletes = [...options.values.keys()].some((option) => option.startsWith('delete'));
  const isRecursive = hasOption(options, 'r', 'R', 'a', 'recursive', 'archive');
  const keeps = hasOption(options, 'n', 'no-clobber') && name === 'cp';
  if (name === 'rsync' && hasOption(options, 'n', 'dry-run')) return undefined;
  for (const { from, to } of transfersOf(call, options, options.operands)) {
    const source = machine.path(frame.scope, from);
    const target = machine.path(frame.scope, to);
    if (keeps && target !== undefined && machine.disk.exists(target)) continue;
    // cp(1) does not copy a file onto itself.
    if (source !== undefined && source === target) continue;
    const isFolder = source !== undefined && machine.disk.isDirectory(source);
    const linked = hasOption(options, 'l', 'link', 's', 'symbolic-link') && name === 'cp';
    if (isFolder && isRecursive && target !== undefined) copyTree(call, source, target, deletes);
    else if (!isFolder) {
      const written = machine.write(
        frame.scope,
        to,
        name,
        name !== 'rsync' && !hasOption(options, 'remove-destination'),
      );
      if (written !== undefined && source !== undefined) follow(call, linked, source, written);
    }
    if (hasOption(options, 'remove-source-files')) machine.remove(frame.scope, from, name);
  }
  return undefined;
}

function follow({ machine }: ProgramCall, linked: boolean, source: string, written: string): void {
  const text = machine.disk.text(source);
  if (linked) machine.disk.link(written, source);
  else if (text !== undefined) machine.disk.setText(written, { text });
}

/** Records the guarded files that a copied tree hits: those with a counterpart in the source; with `--delete`, all. */
function copyTree({ machine, frame, name }: ProgramCall, from: string, to: string, deletes: boolean): void {
  machine.changesBelow(to);
  for (const path of machine.disk.world.watched(to)) {
    const hasCounterpart = machine.disk.exists(from + path.slice(to.length));
    if (hasCounterpart || deletes) machine.write(frame.scope, path, name);
  }
  machine.disk.addFolder(to);
}

function move(call: ProgramCall): Status {
  const { machine, frame, name } = call;
  const options = parseOptions(call.args, COPY);
  const keeps = hasOption(options, 'n', 'no-clobber');
  for (const { from, to } of transfersOf(call, options, options.operands)) {
    const target = machine.path(frame.scope, to, false);
    if (keeps && target !== undefined && machine.disk.exists(target)) continue;
    const source = machine.remove(frame.scope, from, name);
    machine.write(frame.scope, to, name, false);
    if (source !== undefined && target !== undefined) machine.disk.link(target, source);
  }
  return undefined;
}

function install(call: ProgramCall): Status {
  const options = parseOptions(call.args, COPY);
  if (hasOption(options, 'd', 'directory')) return makeFolders(call);
  for (const { to } of transfersOf(call, options, options.operands)) {
    call.machine.write(call.frame.scope, to, call.name, false);
  }
  return undefined;
}

function link(call: ProgramCall): Status {
  const { machine, frame } = call;
  const options = parseOptions(call.args, COPY);
  const isSymbolic = hasOption(options, 's', 'symbolic');
  const isForced = hasOption(options, 'f', 'force', 'b', 'backup');
  for (const { from, to } of transfersOf(call, options, options.operands)) {
    const target = machine.path(frame.scope, to, false);
    // Without `-f`, ln(1) replaces no file.
    if (!isForced && target !== undefined && machine.disk.exists(target)) continue;
    const path = machine.write(frame.scope, to, 'ln', false);
    if (path === undefined || !isKnown(from)) continue;
    const folder = path.slice(0, path.lastIndexOf('/')) || '/';
    const source = isSymbolic ? machine.disk.resolve(folder, from, true) : machine.path(frame.scope, from);
    if (source !== undefined) machine.disk.link(path, source);
  }
  return true;
}

function makeFolders({ args, frame, machine }: ProgramCall): Status {
  const { operands } = parseOptions(args, { short: 'm:o:g:', long: 'mode=' });
  for (const word of operands) {
    const path = machine.path(frame.scope, word);
    for (let folder = path ?? '/'; folder !== '/'; folder = folder.slice(0, folder.lastIndexOf('/')) || '/') {
      machine.disk.addFolder(folder);
    }
  }
  return true;
}

/** The programs that copy, move and link files, and make folders. */
export const TRANSFER_PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...['cp', 'rsync'].map((name) => [name, copy] as const),
  ['mv', move],
  ['install', install],
  ['ln', link],
  ['link', link],
  ['mkdir', makeFolders],
]);

/** Tells which words of a program's command line name files that it changes. */
interface Writer extends GetoptSpec {
  /** The options whose value names a file that the program writes. */
  readonly output?: readonly string[];
  /** The operands that the program changes: all, or all but the first. */
  readonly operands?: 'all' | 'rest';
  /** Operands are changed only if one of these options is given (`-i`, `--write`). */
  readonly when?: readonly string[];
  /** Operands are not changed if one of these options is given (`--check`). */
  readonly unless?: readonly string[];
  readonly kind?: 'write' | 'remove';
  /** Whether the program replaces the file, and so does not write through a symbolic link. */
  readonly replaces?: boolean;
}

const FORMATTER = { operands: 'all', replaces: true, long: 'config= ext= ignore-path=' } as const;
const COMPRESSOR: Writer = {
  short: 'S:T:M:b:o:p:',
  long: 'suffix= output=? threads= memory=',
  operands: 'all',
  unless: ['c', 'stdout', 'to-stdout', 'l', 'list', 't', 'test', 'k', 'keep', 'V', 'h'],
  kind: 'remove',
};

/** The programs whose options and operands tell what they change. */
const WRITERS: readonly (readonly [names: string, writer: Writer])[] = [
  ['truncate', { short: 's:r:', long: 'size= reference=', operands: 'all' }],
  ['shred', { short: 'n:s:', long: 'iterations= size= random-source=', operands: 'all' }],
  ['unlink', { operands: 'all', kind: 'remove' }],
  ['sponge dos2unix unix2dos fallocate', { short: 'l:o:', operands: 'all' }],
  [
    'curl',
    {
      short: 'o:D:c:A:b:d:e:E:F:H:m:T:u:U:w:x:X:r:K:Y:y:z:C:P:Q:t:',
      long: 'output= dump-header= cookie-jar= data= header= request= user=',
      output: ['o', 'output', 'D', 'dump-header', 'c', 'cookie-jar'],
    },
  ],
  [
    'wget',
    {
      short: 'O:o:a:P:U:t:T:e:i:Q:A:R:D:I:X:',
      long: 'output-document= output-file= append-output= directory-prefix= header= user-agent=',
      output: ['O', 'output-document', 'o', 'output-file', 'a', 'append-output'],
    },
  ],
  ['yq', { ...FORMATTER, when: ['i', 'inplace', 'in-place'], short: 'I:o:p:' }],
  ['gcc cc g++ c++ clang clang++ ld as rustc swiftc', { short: 'o:I:L:l:D:x:std:', output: ['o'] }],
  ['gzip gunzip bzip2 bunzip2 xz unxz', COMPRESSOR],
  ['prettier eslint biome rubocop standard', { ...FORMATTER, when: ['w', 'write', 'fix', 'a', 'A'] }],
  [
    'black isort gofumpt rustfmt mdformat autoflake yapf',
    { ...FORMATTER, unless: ['check', 'diff', 'c', 'd'] },
  ],
  ['gofmt goimports shfmt', { ...FORMATTER, when: ['w'] }],
  ['clang-format autopep8', { ...FORMATTER, when: ['i', 'in-place'] }],
  ['sd', { ...FORMATTER, operands: 'rest', unless: ['p', 'preview'] }],
  ['rename prename', { operands: 'rest', kind: 'remove', unless: ['n', 'nono'] }],
];

function programOf(writer: Writer): Program {
  return (call) => {
    const { args, frame, machine, name } = call;
    const options = parseOptions(args, writer);
    frame.output.add(UNKNOWN);
    for (const word of optionValues(options, ...(writer.output ?? [])))
      if (word !== '-') machine.write(frame.scope, word, name);
    const isActive = writer.when === undefined || hasOption(options, ...writer.when);
    if (!isActive || hasOption(options, ...(writer.unless ?? []))) return undefined;
    const { operands } = options;
    const chosen = writer.operands === 'rest' ? operands.slice(1) : writer.operands === 'all' ? operands : [];
    for (const word of chosen.filter((one) => one !== '-')) {
      if (writer.kind === 'remove') machine.remove(frame.scope, word, name);
      else machine.write(frame.scope, word, name, writer.replaces !== true);
      // `gunzip x.gz` also makes `x`.
      const plain = word.replace(/\.(?:gz|bz2|xz|tgz)$/, '');
      if (writer === COMPRESSOR && plain !== word) machine.write(frame.scope, plain, name, false);
    }
    return undefined;
  };
}

/** The programs of `WRITERS`, by name. */
export const WRITER_PROGRAMS: ReadonlyMap<string, Program> = new Map(
  WRITERS.flatMap(([names, writer]) => names.split(' ').map((name) => [name, programOf(writer)] as const)),
);
