import { UNKNOWN, isKnown } from '../effects.ts';
import type { Program, Shell, Status } from '../machine.ts';
import {
  byName,
  hasOption,
  optionValue,
  parseOptions,
  type Options,
  type GetoptSpec,
  optionValues,
} from '../options.ts';
import { basename, dirname } from '../disk.ts';

function remove(shell: Shell, args: readonly string[]): Status {
  const options = parseOptions(args, { long: 'recursive force interactive=? verbose dir' });
  const isRecursive = hasOption(options, 'r', 'R', 'recursive');
  for (const word of options.operands) {
    // rm(1) refuses `.` and `..`, in whatever spelling.
    if (/(?:^|\/)\.\.?\/*$/.test(word)) continue;
    const path = shell.path(word, false);
    const isFolder = path !== undefined && !isRecursive && shell.machine.disk.isDirectory(path);
    // Without `-r`, rm(1) keeps a folder, but removes a link to one.
    if (isFolder && shell.machine.disk.world.readLink(path) === undefined) continue;
    shell.remove(word, 'rm');
  }
  return true;
}

/** Handles `touch`, which changes no content: it only creates a missing file. */
function touch(shell: Shell, args: readonly string[]): Status {
  const options = parseOptions(args, { short: 'd:r:t:A:', long: 'date= reference= time=' });
  if (hasOption(options, 'c', 'no-create', 'h')) return true;
  for (const word of options.operands) {
    if (!shell.exists(word)) shell.write(word, 'touch');
  }
  return true;
}

/** Handles `mktemp -d`, so that changes in the new folder do not count as changes here. We make up the folder's name. */
function makeTemporary(shell: Shell, args: readonly string[]): Status {
  const options = parseOptions(args, { short: 'p:', long: 'directory quiet suffix= tmpdir=' });
  const template = hasOption(options, 't') ? undefined : options.operands[0];
  let path = template ?? `${shell.text('TMPDIR') ?? '/tmp'}/tmp.`;
  const isPlaced = path.startsWith('/') && !hasOption(options, 'p', 'tmpdir');
  const isFolder = isPlaced && hasOption(options, 'd', 'directory');
  while (isFolder && shell.machine.disk.exists(path)) path += 'X';
  if (isFolder) shell.machine.disk.addFolder(path);
  else shell.changesBelow(shell.cwd);
  shell.print(isFolder ? `${path}\n` : UNKNOWN);
  return true;
}

function dd(shell: Shell, args: readonly string[]): Status {
  if (!args.some((word) => word.startsWith('of='))) shell.print(UNKNOWN);
  // dd(1) uses the last `of=`.
  const output = args.findLast((word) => word.startsWith('of='));
  if (output !== undefined) shell.write(output.slice(3), 'dd');
  return undefined;
}

/** Handles `tar`: the archive that it writes, what `--remove-files` removes, and what it extracts. */
function tar(shell: Shell, [first = '', ...rest]: readonly string[], name: string): Status {
  const options = parseOptions([/^[A-Za-z]+$/.test(first) ? `-${first}` : first, ...rest], {
    short: 'f:C:T:X:b:H:g:K:L:N:V:I:',
    long: 'file= directory= files-from= exclude= to-command= transform= strip-components= use-compress-program= remove-files',
  });
  const archive = optionValue(options, 'f', 'file');
  const packs = hasOption(options, 'c', 'r', 'u', 'A', 'create', 'append', 'update');
  if (packs && archive !== undefined && archive !== '-') shell.write(archive, 'tar');
  shell.print(UNKNOWN);
  if (hasOption(options, 'remove-files')) for (const word of options.operands) shell.remove(word, 'tar');
  if (!hasOption(options, 'x', 'extract', 'get') || hasOption(options, 'O', 'to-stdout')) return undefined;
  const folder = optionValue(options, 'C', 'directory') ?? '.';
  const isMoved = hasOption(options, 'transform', 'strip-components', 'T', 'files-from', 's');
  const members = isMoved ? [] : options.operands;
  for (const word of members) shell.write(`${folder}/${word}`, 'tar', false);
  if (!hasOption(options, 'k', 'keep-old-files', 'skip-old-files'))
    unpack(shell, name, folder, members, 'tar -x -f <archive> -- <path>');
  return undefined;
}

/** Records what unpacking an archive may change: anything in the folder or, if members are named, only those. */
function unpack(shell: Shell, by: string, folder: string, members: readonly string[], instead: string) {
  const folders = members.length === 0 ? [folder] : members.map((word) => `${folder}/${word}`);
  for (const path of folders) shell.addUnnamedWrites(path, { by, instead });
}

function unzip(shell: Shell, args: readonly string[], name: string): Status {
  shell.print(UNKNOWN);
  const options = parseOptions(args, { short: 'd:x:P:' });
  if (hasOption(options, 'l', 'p', 't', 'v', 'Z', 'n')) return undefined;
  const [, ...members] = hasOption(options, 'j') ? [] : options.operands;
  const folder = optionValue(options, 'd') ?? '.';
  for (const word of members) shell.write(`${folder}/${word}`, name, false);
  unpack(shell, name, folder, members, 'unzip <archive> <path>');
  return undefined;
}

/** Handles `chmod`, `chown` …: no content changes, but git records a part of the mode, and a hook must be executable to run. */
function changeMode(shell: Shell, args: readonly string[], name: string): Status {
  const grants = name === 'chmod' && args.some((word) => /^[ugoa]*\+[rwxXst]+$|^0?[57][0-7]{2}$/.test(word));
  // A mode may look like an option (`-x`). Only `-R` and the like, and words with two dashes, are options.
  const words = args.filter((word) => !/^-(?:[Rcfv]+$|-.)/.test(word) && word !== '--');
  const isLike = args.some((word) => word.startsWith('--reference'));
  for (const word of words.slice(isLike ? 0 : 1)) {
    const path = shell.path(word);
    if (path !== undefined) shell.machine.found.modes.push({ path, grants });
  }
  return undefined;
}

const COPY: GetoptSpec = {
  short: 't:S:m:o:g:Z:',
  long: 'target-directory= suffix= mode= owner= group= backup=? update=? no-target-directory no-clobber recursive parents remove-destination remove-source-files delete dry-run rsh= exclude= include= link symbolic-link directory symbolic force',
};

/** A source and its new name: `cp a b/` makes `b/a`. */
interface Transfer {
  readonly from: string;
  readonly to: string;
}

function transfersOf(shell: Shell, name: string, options: Options): Transfer[] {
  const folder = name === 'rsync' ? undefined : optionValue(options, 't', 'target-directory');
  const isPlain = hasOption(options, 'T', 'no-target-directory');
  const { operands } = options;
  const target = folder ?? operands.at(-1);
  const sources = folder === undefined ? operands.slice(0, -1) : operands;
  if (target === undefined) return [];
  if (sources.length === 0) return name === 'ln' ? [{ from: target, to: basename(target) }] : [];
  const inside =
    folder !== undefined ||
    sources.length > 1 ||
    (!isPlain && (target.endsWith('/') || shell.isFolder(target)));
  return sources.map((from) => {
    if (!inside) return { from, to: target };
    const keepsFolders =
      hasOption(options, 'parents', 'R', 'relative') && (name === 'cp' || name === 'rsync');
    // The contents of `dir/.` (for rsync: `dir/`) go directly into the target.
    if (/(?:^|\/)\.$/.test(from) || (name === 'rsync' && from.endsWith('/'))) return { from, to: target };
    return { from, to: `${target}/${keepsFolders ? from : basename(from)}` };
  });
}

function copy(shell: Shell, args: readonly string[], name: string): Status {
  const options = parseOptions(args, name === 'rsync' ? { ...COPY, short: 'e:f:B:M:' } : COPY);
  const deletes = [...options.values.keys()].some((option) => option.startsWith('delete'));
  const isRecursive = hasOption(options, 'r', 'R', 'a', 'recursive', 'archive');
  const keeps = hasOption(options, 'n', 'no-clobber') && name === 'cp';
  if (name === 'rsync' && hasOption(options, 'n', 'dry-run')) return undefined;
  for (const { from, to } of transfersOf(shell, name, options)) {
    const source = shell.path(from);
    const target = shell.path(to);
    if (keeps && shell.exists(to)) continue;
    // cp(1) does not copy a file onto itself.
    if (source !== undefined && source === target) continue;
    const isFolder = source !== undefined && shell.machine.disk.isDirectory(source);
    const linked = hasOption(options, 'l', 'link', 's', 'symbolic-link') && name === 'cp';
    if (isFolder && isRecursive && target !== undefined) copyTree(shell, name, source, target, deletes);
    else if (!isFolder) {
      const follows = name !== 'rsync' && !hasOption(options, 'remove-destination');
      const written = shell.write(to, name, follows);
      if (written !== undefined && source !== undefined) follow(shell, linked, source, written);
    }
    if (hasOption(options, 'remove-source-files')) shell.remove(from, name);
  }
  return undefined;
}

function follow({ machine: { disk } }: Shell, linked: boolean, source: string, written: string): void {
  const text = disk.text(source);
  if (linked) disk.link(written, source);
  else if (text !== undefined) disk.setText(written, { text });
}

/** Records the guarded files that copying a tree replaces: those with a counterpart in the source or, with `--delete`, all. */
function copyTree(shell: Shell, by: string, from: string, to: string, deletes: boolean): void {
  const { disk } = shell.machine;
  shell.changesBelow(to);
  for (const path of disk.world.watched(to)) {
    const hasCounterpart = disk.exists(from + path.slice(to.length));
    if (hasCounterpart || deletes) shell.write(path, by);
  }
  disk.addFolder(to);
}

function move(shell: Shell, args: readonly string[], name: string): Status {
  const options = parseOptions(args, COPY);
  const keeps = hasOption(options, 'n', 'no-clobber');
  for (const { from, to } of transfersOf(shell, name, options)) {
    const target = shell.path(to, false);
    if (keeps && shell.exists(to, false)) continue;
    const source = shell.remove(from, name);
    shell.write(to, name, false);
    if (source !== undefined && target !== undefined) shell.machine.disk.link(target, source);
  }
  return undefined;
}

function install(shell: Shell, args: readonly string[], name: string): Status {
  const options = parseOptions(args, COPY);
  if (hasOption(options, 'd', 'directory')) return makeFolders(shell, args);
  for (const { to } of transfersOf(shell, name, options)) shell.write(to, name, false);
  return undefined;
}

function link(shell: Shell, args: readonly string[], name: string): Status {
  const { disk } = shell.machine;
  const options = parseOptions(args, COPY);
  const isSymbolic = hasOption(options, 's', 'symbolic');
  const isForced = hasOption(options, 'f', 'force', 'b', 'backup');
  for (const { from, to } of transfersOf(shell, name, options)) {
    // Without `-f`, ln(1) replaces no file.
    if (!isForced && shell.exists(to, false)) continue;
    const path = shell.write(to, 'ln', false);
    if (path === undefined || !isKnown(from)) continue;
    const source = isSymbolic ? disk.resolve(dirname(path), from, true) : shell.path(from);
    if (source !== undefined) disk.link(path, source);
  }
  return true;
}

function makeFolders(shell: Shell, args: readonly string[]): Status {
  const { operands } = parseOptions(args, { short: 'm:o:g:', long: 'mode=' });
  for (const word of operands)
    for (let folder = shell.path(word) ?? '/'; folder !== '/'; folder = dirname(folder))
      shell.machine.disk.addFolder(folder);
  return true;
}

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

const WRITERS = byName<Writer>({
  truncate: { short: 's:r:', long: 'size= reference=', operands: 'all' },
  shred: { short: 'n:s:', long: 'iterations= size= random-source=', operands: 'all' },
  unlink: { operands: 'all', kind: 'remove' },
  'sponge dos2unix unix2dos fallocate': { short: 'l:o:', operands: 'all' },
  curl: {
    short: 'o:D:c:A:b:d:e:E:F:H:m:T:u:U:w:x:X:r:K:Y:y:z:C:P:Q:t:',
    long: 'output= dump-header= cookie-jar= data= header= request= user=',
    output: ['o', 'output', 'D', 'dump-header', 'c', 'cookie-jar'],
  },
  wget: {
    short: 'O:o:a:P:U:t:T:e:i:Q:A:R:D:I:X:',
    long: 'output-document= output-file= append-output= directory-prefix= header= user-agent=',
    output: ['O', 'output-document', 'o', 'output-file', 'a', 'append-output'],
  },
  yq: { ...FORMATTER, when: ['i', 'inplace', 'in-place'], short: 'I:o:p:' },
  'gcc cc g++ c++ clang clang++ ld as rustc swiftc': { short: 'o:I:L:l:D:x:std:', output: ['o'] },
  'gzip gunzip bzip2 bunzip2 xz unxz': COMPRESSOR,
  'prettier eslint biome rubocop standard': { ...FORMATTER, when: ['w', 'write', 'fix', 'a', 'A'] },
  'black isort gofumpt rustfmt mdformat autoflake yapf': {
    ...FORMATTER,
    unless: ['check', 'diff', 'c', 'd'],
  },
  'gofmt goimports shfmt': { ...FORMATTER, when: ['w'] },
  'clang-format autopep8': { ...FORMATTER, when: ['i', 'in-place'] },
  sd: { ...FORMATTER, operands: 'rest', unless: ['p', 'preview'] },
  'rename prename': { operands: 'rest', kind: 'remove', unless: ['n', 'nono'] },
});

function programOf(writer: Writer): Program {
  return (shell, args, name) => {
    const options = parseOptions(args, writer);
    shell.print(UNKNOWN);
    for (const word of optionValues(options, ...(writer.output ?? [])))
      if (word !== '-') shell.write(word, name);
    const isActive = writer.when === undefined || hasOption(options, ...writer.when);
    if (!isActive || hasOption(options, ...(writer.unless ?? []))) return undefined;
    const { operands } = options;
    const chosen = writer.operands === 'rest' ? operands.slice(1) : writer.operands === 'all' ? operands : [];
    for (const word of chosen.filter((one) => one !== '-')) {
      if (writer.kind === 'remove') shell.remove(word, name);
      else shell.write(word, name, writer.replaces !== true);
      // `gunzip x.gz` also makes `x`.
      const plain = word.replace(/\.(?:gz|bz2|xz|tgz)$/, '');
      if (writer === COMPRESSOR && plain !== word) shell.write(plain, name, false);
    }
    return undefined;
  };
}

export const FILE_PROGRAMS: ReadonlyMap<string, Program> = new Map([
  ...[...WRITERS].map(([name, writer]) => [name, programOf(writer)] as const),
  ...byName<Program>({
    'rm trash trash-put': remove,
    rmdir: () => true,
    touch,
    dd,
    mktemp: makeTemporary,
    mkdir: makeFolders,
    'cp rsync': copy,
    mv: move,
    install,
    'ln link': link,
    'tar bsdtar': tar,
    unzip,
    'chmod chown chgrp chattr setfacl': changeMode,
  }),
]);
