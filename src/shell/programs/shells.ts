import { CommandInput, type ProgramCall, type Frame, type Program, type Status } from '../machine.ts';
import { hasOption, parseOptions } from '../options.ts';
import { POSITIONAL } from '../scope.ts';
import { isKnown } from '../unknown.ts';

const SHELLS = ['sh', 'bash', 'zsh', 'dash', 'ksh', 'mksh', 'ash', 'rbash', 'fish'];

/** Runs script text as a child shell would: only exported variables, its own folder, its own words. */
export function runChildShell(call: ProgramCall, text: string, words: readonly string[] = []): Status {
  const { machine } = call;
  if (!isKnown(text)) machine.unsure = true;
  const frame = childFrame(call.frame);
  const [zero = 'sh', ...rest] = words;
  frame.scope.set(' zero', zero);
  frame.scope.set(POSITIONAL, new Map(rest.map((word, n) => [String(n + 1), word])));
  return machine.within({ loops: 0, calls: 0 }, () => machine.run.script(machine, text, frame));
}

function childFrame(frame: Frame): Frame {
  return { ...frame, scope: frame.scope.process() };
}

/** `sh -c text [$0 [$1 …]]`, `sh file`, `sh -s` and `… | sh`. */
function shell(call: ProgramCall): Status {
  const { machine, frame } = call;
  const args = call.args.map((word) => (/^\+[A-Za-z]/.test(word) ? `-${word.slice(1)}` : word));
  const options = parseOptions(args, { short: 'o:O:', long: 'rcfile= init-file=', stops: true });
  const [first, ...rest] = options.operands;
  if (hasOption(options, 'n')) return undefined;
  if (hasOption(options, 'c', 'command')) return runChildShell(call, first ?? '', rest);
  if (first === undefined || hasOption(options, 's')) {
    const text = frame.input.rest;
    frame.input.rest = '';
    return runChildShell({ ...call, frame: { ...frame, input: new CommandInput('') } }, text, [
      'sh',
      ...options.operands,
    ]);
  }
  const path = machine.path(frame.scope, first);
  const text = first === '/dev/stdin' || first === '-' ? frame.input.rest : path && machine.disk.text(path);
  if (text === undefined) {
    machine.unsure = true;
    machine.changesBelow(machine.cwd(frame.scope));
    return undefined;
  }
  return runChildShell(call, text, [first, ...rest]);
}

export const SHELL_PROGRAMS: ReadonlyMap<string, Program> = new Map(
  SHELLS.map((name) => [name, shell] as const),
);
