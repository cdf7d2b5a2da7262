import { statSync } from 'node:fs';
import type { SessionLedger } from '../../domain/ledger/claims.ts';
import type { SessionId } from '../../domain/names.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { pruneScratch, scratchStore } from '../../git/scratch-store.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { removeBefore } from '../../changes/before-copies.ts';
import {
  type LedgerPlace,
  appendEntries,
  ledgerFile,
  ledgerPlaces,
  readAllLedgers,
  readLedger,
  removeLedger,
} from '../../changes/ledger.ts';
import {
  listStarts,
  pausedAt,
  readPause,
  readStart,
  removeStart,
  removeWindows,
} from '../../changes/windows.ts';

/** How long the ledger of a session that is over stays when it claims nothing, and when it does. Milliseconds. */
const KEEP_EMPTY_MS = 6 * 3600_000;
const KEEP_CLAIMS_MS = 7 * 86_400_000;
/** Contents that nothing refers to stay this long: a call that runs now may be about to. Milliseconds. */
const KEEP_CONTENTS_MS = 3600_000;

/** A session is over: what it was doing just now is forgotten; what it changed stays on record, it may be resumed. */
export function forgetCalls({ commonDir, gitDir }: FoundRepository, session: SessionId, now: number): void {
  const worktreeId = knownWorktreeId(gitDir);
  if (worktreeId === undefined) return;
  const place = { commonDir, worktreeId };
  removeWindows(place, session);
  removeBefore(place, session);
  answerCalls(place, session, now);
}

/** File tools that were announced and have not told their result will not any more. */
export function answerCalls(place: LedgerPlace, session: SessionId, now: number): void {
  if (readLedger(place, session).announced.size === 0) return;
  appendEntries(place, session, [{ t: 'answered', at: now }]);
}

/** Removes ledgers of sessions that were over long ago, and contents that no claim refers to. */
export function tidyLedgers({ commonDir }: FoundRepository, live: ReadonlySet<SessionId>, now: number): void {
  const used = new Set<string>();
  for (const { place, ledger } of readAllLedgers(commonDir)) {
    const age =
      now - (statSync(ledgerFile(place, ledger.session), { throwIfNoEntry: false })?.mtimeMs ?? now);
    const limit = ledger.claims.size === 0 ? KEEP_EMPTY_MS : KEEP_CLAIMS_MS;
    if (!live.has(ledger.session) && age > limit) removeLedger(place, ledger.session);
    else for (const oid of contents(ledger)) used.add(oid);
  }
  for (const place of ledgerPlaces(commonDir)) {
    for (const session of listStarts(place)) {
      const age = now - (pausedAt(place, session) ?? now);
      if (!live.has(session) && age > KEEP_CLAIMS_MS) removeStart(place, session);
      else for (const oid of listed(place, session)) used.add(oid);
    }
  }
  pruneScratch(scratchStore(commonDir), used, now - KEEP_CONTENTS_MS);
}

/** Contents that a claim since the session's start would refer to. */
function listed(place: LedgerPlace, session: SessionId): string[] {
  const snapshots = [readStart(place, session), readPause(place, session)];
  const paths = snapshots.flatMap((one) => [...(one?.dirty.values() ?? [])]);
  return paths.flatMap(({ disk }) => disk?.oid ?? []);
}

function contents({ claims, ended, staged }: SessionLedger): string[] {
  const changes = [...claims.values(), ...ended.values()].flatMap((claim) => claim.changes);
  const states = [
    ...changes.flatMap(({ before, after }) => [before, after]),
    ...[...staged.values()].flat().map(({ state }) => state),
  ];
  return states.flatMap((state) => state?.oid ?? []);
}
