import { rmSync } from 'node:fs';
import type { SessionLedger } from '../../domain/ledger/claims.ts';
import { ledgersIn, treesIn } from '../../domain/ledger/sub-agents.ts';
import { parseTreeStatus } from '../../domain/ledger/snapshot-text.ts';
import { type SessionId, parseSessionId } from '../../domain/names.ts';
import { linkedWorktrees } from '../../git/worktrees.ts';
import { pruneScratch, scratchStore } from '../../git/scratch-store.ts';
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
import { removeFormerState } from '../../sessions/migrate-state.ts';
import { type TreeCall, workPlaceOf } from '../call.ts';

/** How long we read the journal of an ended session without claims, and how long we keep any journal. Milliseconds. */
const READ_MS = 6 * 3600_000;
const KEEP_MS = 7 * 86_400_000;
/** How long we keep contents that nothing refers to: a running call may be about to do so. Milliseconds. */
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

/** The sessions on record in a repository, grouped by whether they are at work. */
interface OnRecord {
  readonly all: ReadonlySet<SessionId>;
  readonly live: ReadonlySet<SessionId>;
  /** The sessions whose process is proven gone, or that have reported their end. */
  readonly gone: ReadonlySet<SessionId>;
}

/** Removes what nobody needs any more: the state of ended sessions, and contents to which no claim refers. */
export function tidy({ tree: { commonDir }, machine, now }: TreeCall, onRecord: OnRecord): void {
  tidyBeats(commonDir, onRecord);
  const used = new Set<string>();
  for (const journal of readJournals(commonDir)) {
    const { session } = journal;
    const ledgers = treesIn(journal).flatMap((tree) => ledgersIn(journal, tree));
    const age = now - (lastWritten(commonDir, session) ?? now);
    const isOver = !onRecord.live.has(session);
    if (isOver && age > KEEP_MS) removeJournal(commonDir, session);
    else if (isOver && age > READ_MS && !ledgers.some(isNeeded)) closeJournal(commonDir, session);
    else for (const oid of ledgers.flatMap(contents)) used.add(oid);
  }
  for (const { session, at } of closedJournals(commonDir)) {
    if (now - at > KEEP_MS && !onRecord.all.has(session)) removeJournal(commonDir, session);
  }
  pruneScratch(scratchStore(commonDir), used, now - KEEP_CONTENTS_MS);
  tidyWorktrees(commonDir);
  removeFormerState(commonDir, stateFolder(machine.env));
}

/** Removes the beats of sessions that cannot be at work. With them, the git hooks would start Node for nothing. */
function tidyBeats(commonDir: string, { all, gone }: OnRecord): void {
  const folder = beatFolder(commonDir);
  for (const name of entries(folder)) {
    const session = parseSessionId(name);
    if (session === undefined || gone.has(session) || !all.has(session)) removeBeat(commonDir, name);
  }
}

/** Whether a ledger is still needed: others' calls may touch its claims, or its session may have changed more. */
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
