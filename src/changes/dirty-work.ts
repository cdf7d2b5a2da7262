import { type Belonging, decideBelonging } from '../domain/ledger/belonging.ts';
import { withRevived } from '../domain/ledger/claim-ends.ts';
import type { OpenClaim, SessionLedger } from '../domain/ledger/claims.ts';
import { type PathClaims, type SessionGroups, claimsOn, rankClaims } from '../domain/ledger/ownership.ts';
import { sinceStart } from '../domain/ledger/since-start.ts';
import type { DirtyPath, TreeStatus } from '../domain/ledger/tree-status.ts';
import type { SessionId } from '../domain/names.ts';
import { related, succeededBy } from '../domain/session.ts';
import { scratchStore } from '../git/scratch-store.ts';
import { changedAt, readTreeStatus } from '../git/work-tree.ts';
import { knownWorktreeId } from '../host/folders.ts';
import { type JudgedSession, groupSessions } from '../sessions/records.ts';
import { isLoneSession } from '../sessions/lone-session.ts';
import { type LedgerPlace, appendEvents, readLedgers } from '../sessions/journal.ts';
import { settledClaims } from './settle-claims.ts';
import { changesSince } from './window-changes.ts';
import { readLast, readStart } from './windows.ts';

/** A working tree and where its ledgers are. */
export interface WorkTree {
  readonly top: string;
  readonly gitDir: string;
  readonly commonDir: string;
}

/** The uncommitted changes of a working tree, and what the ledgers say of them. */
export interface DirtyWork {
  readonly tree: WorkTree;
  /** `undefined`: no session was ever here. */
  readonly place: LedgerPlace | undefined;
  readonly snapshot: TreeStatus;
  readonly ledgers: readonly SessionLedger[];
  /** The live session that is alone here, and what changed since it began: no ledger has it yet. */
  readonly lone: { readonly session: SessionId; readonly claims: ReadonlyMap<string, OpenClaim> } | undefined;
}

/** Who asks whose a path is. */
export interface Asker {
  readonly groups: SessionGroups;
  readonly areOne: (a: SessionId, b: SessionId) => boolean;
}

/** The asking session, or a person (`undefined`), among those on record. */
export function askerOf(session: SessionId | undefined, sessions: readonly JudgedSession[]): Asker {
  const records = sessions.map(({ record }) => record);
  const succeeds = (a: SessionId, b: SessionId) => succeededBy(a, records).includes(b);
  return {
    groups: groupSessions(session, sessions),
    areOne: (a, b) => related(a, b, records) || succeeds(a, b) || succeeds(b, a),
  };
}

/**
 * Looks at a working tree: one `git status`, and the ledgers as they were before it.
 *
 * @param now milliseconds since the epoch
 * @param keep whether to keep the contents of changed files, for claims made from this look
 */
export async function lookAtWork(
  tree: WorkTree,
  sessions: readonly JudgedSession[],
  now: number,
  { keep = false }: { readonly keep?: boolean } = {},
): Promise<DirtyWork> {
  const { place, ledgers, worktreeId } = ledgersOf(tree);
  const live = sessions.filter((one) => one.liveness === 'live' && one.worktreeId === worktreeId);
  const session = live.find(({ record }) => isLoneSession(tree.gitDir, record.session))?.record.session;
  const start = place === undefined || session === undefined ? undefined : readStart(place, session);
  const known = start ?? (place === undefined ? undefined : readLast(place));
  const snapshot = await readTreeStatus(tree.top, {
    now,
    ...(known === undefined ? {} : { known }),
    ...(keep ? { scratch: scratchStore(tree.commonDir) } : {}),
  });
  const lone =
    session === undefined || start === undefined
      ? undefined
      : {
          session,
          claims: sinceStart(session, await changesSince(tree.top, start, snapshot), (path) =>
            Math.max(start.at, changedAt(tree.top, path) ?? 0),
          ),
        };
  const shown = withRevived(ledgers, (path) => snapshot.dirty.get(path));
  return { tree, place, snapshot, ledgers: shown, lone };
}

/** A working tree as a look found it; of a session that is alone there the ledgers say nothing. */
export function workSeen(tree: WorkTree, snapshot: TreeStatus): DirtyWork {
  const { place, ledgers } = ledgersOf(tree);
  return {
    tree,
    place,
    snapshot,
    ledgers: withRevived(ledgers, (path) => snapshot.dirty.get(path)),
    lone: undefined,
  };
}

function ledgersOf({ gitDir, commonDir }: WorkTree) {
  const worktreeId = knownWorktreeId(gitDir);
  const place = worktreeId === undefined ? undefined : { commonDir, worktreeId };
  return { worktreeId, place, ledgers: place === undefined ? [] : readLedgers(place) };
}

/** The open claims on a dirty path, by side. */
export function openClaims(work: DirtyWork, { path, head }: DirtyPath, { groups }: Asker): PathClaims {
  const claims = claimsOn(path, work.ledgers, groups, head);
  const more = work.lone?.claims.get(path);
  if (more === undefined || claims.own.length + claims.foreign.length > 0) return claims;
  return rankClaims([more, ...claims.left], groups);
}

/** Whose a dirty path is. */
export function belongingOf(work: DirtyWork, dirty: DirtyPath, asker: Asker): Belonging {
  return decideBelonging(openClaims(work, dirty, asker), asker.areOne);
}

/** Notes for good what the look says of claims. A repository that cannot be written to is left alone. */
export async function settleClaims({ place, tree, ledgers, snapshot }: DirtyWork): Promise<void> {
  if (place === undefined) return;
  const settled = await settledClaims({ ...place, ...tree }, ledgers, snapshot);
  for (const [session, entries] of settled) {
    try {
      appendEvents(place, session, entries);
    } catch {
      // Whoever looks next does it.
    }
  }
}
