import { relative } from 'node:path';
import { realPath } from '../../host/disk.ts';
import type { PathEffect, ShellEffects } from '../../shell/effects.ts';
import { type WorkPlace, placePath } from '../../changes/windows.ts';
import type { TreeCall, Finding } from '../call.ts';
import type { CommandFacts } from '../facts.ts';
import { contentionOn } from './contention.ts';
import type { Touch } from './touch.ts';

/** Judges a command that names paths which another live session has changed and not committed. */
export async function contentionOfCommand(call: TreeCall, facts: CommandFacts): Promise<readonly Finding[]> {
  const ledger = facts.ledger();
  return ledger === undefined ? [] : contentionOn(call, facts, namedPaths(facts.effects, ledger.place));
}

/** Returns the paths of this worktree that the command names as targets of a change. */
export function namedPaths({ paths, modes }: ShellEffects, place: WorkPlace): Touch[] {
  const changed = modes.map(({ path }): PathEffect => ({ path, kind: 'write', follows: true, by: 'chmod' }));
  return [...paths, ...changed].flatMap((effect) => {
    const { path, kind, follows } = effect;
    const how = { whole: kind === 'remove', discards: discards(effect) };
    const placed = placePath(path, follows);
    if (placed === undefined || placed.found.gitDir !== place.gitDir) {
      const inside = relative(place.top, realPath(path, follows));
      return inside === '' && kind === 'remove' ? [{ path: '', ...how }] : [];
    }
    return [{ path: placed.path, ...how }];
  });
}

/** Whether the command throws the content away. If so, the refusal does not say how to take the file over. */
function discards({ kind }: PathEffect): boolean {
  return kind === 'remove';
}
