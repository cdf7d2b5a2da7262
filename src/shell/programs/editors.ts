import type { ProgramCall, Status } from '../machine.ts';
import { hasOption, optionValues, parseOptions } from '../options.ts';
import { isKnown, UNKNOWN } from '../unknown.ts';
import { runChildShell } from './shells.ts';

/** Commands of ed, ex and vim that write the buffer, and those that write a file that they name. */
const WRITE_COMMAND =
  /^(?:silent!?\s+|[\d,$.%'<>])*(w|wq|wa|wqa|wall|x|xa|xit|exit|wn|up|update|saveas|sav|W)!?(?:\s+(\S.*))?$/;

/** What editor commands do: `null` stands for the file that is being edited. */
function editorWrites(text: string): { readonly files: (string | null)[]; readonly commands: string[] } {
  const files: (string | null)[] = [];
  const commands: string[] = [];
  for (const line of text.split('\n').flatMap((part) => part.split('|'))) {
    const command = line.trim().replace(/^:+/, '');
    const written = WRITE_COMMAND.exec(command);
    if (written !== null) {
      const target = written[2];
      if (target?.startsWith('!') === true) commands.push(target.slice(1));
      else files.push(target === undefined ? null : target.replace(/^>>\s*/, ''));
    }
    const shell = /^(?:silent!?\s+)?[\d,$.%]*!(.*)$/.exec(command)?.[1];
    if (shell !== undefined) commands.push(shell);
    files.push(...writtenByCalls(command));
  }
  return { files, commands };
}

/** Files that `writefile(…, 'file')` and `delete('file')` name. */
function writtenByCalls(command: string): string[] {
  const deleted = /\bdelete\(\s*['"]([^'"]+)['"]/.exec(command)?.[1];
  const written = /\bwritefile\(/.exec(command) === null ? [] : command.split(',').slice(1);
  const named = written
    .map((word) => /^\s*['"]([^'"]+)['"]/.exec(word)?.[1])
    .findLast((name) => name !== undefined);
  return [deleted, named].filter((name) => name !== undefined);
}

function applyEditor(call: ProgramCall, text: string, operands: readonly string[], by: string): void {
  const { machine, frame } = call;
  const { files, commands } = editorWrites(text);
  for (const file of files) {
    for (const word of file === null ? operands : [file]) machine.write(frame.scope, word, by);
  }
  for (const command of commands) runChildShell(call, command);
}

/** `ed` takes its commands from the input; input that is not known is taken to write. */
export function ed(call: ProgramCall): Status {
  const { operands } = parseOptions(call.args, { short: 'p:', long: 'prompt= silent quiet' });
  const text = call.frame.input.rest;
  applyEditor(call, isKnown(text) ? withoutInserted(text) : 'w', operands, call.name);
  return undefined;
}

/** Text that is inserted ends at a line with a dot, and may say anything. */
function withoutInserted(text: string): string {
  const lines = text.split('\n');
  const lastDot = lines.lastIndexOf('.');
  const kept: string[] = [];
  let isInserted = false;
  for (const [n, line] of lines.entries()) {
    if (isInserted) isInserted = line !== '.';
    else if (n < lastDot && /^[\d,$./]*[aic]$/.test(line)) isInserted = true;
    else kept.push(line);
  }
  return kept.join('\n');
}

/** Commands of its options, and of its input in ex mode. */
export function vim(call: ProgramCall): Status {
  const { machine, frame, name } = call;
  const args = call.args.map((word) => (/^-(?:es|Es|e|E)$/.test(word) ? '-e' : word));
  const plus = args.filter((word) => word.startsWith('+')).map((word) => word.slice(1));
  const options = parseOptions(
    args.filter((word) => !word.startsWith('+')),
    { short: 'c:S:u:U:i:T:t:W:w:o::O::p::', long: 'cmd= startuptime= log=' },
  );
  if (hasOption(options, 'R', 'M') && name !== 'ex') return undefined;
  const commands = [...optionValues(options, 'c', 'cmd'), ...plus];
  const reads = hasOption(options, 'e', 's') || name === 'ex';
  if (reads && isKnown(frame.input.rest)) commands.push(...frame.input.rest.split('\n'));
  else if (hasOption(options, 'S', 's') && commands.length === 0) {
    machine.unsure = true;
    if (reads && frame.input.rest === UNKNOWN) commands.push('w');
  }
  applyEditor(call, commands.join('\n'), options.operands, name);
  return undefined;
}

/** `sqlite3`: dot commands and SQL functions that write files. */
export function sqlite(call: ProgramCall): Status {
  const { machine, frame } = call;
  const [database, ...rest] = call.args.filter(
    (word, n, all) => !/^-/.test(word) || /^-cmd$/.test(all[n - 1] ?? ''),
  );
  const text = [...rest, ...(rest.length === 0 ? [frame.input.rest] : [])].join('\n');
  const dots =
    /^[ \t]*\.(?:output|once|backup|save|log|clone|excel|trace|dump>)\s+(?:-\w+\s+)*(?:main\s+)?['"]?([^'"\n]+)/gm;
  for (const found of text.matchAll(dots)) {
    const file = found[1]?.trim() ?? '';
    if (file.startsWith('|')) runChildShell(call, file.slice(1));
    else if (!/^(?:stdout|off)$/.test(file)) machine.write(frame.scope, file, 'sqlite3');
  }
  for (const found of text.matchAll(/^[ \t]*\.(?:shell|system)[ \t]+(.+)$/gm))
    runChildShell(call, found[1] ?? '');
  for (const found of text.matchAll(
    /(?:\bwritefile\s*\(\s*|\binto\s+|\battach\s+(?:database\s+)?)'([^']+)'/gi,
  )) {
    machine.write(frame.scope, found[1] ?? '', 'sqlite3');
  }
  frame.output.add(UNKNOWN);
  const isWritten = /\b(?:create|insert|update|delete|drop|alter|replace|vacuum)\b/i.test(text);
  if (isWritten && database !== undefined && !/^:memory:$|^$/.test(database)) {
    machine.write(frame.scope, database, 'sqlite3');
  }
  return undefined;
}
