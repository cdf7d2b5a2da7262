import { linkedWorktrees } from '../../git/worktrees.ts';
import { exists, realPath } from '../../host/disk.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { type Budget, beforeAnswer } from '../../host/io.ts';
import type { ProcessTable } from '../../host/processes.ts';
import type { MarkerFiles } from '../../host/marker-files.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { appendEvents, readLedger } from '../../sessions/journal.ts';
import { changedFileTime, type LeaveResult, leaveNote } from './leave-note.ts';

/** The silence after which a session in another pid namespace (a container) counts as gone. Milliseconds. */
const SILENT_MS = 86_400_000;
/** The most notes that one session start writes, first those for the newest sessions. The next start writes the others. */
const MAX_AT_ONCE = 5;
/** The least time in which a note can be made. Milliseconds. */
const LEAST_MS = 50;

/** The machine, and its current boot. */
type Machine = Pick<ProcessTable, 'bootId' | 'host'>;

interface GoneFacts {
  readonly commonDir: string;
  /** All sessions on record. */
  readonly sessions: readonly JudgedSession[];
  readonly files: MarkerFiles;
  readonly now: number;
  /** The time for all notes together. */
  readonly budget: Budget;
  readonly log: (detail: string) => void;
}

/**
 * Returns the sessions that are gone and have no note yet, newest first: those whose process is proven gone, those that
 * made no call since the machine started or for a day, and those whose end left no time for a note.
 */
export function sessionsToNote(
  commonDir: string,
  sessions: readonly JudgedSession[],
  machine: Machine,
): JudgedSession[] {
  return sessions
    .filter((one) => {
      if (one.liveness !== 'ended' && !isGone(one, machine)) return false;
      const { 'note-due': due, 'note-left': left } = ledgerOf(commonDir, one).lasting;
      return one.liveness === 'ended' ? due !== undefined : left?.process !== processOf(one);
    })
    .sort((a, b) => b.record.startedAt - a.record.startedAt)
    .slice(0, MAX_AT_ONCE);
}

/** Leaves one note for each of these sessions. Returns the sessions for which it wrote one. */
export async function leaveNotesOfGone(
  gone: readonly JudgedSession[],
  facts: GoneFacts,
): Promise<JudgedSession[]> {
  const written: JudgedSession[] = [];
  const trees = linkedWorktrees(facts.commonDir);
  for (const session of gone) {
    if (facts.budget.left() < LEAST_MS) break;
    const tree = trees.find(({ gitDir }) => knownWorktreeId(gitDir) === session.worktreeId);
    // A missing worktree may be on a disk that is not mounted now.
    if (tree === undefined || !exists(tree.path)) continue;
    try {
      const result = await leaveNoteOfGone(session, realPath(tree.path), facts);
      if (result === 'written') written.push(session);
    } catch (error) {
      facts.log(`no automatic note for ${session.record.session}: ${String(error)}`);
    }
  }
  return written;
}

async function leaveNoteOfGone(session: JudgedSession, top: string, facts: GoneFacts): Promise<LeaveResult> {
  const { commonDir, sessions, files, now, budget } = facts;
  const result = await leaveNote({
    top,
    place: { commonDir, worktreeId: session.worktreeId },
    session,
    reason: session.liveness === 'ended' ? 'session-end' : 'death',
    sessions,
    fileWritten: changedFileTime(files, session.record.session),
    now,
    timeoutMs: beforeAnswer(budget),
  });
  // The next session to start may have more time.
  if (result === 'partial') return result;
  const { session: id } = session.record;
  const left = { t: 'note-left', process: processOf(session), at: now } as const;
  appendEvents({ commonDir, worktreeId: session.worktreeId }, id, [left]);
  return result;
}

const ledgerOf = (commonDir: string, { worktreeId, record }: JudgedSession) =>
  readLedger({ commonDir, worktreeId }, record.session);

/** Names the process of a session. A resumed session runs as another process. */
const processOf = ({ record: { pid, start } }: JudgedSession) => `${pid ?? '-'} ${start ?? '-'}`;

/** Whether a session is gone. A silent one may be at work in a container or, if its boot id is not ours, on another machine. */
function isGone({ liveness, record, silentMs }: JudgedSession, { bootId, host }: Machine): boolean {
  if (liveness !== 'unknown') return liveness === 'dead';
  const isOtherBoot = bootId !== null && record.bootId !== null && record.bootId !== bootId;
  const isThisMachine = record.host === null || record.host === host;
  return (isOtherBoot && isThisMachine) || (silentMs ?? 0) > SILENT_MS;
}
