import { decideBelonging, claimsOn } from '../../domain/ledger/ownership.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { changesLeft, sinceStart } from '../../domain/ledger/claim-events.ts';
import type { TreeStatus } from '../../domain/ledger/tree-status.ts';
import { type Oid, type SessionId, sessionOfOwner } from '../../domain/names.ts';
import { changedAt, readTreeStatus } from '../../git/worktrees.ts';
import { type LedgerPlace, readLedgers } from '../../sessions/journal.ts';
import { type SessionRecord, succeededBy } from '../../domain/session.ts';
import type { MarkerFiles } from '../../host/marker-files.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { readLast, readPause, readStart } from '../../changes/windows.ts';

/** What a session has changed in one worktree and not committed. */
export interface OwnWork {
  readonly head: Oid | null;
  /** How many paths differ from HEAD, no matter who changed them. */
  readonly dirty: number;
  /** The changed paths, relative to the top, sorted. */
  readonly paths: readonly string[];
  /** Those of `paths` that are not on the disk. */
  readonly deleted: readonly string[];
  /** Those of `paths` that git does not track yet, so that `git diff` does not show them. */
  readonly untracked: readonly string[];
  /** The time of the newest change in `paths`, milliseconds since the epoch. */
  readonly changedAt: number | undefined;
}

/** A worktree in which automatic notes are written and closed, and what is known there. */
export interface NoteContext {
  readonly place: LedgerPlace & { readonly top: string };
  readonly sessions: readonly JudgedSession[];
  readonly files: MarkerFiles;
  readonly now: number;
  /** The time limit of each git process. */
  readonly timeoutMs: number;
}

/** A session, and the sessions whose conversation it continues. */
export type Conversation = readonly [SessionId, ...SessionId[]];

/** Returns the session and those whose conversation it continues. */
export function conversation(session: SessionId, records: readonly SessionRecord[]): Conversation {
  return [session, ...succeededBy(session, records)];
}

/**
 * Finds which of the paths that differ from HEAD a session has changed: those that its ledger claims or, if the session worked
 * alone, those that have changed since it began.
 */
export async function ownWork(
  { place, sessions, now, timeoutMs }: NoteContext,
  own: Conversation,
): Promise<OwnWork> {
  const { top } = place;
  const ledgers = readLedgers(place);
  const status = await readTreeStatus(top, { now, timeoutMs, known: readLast(place) });
  const lone = loneClaims(place, own, status);
  const live = sessions.filter(({ liveness }) => liveness === 'live').map(({ record }) => record.session);
  const others = new Set(live.filter((session) => !own.includes(session)));
  const owners = ledgers.map(({ session }) => session);
  const groups = {
    own: new Set(owners.filter((id) => own.includes(sessionOfOwner(id)))),
    foreign: new Set(owners.filter((id) => others.has(sessionOfOwner(id)))),
  };
  const found = [...status.dirty.values()].flatMap((dirty) => {
    const claims = claimsOn(dirty.path, ledgers, groups, dirty.head);
    const more = claims.own.length === 0 ? lone.get(dirty.path) : undefined;
    const all = more === undefined ? claims : { ...claims, own: [more] };
    const mine = decideBelonging(all, () => true).claims.find(({ session }) => groups.own.has(session));
    if (mine === undefined) return [];
    const isNew = dirty.head === null && dirty.index === null;
    return [{ path: dirty.path, gone: dirty.stamp === '', isNew, at: timeOf(top, mine) }];
  });
  return {
    head: status.head.oid,
    dirty: status.dirty.size,
    paths: found.map(({ path }) => path).sort(),
    deleted: found.flatMap(({ path, gone }) => (gone ? [path] : [])),
    untracked: found.flatMap(({ path, isNew }) => (isNew ? [path] : [])),
    changedAt: found.length === 0 ? undefined : Math.max(...found.map(({ at }) => at)),
  };
}

/** The time of the claim or of the file, whichever is earlier: a claim may be late, and others may change the file later. */
function timeOf(top: string, { path, at }: OpenClaim): number {
  return Math.min(at, changedAt(top, path) ?? at);
}

function loneClaims(
  place: NoteContext['place'],
  own: Conversation,
  status: TreeStatus,
): ReadonlyMap<string, OpenClaim> {
  for (const session of own) {
    const start = readStart(place, session);
    if (start === undefined) continue;
    const changes = changesLeft(start, readPause(place, session), status);
    return sinceStart(session, changes, (path) => Math.max(start.at, changedAt(place.top, path) ?? 0));
  }
  return new Map();
}
