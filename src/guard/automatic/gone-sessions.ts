import { linkedWorktrees } from '../../git/worktrees.ts';
import { exists, realPath } from '../../host/disk.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { type Budget, beforeAnswer } from '../../host/io.ts';
import type { ProcessTable } from '../../host/processes.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { appendEvents, readLedger } from '../../sessions/journal.ts';
import type { TreeCall } from '../call.ts';
import { leaveNote } from './leave-note.ts';

/** The silence after which a session in another pid namespace (a container) counts as gone. Milliseconds. */
const SILENT_MS = 86_400_000;
/** The most notes that one session start writes. The newest sessions come first; the next start writes more. */
const MAX_AT_ONCE = 5;
type Machine = Pick<ProcessTable, 'bootId' | 'host'>;

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

/** Leaves a note for each of these sessions; `budget` is the time for all notes together. */
export async function leaveNotesOfGone(
  { tree: { commonDir }, machine: { files }, now, log }: TreeCall,
  gone: readonly JudgedSession[],
  sessions: readonly JudgedSession[],
  budget: Budget,
): Promise<void> {
  const trees = linkedWorktrees(commonDir);
  for (const session of gone) {
    if (budget.left() <= 0) break;
    const { worktreeId, record, liveness } = session;
    const tree = trees.find(({ gitDir }) => knownWorktreeId(gitDir) === worktreeId);
    // A missing worktree may be on a disk that is not mounted now.
    if (tree === undefined || !exists(tree.path)) continue;
    const place = { commonDir, worktreeId, top: realPath(tree.path) };
    const reason = liveness === 'ended' ? 'session-end' : 'death';
    const context = { place, sessions, files, now, timeoutMs: beforeAnswer(budget) };
    try {
      // If git was too slow for the note, we record nothing, so that the next session to start tries again.
      if (await leaveNote({ ...context, session, reason }))
        appendEvents(place, record.session, [{ t: 'note-left', process: processOf(session), at: now }]);
    } catch (error) {
      log('note', `no automatic note for ${record.session}: ${String(error)}`);
    }
  }
}

const ledgerOf = (commonDir: string, { worktreeId, record }: JudgedSession) =>
  readLedger({ commonDir, worktreeId }, record.session);

/** Names the process of a session. A resumed session runs as another process. */
const processOf = ({ record: { pid, start } }: JudgedSession) => `${pid ?? '-'} ${start ?? '-'}`;

/** Whether a session is gone. A silent session may be at work in a container, or on another machine (with another boot id). */
function isGone({ liveness, record, silentMs }: JudgedSession, { bootId, host }: Machine): boolean {
  if (liveness !== 'unknown') return liveness === 'dead';
  const isOtherBoot = bootId !== null && record.bootId !== null && record.bootId !== bootId;
  const isThisMachine = record.host === null || record.host === host;
  return (isOtherBoot && isThisMachine) || (silentMs ?? 0) > SILENT_MS;
}
