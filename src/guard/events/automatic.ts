import type { AutomaticReason } from '../../domain/handoff.ts';
import type { SessionRecord } from '../../domain/session.ts';
import type { Repository } from '../../git/repository.ts';
import { type Budget, beforeAnswer, inTime } from '../../host/io.ts';
import { closeOwnNotes, closeSettledNotes } from '../automatic/close-notes.ts';
import { leaveNotesOfGone, sessionsToNote } from '../automatic/gone-sessions.ts';
import { type Leaving, hasUnnotedWork, leaveNote } from '../automatic/leave-note.ts';
import { type NoteContext, conversation, ownWork } from '../automatic/own-work.ts';
import { appendEvents, readLedger } from '../../sessions/journal.ts';
import type { TopicState } from '../../notes/topic.ts';
import type { JudgedSession, StoredSession } from '../../sessions/records.ts';
import { type TreeCall, workPlaceOf } from '../call.ts';
import { readSessions } from '../presence.ts';
import type { Registered } from './registration.ts';

/** The guard's automatic notes: each has a time limit, and a failure does not stop the hook's other work. */

/**
 * Records in which worktrees an ending session needs a note. If there is no time for a note now, or if it is for another
 * worktree, the next session that starts writes it. Returns whether the session needs a note in this worktree.
 */
export function expectEndNotes(
  { settings, tree, session, now }: TreeCall,
  all: readonly StoredSession[],
): boolean {
  if (!settings.automaticNotes) return false;
  const here = workPlaceOf(tree);
  const isDue = ({ record, worktreeId }: StoredSession) =>
    record.ended === null || readLedger({ ...here, worktreeId }, session).lasting['note-due'] !== undefined;
  const due = all.filter((one) => one.record.session === session && isDue(one));
  for (const { worktreeId } of due)
    appendEvents({ ...here, worktreeId }, session, [{ t: 'note-due', at: now }]);
  return due.some(({ worktreeId }) => worktreeId === here.worktreeId);
}

/** Writes the automatic note of a session whose end is on record. */
export async function noteEnd(call: TreeCall, all: readonly JudgedSession[]): Promise<void> {
  const isWhole = await withinTime(call, (budget) => leaveOwn(leavingOf(call, all, 'session-end', budget)));
  if (isWhole === true)
    appendEvents(workPlaceOf(call.tree), call.session, [{ t: 'note-left', at: call.now }]);
}

/** Writes a note before the session's context is compacted. A sub-agent's compaction needs no note. */
export async function noteCompaction(call: TreeCall): Promise<void> {
  if (!call.settings.automaticNotes || call.event.agent !== undefined) return;
  await withinTime(call, async (budget) =>
    leaveOwn(leavingOf(call, await readSessions(call), 'compaction', budget)),
  );
}

/** Writes notes for sessions that are gone and left none. Returns false if there were none to write. */
export async function noteGone(call: TreeCall, { others }: Registered): Promise<boolean> {
  if (!call.settings.automaticNotes) return false;
  const gone = sessionsToNote(call.tree.commonDir, others, call.machine.processes());
  if (gone.length === 0) return false;
  await withinTime(call, (budget) => leaveNotesOfGone(call, gone, others, budget));
  return true;
}

/** Closes notes whose uncommitted work is gone, before the session hears about them. Returns whether it closed any. */
export async function closeSettled(
  call: TreeCall,
  repository: Repository,
  { record, others }: Registered,
  topics: readonly TopicState[],
): Promise<boolean> {
  if (!call.settings.automaticNotes) return false;
  const isAny = await withinTime(call, (budget) =>
    closeSettledNotes(repository, topics, contextOf(call, others, budget), record),
  );
  return isAny === true;
}

/** Closes the automatic notes of a conversation that continues, after it has heard about them. */
export async function closeOwn(
  call: TreeCall,
  repository: Repository,
  { record, others }: Registered,
  topics: readonly TopicState[],
): Promise<void> {
  if (!call.settings.automaticNotes) return;
  const own = conversation(record.session, [record, ...recordsOf(others)]);
  await withinTime(call, () => closeOwnNotes(repository, topics, own, call.now));
}

/** Counts the paths that a session has changed here and not committed. */
export async function countOwn(call: TreeCall): Promise<number> {
  const sessions = await readSessions(call);
  const own = conversation(call.session, recordsOf(sessions));
  return (await ownWork(contextOf(call, sessions, call.budget), own)).paths.length;
}

/** Whether the session has changed or committed anything since its last note; `undefined` when time ran out. */
export async function hasWorkToNote(call: TreeCall): Promise<boolean | undefined> {
  const sessions = await readSessions(call);
  return withinTime(call, async (budget) => {
    const leaving = leavingOf(call, sessions, 'compaction', budget);
    return leaving !== undefined && hasUnnotedWork(leaving);
  });
}

const recordsOf = (sessions: readonly JudgedSession[]): SessionRecord[] =>
  sessions.map(({ record }) => record);

async function leaveOwn(leaving: Leaving | undefined): Promise<boolean> {
  return leaving === undefined || leaveNote(leaving);
}

/** Returns what the session's own note needs; `undefined` when the session is not on record here. */
function leavingOf(
  call: TreeCall,
  sessions: readonly JudgedSession[],
  reason: AutomaticReason,
  budget: Budget,
): Leaving | undefined {
  const context = contextOf(call, sessions, budget);
  const session = sessions.find(
    ({ record, worktreeId }) => record.session === call.session && worktreeId === context.place.worktreeId,
  );
  return session === undefined ? undefined : { ...context, session, reason };
}

function contextOf(
  { tree, machine: { files }, now }: TreeCall,
  sessions: readonly JudgedSession[],
  budget: Budget,
): NoteContext {
  return { place: workPlaceOf(tree), sessions, files, now, timeoutMs: beforeAnswer(budget) };
}

/** If `what` fails or takes too long, returns `undefined` and writes a line to the log. */
async function withinTime<T>(call: TreeCall, what: (budget: Budget) => Promise<T>): Promise<T | undefined> {
  const budget = call.budget.part(beforeAnswer(call.budget));
  const noNote = (why: string) => call.log('note', `no automatic note: ${why}`);
  try {
    const result = await inTime(what(budget), budget);
    if (result !== 'late') return result;
    noNote('it took too long');
  } catch (error) {
    noNote(error instanceof Error ? error.message : String(error));
  }
  return undefined;
}
