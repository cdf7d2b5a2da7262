import { CLOCK_SLACK_MS, LONG_WINDOW_MS, type Window, overlaps } from '../../domain/ledger/tree-status.ts';
import type { SessionId } from '../../domain/names.ts';
import { type Operation, unfinishedOperation, mergedTree } from '../../git/operations.ts';
import { putBeginner } from '../../changes/operations.ts';
import { ARRIVAL, type OpenWindow } from '../../changes/windows.ts';
import type { TreeCall } from '../call.ts';
import type { Ledgers, WorkPlace } from '../../changes/work-place.ts';

/**
 * After a shell command: when a merge, rebase … began while it ran and is not finished, this session has begun it. In
 * doubt nobody has, and anybody may finish it.
 *
 * @param window the command's own
 * @param windows the commands of all sessions that run now
 */
export function noteOperation(
  call: TreeCall,
  place: WorkPlace,
  { all }: Ledgers,
  window: OpenWindow,
  windows: readonly OpenWindow[],
): void {
  const operation = unfinishedOperation(place.gitDir);
  if (operation === undefined) return;
  if (operation.at < window.from - CLOCK_SLACK_MS || operation.at > call.now + CLOCK_SLACK_MS) return;
  const closed = all.flatMap((ledger) => ledger.windows);
  const others = [...windows, ...closed].filter(({ id }) => id !== ARRIVAL);
  const during: Window = { ...window, to: call.now };
  const isDoubtful = call.now - window.from > LONG_WINDOW_MS || overlaps(during, others);
  if (isDoubtful && !begins(call, operation)) return;
  const merged = mergedTree(place.gitDir);
  // One that was there before is another merge's, or that of a stash that was popped.
  putBeginner(place, window.session, operation, merged === window.merged ? undefined : merged);
}

/**
 * A session arrives, and one that was alone until now may have begun what is unfinished: as with the files that were
 * changed meanwhile, it did, by itself or by hand.
 */
export function noteLoneOperation(place: WorkPlace, peer: SessionId, since: number): void {
  const operation = unfinishedOperation(place.gitDir);
  if (operation !== undefined && operation.at >= since) putBeginner(place, peer, operation);
}

const VERBS: Readonly<Record<Operation['name'], RegExp>> = {
  merge: /\b(?:merge|pull)\b/,
  rebase: /\b(?:rebase|pull)\b/,
  'cherry-pick': /\bcherry-pick\b/,
  revert: /\brevert\b/,
  am: /\bam\b/,
};

/** The command names it itself. */
function begins({ event: { tool } }: TreeCall, { name }: Operation): boolean {
  if (tool?.kind !== 'shell' && tool?.kind !== 'argv') return false;
  const text = tool.kind === 'shell' ? tool.command : tool.argv.join(' ');
  return /\bgit\b/.test(text) && VERBS[name].test(text);
}
