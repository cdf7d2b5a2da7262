import { keptCommand } from '../../domain/automatic-note.ts';
import type { AutomaticReason } from '../../domain/handoff.ts';
import type { SessionId } from '../../domain/names.ts';
import { realPath } from '../../host/disk.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { type Budget, beforeAnswer, inTime } from '../../host/io.ts';
import { processTable } from '../../host/processes.ts';
import { rememberFailed } from '../../notes/failed-commands.ts';
import { forgetLate, isLate, rememberLate, tidyNoted } from '../../notes/noted.ts';
import { type StoredSession, judgeSessions, listSessions } from '../../sessions/records.ts';
import { leaveNotesOfGone, sessionsToNote } from '../../notes/automatic/gone-sessions.ts';
import { type LeaveResult, leaveNote } from '../../notes/automatic/leave-note.ts';
import { changedFileTime } from '../../notes/automatic/predecessor-notes.ts';
import type { Registered } from './registration.ts';
import type { Scene } from '../scene.ts';

/** Automatic notes in the guard: each within its time, and none stops what else the hook is for. */

/**
 * Remembers that the notes of a session that ends are to be left: what is not done in time, and what it did in other
 * worktrees, is left to whoever starts next. Returns what it did here.
 */
export function expectEndNotes(
  { settings, place }: Scene,
  session: SessionId,
  all: readonly StoredSession[],
): StoredSession | undefined {
  if (!settings.automaticNotes || place === undefined) return undefined;
  const { commonDir } = place;
  const own = all.filter(({ record }) => record.session === session);
  const ending = own.filter((one) => one.record.ended === null || isLate(commonDir, one));
  for (const one of ending) rememberLate(commonDir, one);
  return ending.find(({ worktreeId }) => worktreeId === knownWorktreeId(place.gitDir));
}

/** Leaves the note of a session whose end is on record. */
export async function noteEnd(
  scene: Scene,
  here: StoredSession,
  all: readonly StoredSession[],
): Promise<void> {
  const result = await withinTime(scene, (budget) => leaveOwn(scene, here, all, 'session-end', budget));
  if (result !== undefined && result !== 'partial') forgetLate(scene.place?.commonDir ?? '', here);
}

/** Leaves a note before the session's context is made smaller. A sub-agent's is not the session's. */
export async function noteCompaction(scene: Scene, session: SessionId): Promise<void> {
  const { settings, place, event } = scene;
  if (!settings.automaticNotes || place === undefined || event.agent !== undefined) return;
  const worktreeId = knownWorktreeId(place.gitDir);
  await withinTime(scene, async (budget) => {
    const all = await listSessions({ cwd: scene.folder });
    const own = all.find((one) => one.record.session === session && one.worktreeId === worktreeId);
    return own === undefined ? 'nothing' : leaveOwn(scene, own, all, 'compaction', budget);
  });
}

/** Leaves the notes of sessions that are gone without a word, for the one that starts. False when there was none to leave. */
export async function noteGone(scene: Scene, { others }: Registered): Promise<boolean> {
  const { place, settings, files, now } = scene;
  if (!settings.automaticNotes || place === undefined) return false;
  const { commonDir } = place;
  const gone = sessionsToNote(commonDir, others, processTable().bootId);
  tidyNoted(commonDir, others);
  if (gone.length === 0) return false;
  const log = (detail: string) => scene.log('note', detail);
  const facts = { commonDir, sessions: others, files, now, log };
  await withinTime(scene, (budget) => leaveNotesOfGone(gone, { ...facts, budget }));
  return true;
}

/** Remembers that a command failed. What git-handoff refused is no failure of the session's. */
export function noteFailure({ event, place, settings, log }: Scene, session: SessionId): void {
  const { failure, tool } = event;
  if (!settings.automaticNotes || place === undefined || failure === undefined) return;
  if (tool?.kind !== 'shell' || /git[ -]handoff/.test(failure.output)) return;
  try {
    rememberFailed(place.commonDir, session, { command: keptCommand(tool.command), exit: failure.exit });
  } catch (error) {
    log('note', `a failed command is not remembered: ${String(error)}`);
  }
}

function leaveOwn(
  scene: Scene,
  own: StoredSession,
  all: readonly StoredSession[],
  reason: AutomaticReason,
  budget: Budget,
): Promise<LeaveResult> {
  const { place, settings, now, files } = scene;
  const { commonDir = '', workTree = '' } = place ?? {};
  const sessions = judgeSessions(all, commonDir, processTable(), settings.staleAfterMs, now);
  const session = sessions.find((one) => one.oid === own.oid && one.worktreeId === own.worktreeId);
  if (session === undefined) return Promise.resolve('nothing');
  return leaveNote({
    top: realPath(workTree),
    place: { commonDir, worktreeId: own.worktreeId },
    session,
    reason,
    sessions,
    fileWritten: changedFileTime(files, own.record.session),
    now,
    timeoutMs: beforeAnswer(budget),
  });
}

/** `undefined` when it failed or took too long, which is one line in the log. */
async function withinTime<T>(scene: Scene, what: (budget: Budget) => Promise<T>): Promise<T | undefined> {
  const budget = scene.budget.part(beforeAnswer(scene.budget));
  const noNote = (why: string) => scene.log('note', `no automatic note: ${why}`);
  try {
    const result = await inTime(what(budget), budget);
    if (result !== 'late') return result;
    noNote('it took too long');
  } catch (error) {
    noNote(error instanceof Error ? error.message : String(error));
  }
  return undefined;
}
