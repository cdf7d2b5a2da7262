import { findUnfinished, operationText } from '../../changes/operations.ts';
import { ago, escapeLine, listed } from '../../domain/messages.ts';
import { peerName } from '../../domain/names.ts';
import { type TreeCall, type Finding, refusedFor } from '../call.ts';
import type { FileFacts } from '../facts.ts';
import { isTouched } from './touch.ts';
import { typedAt } from './typed.ts';

/**
 * Refuses changes to files that are in conflict in another live session's merge, rebase …, because that session's next commit
 * includes whatever the files contain. Ledgers do not show all such files: git leaves some of them as they are in HEAD.
 */
export async function openConflict(call: TreeCall, facts: FileFacts): Promise<readonly Finding[]> {
  const place = facts.ledger()?.place;
  const { tree, settings, now } = call;
  const touches = facts.touches();
  if (place === undefined || touches.length === 0 || settings.contention === 'off') return [];
  const people = await facts.people();
  const open = findUnfinished(tree.gitDir, place, people)?.others;
  if (open === undefined) return [];
  const unmerged = await facts.git.unmerged(place.top);
  const hit = unmerged.filter((path) => touches.some((touch) => isTouched(path, touch)));
  if (hit.length === 0) return [];
  const isRefused = settings.contention === 'deny';
  const text =
    `${peerName(open.session, people)} began ${operationText(open.name)} here ${ago(open.at, now)} and still has to resolve ` +
    `${listed(hit.map((path) => escapeLine(path)))}.${isRefused ? ' Nothing was changed.' : ''} Work on something else until that is done. To see who made each change: ${typedAt(call).git} handoff status`;
  return [isRefused ? refusedFor(text, [open.session]) : { kind: 'tell', text: `git-handoff: ${text}` }];
}
