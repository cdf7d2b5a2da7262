import { CLOCK_SLACK_MS, LONG_WINDOW_MS, type Window, overlaps } from '../../domain/ledger/tree-status.ts';
import type { SessionId } from '../../domain/names.ts';
import { type Operation, unfinishedOperation, mergedTree } from '../../git/operations.ts';
import { putBeginner } from '../../changes/operations.ts';
import { ARRIVAL, type WorkPlace } from '../../changes/windows.ts';
import { type TreeCall, commandText } from '../call.ts';
import type { Finished } from '../facts.ts';

/**
 * After a shell command: if an unfinished merge, rebase … began while the command ran, records that this session began it.
 * In doubt it records nobody, and then anybody may finish the operation.
 */
export function noteOperation(call: TreeCall, { place, ledgers: { all }, window, windows }: Finished): void {
  const operation = unfinishedOperation(place.gitDir);
  if (operation === undefined) return;
  if (operation.at < window.from - CLOCK_SLACK_MS || operation.at > call.now + CLOCK_SLACK_MS) return;
  const closed = all.flatMap((ledger) => ledger.windows);
  const others = [...windows, ...closed].filter(({ id }) => id !== ARRIVAL);
  const during: Window = { ...window, to: call.now };
  const isDoubtful = call.now - window.from > LONG_WINDOW_MS || overlaps(during, others);
  if (isDoubtful && !begins(call, operation)) return;
  const merged = mergedTree(place.gitDir);
  // A merged tree that was there before the command comes from another merge, or from `git stash pop`.
  putBeginner(place, window.session, operation, merged === window.merged ? undefined : merged);
}

/**
 * Records that a session began the unfinished operation while it worked alone. Like the files that changed in that time, the
 * operation counts as the session's own even if its user began it by hand.
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

/** Whether the command itself names the operation. */
function begins({ event: { tool } }: TreeCall, { name }: Operation): boolean {
  const text = commandText(tool) ?? '';
  return /\bgit\b/.test(text) && VERBS[name].test(text);
}
