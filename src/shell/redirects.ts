import type { HereDoc, Redirect, Redirection } from 'unbash';
import { CommandInput, CommandOutput, type Frame, type ShellMachine } from './machine.ts';
import { isKnown, UNKNOWN } from './unknown.ts';
import { expandBody, expandFields, expandText } from './words.ts';

const WRITES = new Set(['>', '>>', '>|', '&>', '&>>']);

/** Opens a command's redirections in order: files that come into being, and what the command reads and prints to. */
export function applyRedirects(
  machine: ShellMachine,
  redirects: readonly Redirection[],
  frame: Frame,
): Frame {
  let inner = frame;
  for (const redirect of redirects) {
    const { descriptor } = redirect;
    const number = descriptor?.type === 'FileDescriptor' ? descriptor.value : undefined;
    if (redirect.type !== 'Redirect') {
      const text = redirect.type === 'HereDoc' ? bodyText(machine, redirect, frame) : undefined;
      const word = redirect.type === 'HereString' ? redirect.target : undefined;
      const read = text ?? (word === undefined ? UNKNOWN : `${expandText(machine, word, frame)}\n`);
      if (descriptor === undefined || number === 0) inner = { ...inner, input: new CommandInput(read) };
    } else if (redirect.target !== undefined) {
      inner = openFile(machine, redirect, number, inner);
    }
  }
  return inner;
}

function bodyText(machine: ShellMachine, document: HereDoc, frame: Frame): string {
  const { body, delimiter } = document;
  let text = body.text;
  if (delimiter?.quoted !== true) {
    if (body.parts === undefined)
      text = text.replace(/\\([$`\\\n])/g, (_, char: string) => (char === '\n' ? '' : char));
    else text = expandBody(machine, body.parts, frame);
  }
  return document.operator === '<<-' ? text.replace(/^\t+/gm, '') : text;
}

function openFile(
  machine: ShellMachine,
  redirect: Redirect,
  number: number | undefined,
  frame: Frame,
): Frame {
  const { operator } = redirect;
  const word = targetWord(machine, redirect, frame);
  if (word === undefined) return frame;
  const isVariable = redirect.descriptor?.type === 'FileDescriptorVariable';
  if (operator === '<') {
    const path = remember(machine, frame, number ?? 0, machine.path(frame.scope, word));
    if (isVariable || (number ?? 0) !== 0) return frame;
    return {
      ...frame,
      input: new CommandInput((path === undefined ? undefined : machine.disk.text(path)) ?? UNKNOWN, path),
    };
  }
  if (operator === '<>') {
    const path = machine.path(frame.scope, word);
    remember(machine, frame, number ?? 0, path);
    // Opening for both without truncation changes nothing by itself; only descriptor 0 is never written to.
    if (isVariable || (number ?? 0) > 0) machine.write(frame.scope, word, '<>');
    return frame;
  }
  if (operator === '>&' || operator === '<&') {
    if (operator === '<&' || /^\d*-?$/.test(word)) return duplicated(machine, operator, number, word, frame);
  } else if (!WRITES.has(operator)) return frame;
  return openForWriting(machine, operator, isVariable ? -1 : number, word, frame);
}

/** The target as one word: a pattern with several matches is an error in bash, and nothing is written. */
function targetWord(machine: ShellMachine, redirect: Redirect, frame: Frame): string | undefined {
  const { target } = redirect;
  if (target?.parts === undefined) return target && expandText(machine, target, frame);
  const fields = expandFields(machine, target, frame);
  if (fields.length === 1) return fields[0];
  const isPattern = target.parts.some((part) => part.type === 'Glob' || part.type === 'BraceExpansion');
  return isPattern ? undefined : expandText(machine, target, frame);
}

function duplicated(
  machine: ShellMachine,
  operator: string,
  number: number | undefined,
  word: string,
  frame: Frame,
): Frame {
  const source = machine.value(frame.scope, ` fd${word}`);
  if (operator === '>&' && (number ?? 1) === 1) {
    if (word === '0' && typeof source === 'string') machine.write(frame.scope, source, '>&0');
    return word === '1' ? frame : { ...frame, output: new CommandOutput() };
  }
  if (operator === '<&' && (number ?? 0) === 0 && typeof source === 'string') {
    return { ...frame, input: new CommandInput(machine.disk.text(source) ?? UNKNOWN) };
  }
  return frame;
}

function remember(
  machine: ShellMachine,
  frame: Frame,
  number: number,
  path: string | undefined,
): string | undefined {
  // Only `/dev/fd/3`, `<&3` and the like ask for it, so that plain redirects leave the scope untouched.
  if (path !== undefined && machine.usesDescriptors) frame.scope.set(` fd${number}`, path);
  return path;
}

function openForWriting(
  machine: ShellMachine,
  operator: string,
  number: number | undefined,
  word: string,
  frame: Frame,
): Frame {
  const { scope } = frame;
  const keeps = operator === '>' || operator === '&>' || operator === '>&';
  if (keeps && machine.value(scope, ' noclobber') === 'on') {
    const path = machine.path(scope, word);
    if (path !== undefined && machine.disk.exists(path)) return frame;
  }
  const path = machine.write(scope, word, operator);
  remember(machine, frame, number ?? 1, path);
  const isOutput = (number ?? 1) === 1;
  if (!isOutput) return frame;
  const output = new CommandOutput();
  if (path === undefined) return { ...frame, output };
  if (operator.endsWith('>>'))
    output.add(machine.disk.text(path) ?? (machine.disk.exists(path) ? UNKNOWN : ''));
  machine.disk.setText(path, output);
  return { ...frame, output: isKnown(path) ? output : frame.output };
}
