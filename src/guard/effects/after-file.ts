import { takeBefore } from '../../changes/dirty-work.ts';
import { appendEvents, isFirstToReport, readAllLedgers } from '../../sessions/journal.ts';
import { type OtherTree, overlapsElsewhere } from '../../changes/overlaps.ts';
import { settledClaims } from '../../changes/settle-claims.ts';
import {
  ledgerOf,
  lookTimeoutMs,
  mayHaveMoved,
  openLedgers,
  putLast,
  readLast,
  type WorkPlace,
} from '../../changes/windows.ts';
import type { SessionLedger } from '../../domain/ledger/claims.ts';
import type { WorktreeEvent } from '../../domain/journal/events.ts';
import {
  sameState,
  type FileState,
  type DirtyPath,
  type TreeStatus,
} from '../../domain/ledger/tree-status.ts';
import { type SessionId, branchOf, peerName } from '../../domain/names.ts';
import { type OverlapNotice, overlapText, stopsMerge } from '../../domain/overlap.ts';
import { formatOf, objectName } from '../../git/hash.ts';
import { hashContent, scratchStore } from '../../git/scratch.ts';
import { randomName } from '../../host/disk.ts';
import { idleText, clientsOf } from '../../sessions/records.ts';
import { type SessionCall, type TreeCall, ownerOf, workPlaceOf } from '../call.ts';
import { once, readStatus } from '../facts.ts';
import { typedAt } from '../checks/typed.ts';
import { readSessions } from '../presence.ts';
import { treesOf, leave } from '../visits.ts';
import { deliverNews } from './news.ts';

/** After a file tool: claims its paths for this session. Returns the other sessions' news. */
export async function afterFiles(call: SessionCall, paths: readonly string[]): Promise<readonly string[]> {
  const { session, now } = call;
  const news: string[] = [];
  for (const { call: there, placed } of await treesOf(call, paths)) {
    if (placed.length === 0) continue;
    const written = placed.map(({ path }) => path);
    // One `git status` serves both the claims and the check for overlaps in other worktrees.
    const look = once(() => readStatus(there, workPlaceOf(there.tree), { paths: written }));
    const overlaps = newOverlaps(there, look).catch((error: unknown): string[] => {
      there.log('open', `the changes in other worktrees were not read: ${String(error)}`);
      return [];
    });
    news.push(...(await overlaps));
    const place = ledgerOf(there.tree, session);
    if (place === undefined) continue;
    await seeHead(there, place);
    await claimPaths(there, place, written, look);
    appendEvents(place, ownerOf(there), [{ t: 'answered', paths: written, at: now }]);
    news.push(...(await deliverNews(there, place, openLedgers(place, ownerOf(there)))));
    if (there.tree.visiting === true) await leave(there);
  }
  return news;
}

/** Claims each path. A claim records the path's state in HEAD, its state before the tool, and its state now. */
async function claimPaths(
  call: TreeCall,
  place: WorkPlace,
  paths: readonly string[],
  look: () => Promise<TreeStatus>,
): Promise<void> {
  const { session, event, now: at } = call;
  const how = {
    evidence: 'explicit',
    weak: false,
    ...(event.agent === undefined ? {} : { agent: event.agent }),
  } as const;
  const copies = new Map(paths.map((path) => [path, takeBefore(place, session, path)]));
  const status = await look();
  const { self, all } = openLedgers(place, ownerOf(call));
  const entries: WorktreeEvent[] = [];
  for (const path of paths) {
    const dirty = status.dirty.get(path);
    if (dirty === undefined) {
      if (self.claims.has(path)) entries.push({ t: 'end', path, why: 'clean', at });
      continue;
    }
    const copy = copies.get(path);
    const before = await stateBefore(call, place, dirty, copy, all);
    const { head: base, disk: after } = dirty;
    if (sameState(before, after) && (copy !== undefined || self.claims.has(path))) continue;
    entries.push({ t: 'claim', path, base, before, after, ...how, at });
  }
  appendEvents(place, self.session, entries);
}

