import { patchedFiles } from '../../domain/patch.ts';
import { isKnown } from '../effects.ts';
import type { Program, ProgramCall, Status } from '../machine.ts';
import { hasOption, optionValue, parseOptions } from '../options.ts';
import { filterInput } from './filters.ts';

/** Returns the files that a patch names. */
export function diffPaths(text: string, strip: number): string[] {
  const names = [...text.matchAll(/^(?:\+\+\+|---|rename (?:from|to)) ([^\t\n]+)/gm)].map(
    (found) => found[1] ?? '',
  );
  return names.filter((name) => name !== '/dev/null').map((name) => name.split('/').slice(strip).join('/'));
}

function patch(call: ProgramCall): Status {
  const { machine, frame } = call;
  const options = parseOptions(call.args, {
    short: 'd:D:F:g:i:o:p:r:V:Y:z:B:',
    long: 'directory= input= output= strip= reject-file= dry-run fuzz= suffix= prefix=',
  });
  if (hasOption(options, 'dry-run', 'C')) return undefined;
  const output = optionValue(options, 'o', 'output');
  const folder = optionValue(options, 'd', 'directory');
  const place = (word: string) => (folder === undefined || word.startsWith('/') ? word : `${folder}/${word}`);
  const [target, diff] = options.operands;
  const rejected = optionValue(options, 'r', 'reject-file');
  if (rejected !== undefined) machine.write(frame.scope, place(rejected), 'patch');
  if (output !== undefined) machine.write(frame.scope, place(output), 'patch');
  else if (target !== undefined) machine.write(frame.scope, place(target), 'patch', false);
  else {
    const file = optionValue(options, 'i', 'input') ?? diff;
    const text = filterInput(call, file === undefined ? [] : [file]);
    const strip = Number(optionValue(options, 'p', 'strip') ?? NaN);
    if (!isKnown(text)) {
      const source = file === undefined ? frame.input.file : machine.path(frame.scope, file);
      const patch = { file: source ?? '', strip: Number.isNaN(strip) ? undefined : strip };
      const instead = 'patch <path> <patch file>';
      const more = source === undefined ? {} : { patch };
      machine.addUnnamedWrites(frame.scope, folder ?? '.', { by: 'patch', instead, ...more });
    }
    for (const name of diffPaths(text, Number.isNaN(strip) ? 0 : strip)) {
      machine.write(frame.scope, place(name), 'patch', false);
    }
  }
  return undefined;
}

/** Handles `apply_patch <patch>`, or with the patch as input: Codex catches the call and changes the files itself. */
function applyPatch({ args, frame, machine }: ProgramCall): Status {
  for (const { path, change, moveTo } of patchedFiles(args[0] ?? frame.input.rest)) {
    if (change === 'delete') machine.remove(frame.scope, path, 'apply_patch');
    else machine.write(frame.scope, path, 'apply_patch');
    if (moveTo !== undefined) machine.write(frame.scope, moveTo, 'apply_patch');
  }
  return undefined;
}

export const PATCH_PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['patch', patch],
  ['apply_patch', applyPatch],
  ['applypatch', applyPatch],
]);
