import { join } from 'node:path';
import { keepBefore } from '../../changes/dirty-work.ts';
import { appendEvents } from '../../sessions/journal.ts';
import { TOGETHER_MS } from '../../changes/windows.ts';
import { CLOCK_SLACK_MS, type DirtyPath } from '../../domain/ledger/tree-status.ts';
import { contentState } from '../../git/worktrees.ts';
import { statOf } from '../../host/disk.ts';
import { type TreeCall, ownerOf, type Effect } from '../call.ts';
import type { FileFacts, OpenLedger } from '../facts.ts';
import { keepVanished } from './keep-work.ts';

/** Before a file tool: copies its files, and announces them, so that nobody takes the tool's change for another session's. */
export function announcement(call: TreeCall, { ledger, touches }: FileFacts): readonly Effect[] {
  const opened = ledger();
  if (opened === undefined) return [];
  const { place } = opened;
  const run = async () => {
    const paths = touches().map(({ path }) => path);
    const { event, now } = call;
    const agent = event.agent === undefined ? {} : { agent: event.agent };
    // An agent's calls are made together or one after the other, so its older announcements are over.
    const over = { t: 'answered', agent: event.agent ?? '', at: now - TOGETHER_MS } as const;
    appendEvents(place, ownerOf(call), [over, { t: 'announced', paths, ...agent, at: now }]);
    for (const path of paths) {
      await keepReverted(call, opened, path);
      keepBefore(place, call.session, place.top, path);
    }
    return [];
  };
  return [{ kind: 'do', when: 'allowed', run }];
}

/**
 * Saves claimed work that somebody has discarded by hand: the file is gone, or as it is in HEAD. Runs before the tool writes
 * the file, because nothing would show the loss afterwards.
 */
async function keepReverted(call: TreeCall, { place, ledgers }: OpenLedger, path: string): Promise<void> {
  const claims = ledgers.all.flatMap((ledger) => ledger.claims.get(path) ?? []);
  const changed = statOf(join(place.top, path))?.mtimeMs ?? Infinity;
  const claim = [...claims].sort((a, b) => b.at - a.at)[0];
  if (claim === undefined || !claims.some(({ at }) => changed > at + CLOCK_SLACK_MS)) return;
  const { base, after, at, session } = claim;
  const like = after?.oid;
  if (like === undefined || like === null) return;
  if ((contentState(place.top, { path }, like)?.oid ?? undefined) !== (base?.oid ?? undefined)) return;
  const lost: DirtyPath = { path, head: base, index: base, disk: after, stamp: '' };
  const head = { ref: 'HEAD', oid: null };
  const before = { head, dirty: new Map([[path, lost]]), at };
  const gone = { head, dirty: new Map(), at: call.now };
  await keepVanished(call, place, before, gone, new Map([[path, session]]));
}