/** The state of a path before the tool ran, from the copy made before, or else the newest claim, or else HEAD. */
async function stateBefore(
  call: TreeCall,
  place: WorkPlace,
  dirty: DirtyPath,
  copy: Buffer | undefined,
  ledgers: readonly SessionLedger[],
): Promise<FileState> {
  const claims = ledgers.flatMap((ledger) => ledger.claims.get(dirty.path) ?? []);
  const last = [...claims].sort((a, b) => b.at - a.at)[0];
  const known = [dirty.head, ...claims.map(({ after }) => after)];
  const guess = last === undefined ? dirty.head : last.after;
  if (copy === undefined) return guess;
  const format = formatOf(known.find((state) => (state?.oid ?? null) !== null)?.oid ?? dirty.disk?.oid ?? '');
  const raw = objectName(format, 'blob', copy);
  const found = known.find((state) => state?.oid === raw);
  if (found !== undefined) return found;
  const scratch = scratchStore(place.commonDir);
  const oid = await hashContent(place.top, dirty.path, copy, scratch, lookTimeoutMs(call));
  const mode = dirty.head?.mode ?? dirty.disk?.mode ?? '100644';
  return oid === undefined ? guess : { mode, oid };
}

/**
 * Reports the paths that a file tool has just written and that live sessions in other worktrees have also changed. Reports
 * each path once for each session, and once more if merging the two changes has begun to conflict.
 *
 * @param look the `git status` of these paths
 */
async function newOverlaps(call: TreeCall, look: () => Promise<TreeStatus>): Promise<string[]> {
  const place = workPlaceOf(call.tree);
  if (!isAnybodyElsewhere(place)) return [];
  const options = { asking: call.session, timeoutMs: lookTimeoutMs(call), now: call.now };
  const [{ dirty }, judged] = await Promise.all([look(), readSessions(call)]);
  const others = await overlapsElsewhere(place, dirty.values(), judged, options);
  return others.flatMap((other) => noticesOf(call, other, clientsOf(judged)));
}

/** Whether any session's journal shows a registration in another worktree. */
function isAnybodyElsewhere({ commonDir, worktreeId }: WorkPlace): boolean {
  return readAllLedgers(commonDir).some(
    ({ place, ledger }) => place.worktreeId !== worktreeId && ledger.registrations.size > 0,
  );
}

/** Describes the overlaps with another worktree that are news to this session. Paths of the same sessions share a sentence. */
function noticesOf(
  call: TreeCall,
  { top: folder, head: { ref }, overlaps }: OtherTree,
  clients: ReadonlyMap<SessionId, string>,
): string[] {
  const found = new Map<string, OverlapNotice>();
  const branch = ref === 'HEAD' ? undefined : branchOf(ref);
  for (const { path, progress, kind, sessions } of overlaps) {
    const ids = sessions.map(({ record }) => record.session);
    const isNews = ids.map((id) => isNew(call, path, id, stopsMerge(kind)));
    if (!isNews.includes(true)) continue;
    const who = ids.map((id) => peerName(id, { clients })).join(' and ');
    const idle = idleText(call.tree.commonDir, ids, { clients }, call.now);
    const key = [who, progress, kind].join('\n');
    const paths = [...(found.get(key)?.paths ?? []), path];
    found.set(key, { paths, who, idle, folder, branch, progress, kind });
  }
  return [...found.values()].map((notice) => overlapText(notice, typedAt(call).git));
}

function isNew(
  { session, tree, now }: TreeCall,
  path: string,
  other: SessionId,
  conflicts: boolean,
): boolean {
  const isFirstOf = (kind: string) =>
    isFirstToReport(tree.commonDir, session, `${kind}:${other}:${path}`, randomName(), now);
  const isFirst = isFirstOf('meets');
  const isWorse = conflicts && isFirstOf('conflicts');
  return isFirst || isWorse;
}

/**
 * If HEAD has moved since the last status, reads the status of the whole working tree even for a call that needs none. The new
 * commit may include others' uncommitted work, and those sessions must hear of that now.
 */
export async function seeHead(call: TreeCall, place: WorkPlace): Promise<void> {
  if (!mayHaveMoved(place)) return;
  const known = readLast(place);
  if (known === undefined) return;
  try {
    const status = await readStatus(call, place, { known });
    const { all } = openLedgers(place, call.session);
    const settled = await settledClaims(place, all, status, { timeoutMs: lookTimeoutMs(call) });
    for (const [owner, entries] of settled) appendEvents(place, owner, entries);
    putLast(place, status);
  } catch (error) {
    call.log('open', `the status was not read after HEAD had moved: ${String(error)}`);
  }
}
