import { rmSync } from 'node:fs';
import type { SessionLedger } from '../../domain/ledger/claims.ts';
import { ledgersIn, treesIn } from '../../domain/ledger/sub-agents.ts';
import { parseTreeStatus } from '../../domain/ledger/snapshot-text.ts';
import type { SessionId } from '../../domain/names.ts';
import { linkedWorktrees } from '../../git/worktrees.ts';
import { pruneScratch, scratchStore } from '../../git/scratch.ts';
import { entries } from '../../host/disk.ts';
import {
  beatFolder,
  knownWorktreeId,
  removeBeat,
  repositoryFolder,
  stateFolder,
} from '../../host/folders.ts';
import { removeBefore } from '../../changes/dirty-work.ts';
import { removeWindows } from '../../changes/windows.ts';
import {
  type LedgerPlace,
  appendEvents,
  closeJournal,
  closedJournals,
  lastWritten,
  readJournals,
  readLedger,
  removeJournal,
} from '../../sessions/journal.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { removeFormerState } from '../../sessions/migrate-state.ts';
import { type TreeCall, workPlaceOf } from '../call.ts';

/** How long we read an ended session's journal that has no claims, and how long we keep any ended session's. Milliseconds. */
const READ_MS = 6 * 3600_000;
const KEEP_MS = 7 * 86_400_000;
/** How long we keep contents that nothing refers to: a running call may be about to refer to them. Milliseconds. */
const KEEP_CONTENTS_MS = 3600_000;

/** Forgets the running calls of a session that is over. Its changes stay on record, because it may be resumed. */
export function forgetCalls({ tree, session, now }: TreeCall): void {
  const place = workPlaceOf(tree);
  removeWindows(place, session, now);
  removeBefore(place, session);
  answerCalls(place, session, now);
}

/** Ends all announcements of file tools that never reported a result. */
export function answerCalls(place: LedgerPlace, session: SessionId, now: number): void {
  if (readLedger(place, session).announced.size === 0) return;
  appendEvents(place, session, [{ t: 'answered', at: now }]);
}

/** Removes the state of ended sessions, and contents to which no claim refers. `others`: the other sessions on record. */
export function tidy({ tree, machine, session, now }: TreeCall, others: readonly JudgedSession[]): void {
  const { commonDir } = tree;
  const idsOf = (some: readonly JudgedSession[]) =>
    new Set([session, ...some.map((one) => one.record.session)]);
  const onRecord = idsOf(others);
  const live = idsOf(others.filter(({ liveness }) => liveness === 'live'));
  const present = idsOf(others.filter(({ liveness }) => liveness !== 'dead' && liveness !== 'ended'));
  tidyBeats(commonDir, present);
  const used = new Set<string>();
  for (const journal of readJournals(commonDir)) {
    const one = journal.session;
    const ledgers = treesIn(journal).flatMap((tree) => ledgersIn(journal, tree));
    const age = now - (lastWritten(commonDir, one) ?? now);
    const isOver = !live.has(one);
    if (isOver && age > KEEP_MS) removeJournal(commonDir, one);
    else if (isOver && age > READ_MS && !ledgers.some(isNeeded)) closeJournal(commonDir, one);
    else for (const oid of ledgers.flatMap(contents)) used.add(oid);
  }
  for (const { session: closed, at } of closedJournals(commonDir)) {
    if (now - at > KEEP_MS && !onRecord.has(closed)) removeJournal(commonDir, closed);
  }
  pruneScratch(scratchStore(commonDir), used, now - KEEP_CONTENTS_MS);
  tidyWorktrees(commonDir);
  removeFormerState(commonDir, stateFolder(machine.env));
}

/** Removes the beat files of sessions that cannot be at work: because of them, the git hooks would start Node for nothing. */
function tidyBeats(commonDir: string, present: ReadonlySet<string>): void {
  for (const name of entries(beatFolder(commonDir))) if (!present.has(name)) removeBeat(commonDir, name);
}

/** Whether a ledger is still needed: others' calls may touch its claims, or its start list may give rise to claims. */
function isNeeded({ claims, lasting: { alone, paused } }: SessionLedger): boolean {
  return claims.size > 0 || (alone !== undefined && paused === undefined);
}

/** The contents to which claims refer, or would refer if they were made from the session's start list. */
function contents({ claims, ended, staged, lasting }: SessionLedger): string[] {
  const changes = [...claims.values(), ...ended.values()].flatMap((claim) => claim.changes);
  const looks = [lasting.alone, lasting.paused].flatMap((one) => parseTreeStatus(one?.look ?? '') ?? []);
  const states = [
    ...changes.flatMap(({ before, after }) => [before, after]),
    ...[...staged.values()].flat().map(({ state }) => state),
    ...looks.flatMap(({ dirty }) => [...dirty.values()]).map(({ disk }) => disk),
  ];
  return states.flatMap((state) => state?.oid ?? []);
}

function tidyWorktrees(commonDir: string): void {
  const ids = linkedWorktrees(commonDir).map(({ gitDir }) => knownWorktreeId(gitDir));
  for (const kind of ['looks', 'before']) {
    const folder = `${repositoryFolder(commonDir)}/${kind}`;
    for (const name of entries(folder)) {
      if (!/^[0-9a-f]{16}$/.test(name) || ids.includes(name)) continue;
      rmSync(`${folder}/${name}`, { recursive: true, force: true });
    }
  }
}
