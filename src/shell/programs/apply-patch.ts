import { patchedFiles } from '../../domain/patch.ts';
import type { ProgramCall, Program, Status } from '../machine.ts';
import { isKnown } from '../unknown.ts';

/** Codex's `apply_patch <patch>`, or with the patch on its input; Codex catches it and changes the files itself. */
function applyPatch({ args, frame, machine }: ProgramCall): Status {
  const patch = args[0] ?? frame.input.rest;
  if (!isKnown(patch)) machine.unsure = true;
  for (const { path, change, moveTo } of patchedFiles(patch)) {
    if (change === 'delete') machine.remove(frame.scope, path, 'apply_patch');
    else machine.write(frame.scope, path, 'apply_patch');
    if (moveTo !== undefined) machine.write(frame.scope, moveTo, 'apply_patch');
  }
  return undefined;
}

/** The command by both of its names. */
export const APPLY_PATCH_PROGRAMS: ReadonlyMap<string, Program> = new Map(
  ['apply_patch', 'applypatch'].map((name) => [name, applyPatch] as const),
);
