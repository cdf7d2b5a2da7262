import type { HereDoc, Redirect, Redirection } from 'unbash';
import { UNKNOWN } from './effects.ts';
import { CommandInput, CommandOutput, type Frame, type ShellMachine } from './machine.ts';
import { expandBody, expandFields, expandText } from './words.ts';

/** Opens a command's redirections in order: records the files that it creates, and sets what it reads and prints to. */
export function applyRedirects(
  machine: ShellMachine,
  redirects: readonly Redirection[],
  frame: Frame,
): Frame {
  let inner = frame;
  for (const redirect of redirects) {
    const { descriptor } = redirect;
    const number = descriptor?.type === 'FileDescriptor' ? descriptor.value : undefined;
    if (redirect.type === 'Redirect') {
      if (redirect.target === undefined) continue;
      inner = openFile(machine, redirect, descriptor === undefined ? undefined : (number ?? -1), inner);
    } else {
      const text = redirect.type === 'HereDoc' ? bodyText(machine, redirect, frame) : undefined;
      const word = redirect.type === 'HereString' ? redirect.target : undefined;
      const read = text ?? (word === undefined ? UNKNOWN : `${expandText(machine, word, frame)}\n`);
      if (descriptor === undefined || number === 0) inner = { ...inner, input: new CommandInput(read) };
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

/** @param number the given descriptor; negative when the shell chooses one */
function openFile(
  machine: ShellMachine,
  redirect: Redirect,
  number: number | undefined,
  frame: Frame,
): Frame {
  const { operator } = redirect;
  const { scope } = frame;
  const word = targetWord(machine, redirect, frame);
  if (word === undefined) return frame;
  if (operator === '<') {
    if ((number ?? 0) !== 0) return frame;
    const path = machine.path(scope, word);
    const text = path === undefined ? undefined : machine.disk.text(path);
    return { ...frame, input: new CommandInput(text ?? UNKNOWN, path) };
  }
  if (operator === '<>') {
    // To open for both, without truncation, changes nothing by itself. Only descriptor 0 is never written to.
    if ((number ?? 0) !== 0) machine.write(scope, word, '<>');
    return frame;
  }
  if (operator === '<&') return (number ?? 0) === 0 ? { ...frame, input: new CommandInput(UNKNOWN) } : frame;
  // The target is another descriptor, whose file was recorded when it was opened.
  if (operator === '>&' && /^\d*-?$/.test(word))
    return (number ?? 1) === 1 && word !== '1' ? { ...frame, output: new CommandOutput() } : frame;
  const path = machine.write(scope, word, operator);
  if ((number ?? 1) !== 1) return frame;
  const output = new CommandOutput();
  if (path === undefined) return { ...frame, output };
  if (operator.endsWith('>>'))
    output.add(machine.disk.text(path) ?? (machine.disk.exists(path) ? UNKNOWN : ''));
  machine.disk.setText(path, output);
  return { ...frame, output };
}

/** Returns the target as one word. For a pattern with several matches bash reports an error and writes nothing. */
function targetWord(machine: ShellMachine, redirect: Redirect, frame: Frame): string | undefined {
  const { target } = redirect;
  if (target?.parts === undefined) return target && expandText(machine, target, frame);
  const fields = expandFields(machine, target, frame);
  return fields.length === 1 ? fields[0] : undefined;
}
