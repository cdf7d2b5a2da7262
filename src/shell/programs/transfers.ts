import { basename } from '../disk.ts';
import { isKnown } from '../effects.ts';
import type { Program, ProgramCall, Status } from '../machine.ts';
import { hasOption, optionValue, parseOptions, type Options, type GetoptSpec } from '../options.ts';

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
  const folder = optionValue(options, 't', 'target-directory');
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
  const options = parseOptions(call.args, COPY);
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
    if (isFolder) copyTree(call, source, target, isRecursive, hasOption(options, 'delete', 'delete-after'));
    else {
      const written = machine.write(
        frame.scope,
        to,
        name,
        name !== 'rsync' && !hasOption(options, 'remove-destination'),
      );
      if (written !== undefined && source !== undefined) follow(call, linked, source, written);
    }
    if (name === 'rsync' && hasOption(options, 'remove-source-files'))
      machine.remove(frame.scope, from, name);
  }
  return undefined;
}

function follow({ machine }: ProgramCall, linked: boolean, source: string, written: string): void {
  const text = machine.disk.text(source);
  if (linked) machine.disk.link(written, source);
  else if (text !== undefined) machine.disk.setText(written, { text });
}

/** Records the guarded files that a copied tree hits: those with a counterpart in the source; with `--delete`, all. */
function copyTree(
  call: ProgramCall,
  from: string,
  to: string | undefined,
  recursive: boolean,
  deletes: boolean,
): void {
  const { machine, frame } = call;
  if (!recursive || to === undefined) return;
  machine.changesBelow(to);
  for (const path of machine.disk.world.watched(to)) {
    const hasCounterpart = machine.disk.exists(from + path.slice(to.length));
    if (hasCounterpart || deletes) machine.write(frame.scope, path, call.name);
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
