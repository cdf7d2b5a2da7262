import { findUnfinished, operationText } from '../../changes/operations.ts';
import { ago } from '../../domain/age.ts';
import { peerName } from '../../domain/names.ts';
import { escapeLine, listed } from '../../domain/surfacing.ts';
import { unfinishedOperation } from '../../git/operations.ts';
import type { TreeCall, Finding } from '../call.ts';
import type { CommandFacts, FileFacts, TreeFacts } from '../facts.ts';
import { namedPaths } from './contention-of-command.ts';
import { type Touch, isTouched } from './touch.ts';
import { typedIn } from './typed.ts';

/**
 * Refuses to change files that are in conflict in another live session's merge, rebase …, because that session's next commit
 * includes whatever they contain. The ledger misses some of these files, because git leaves them as HEAD has them.
 */
export function openConflict(call: TreeCall, facts: FileFacts): Promise<readonly Finding[]> {
  return conflictOn(
    call,
    facts,
    facts.placed.map(({ path }) => ({ path, whole: false })),
  );
}

/** Does the same for the paths that a command names. */
export async function openConflictOfCommand(
  call: TreeCall,
  facts: CommandFacts,
): Promise<readonly Finding[]> {
  const ledger = facts.ledger();
  return ledger === undefined ? [] : conflictOn(call, facts, namedPaths(facts.effects, ledger.place));
}

async function conflictOn(
  call: TreeCall,
  facts: TreeFacts,
  touches: readonly Touch[],
): Promise<readonly Finding[]> {
  const place = facts.ledger()?.place;
  const { tree, settings, now } = call;
  if (place === undefined || touches.length === 0 || settings.contention === 'off') return [];
  if (unfinishedOperation(tree.gitDir) === undefined) return [];
  const people = await facts.people();
  const open = findUnfinished(tree.gitDir, place, people)?.others;
  if (open === undefined) return [];
  const unmerged = await facts.git.unmerged(place.top);
  const hit = unmerged.filter((path) => touches.some((touch) => isTouched(path, touch)));
  if (hit.length === 0) return [];
  const isRefused = settings.contention === 'deny';
  const text =
    `${peerName(open.session, people)} began ${operationText(open.name)} here ${ago(open.at, now)} and still has to resolve ` +
    `${listed(hit.map((path) => escapeLine(path)))}.${isRefused ? ' Nothing was changed.' : ''} Work on something else until that is done. To see who made each change: ${typedIn(call, place).git} handoff status`;
  return [
    isRefused
      ? { kind: 'refuse', text, owners: [open.session], allowedBy: 'person' }
      : { kind: 'tell', text: `git-handoff: ${text}` },
  ];
}
