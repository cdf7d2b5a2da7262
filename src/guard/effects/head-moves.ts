import { refName } from './news.ts';
import { type Ledgers, type WorkPlace, lookTimeoutMs } from '../../changes/work-place.ts';
import type { WorktreeEvent } from '../../domain/journal/events.ts';
import type { TreeStatus } from '../../domain/ledger/tree-status.ts';
import { type Oid, canMean, shortOid, ownerName } from '../../domain/names.ts';
import { type LoggedCommit, commitsBetween } from '../../git/log.ts';
import { news } from '../../sessions/happenings.ts';
import type { TreeCall } from '../call.ts';

/** Where HEAD is after a command, who moved it, and what the others are to hear of it. */
export async function headEntries(
  place: WorkPlace,
  { self, all }: Ledgers,
  before: TreeStatus,
  { head }: TreeStatus,
  call: TreeCall,
): Promise<WorktreeEvent[]> {
  const at = call.now;
  const isUnmoved = before.head.ref === head.ref && before.head.oid === head.oid;
  if (isUnmoved) {
    const seen = self.head?.ref === head.ref && self.head.oid === head.oid;
    return seen ? [] : [{ t: 'head', ...head, own: false, at }];
  }
  const isReported = all.some(
    (ledger) =>
      ledger !== self &&
      ledger.moves.some((move) => move.ref === head.ref && move.oid === head.oid && move.at >= before.at),
  );
  const commits = await newCommits(place, before.head.oid, head.oid, call);
  const own = !isReported && !(commits.length > 0 && commits.every((one) => isForeign(one, self.session)));
  const entry: WorktreeEvent = { t: 'head', ...head, own, at };
  return own
    ? [entry, news(moveText(ownerName(self.session, call.dialect), before, head, commits), at)]
    : [entry];
}

async function newCommits(
  place: WorkPlace,
  from: Oid | null,
  to: Oid | null,
  call: TreeCall,
): Promise<LoggedCommit[]> {
  if (to === null || from === to) return [];
  return commitsBetween(place.top, from, to, lookTimeoutMs(call)).catch(() => []);
}

function isForeign({ sessions }: LoggedCommit, session: string): boolean {
  return sessions.length > 0 && !sessions.some((one) => canMean(one, session));
}

const MAX_COMMITS = 4;

function moveText(
  who: string,
  before: TreeStatus,
  head: TreeStatus['head'],
  commits: readonly LoggedCommit[],
): string {
  const now = refName(head.ref);
  if (before.head.ref !== head.ref) {
    return `${who} switched this working tree from ${refName(before.head.ref)} to ${now}.`;
  }
  const names = commits.slice(0, MAX_COMMITS).map(({ oid }) => shortOid(oid));
  if (names.length > 0) return `${who} committed ${names.join(', ')} on ${now}.`;
  return `${who} moved ${now} from ${shortOid(before.head.oid)} to ${shortOid(head.oid)} (reset).`;
}
