import type { AutomaticReason } from '../../domain/handoff.ts';
import { succeededBy } from '../../domain/session.ts';
import { openRepository } from '../../git/repository.ts';
import { realPath } from '../../host/disk.ts';
import { knownWorktreeId, worktreeId } from '../../host/folders.ts';
import { type Budget, beforeAnswer, inTime } from '../../host/io.ts';
import { closeOwnNotes, closeSettledNotes } from '../automatic/close-notes.ts';
import { leaveNotesOfGone, sessionsToNote } from '../automatic/gone-sessions.ts';
import {
  type LeaveResult,
  type Leaving,
  hasUnnotedWork,
  leaveNote,
  changedFileTime,
} from '../automatic/leave-note.ts';
import { ownWork } from '../automatic/own-work.ts';
import { appendEvents, readLedger } from '../../sessions/journal.ts';
import type { TopicState } from '../../notes/topic.ts';
import { type StoredSession, judgeSessions, listSessions } from '../../sessions/records.ts';
import type { TreeCall } from '../call.ts';
import type { Registered } from './registration.ts';

/** The guard's automatic notes: each has a time limit, and a failure does not stop the hook's other work. */

/**
 * Records that an ending session needs its notes. The notes for which there is no time, and those for other worktrees, are
 * written by the next session that starts. Returns the session's record in this worktree.
 */
export function expectEndNotes(
  { settings, tree, session, now }: TreeCall,
  all: readonly StoredSession[],
): StoredSession | undefined {
  if (!settings.automaticNotes) return undefined;
  const { commonDir } = tree;
  const own = all.filter(({ record }) => record.session === session);
  const placeFor = ({ worktreeId }: StoredSession) => ({ commonDir, worktreeId });
  const ending = own.filter(
    (one) =>
      one.record.ended === null || readLedger(placeFor(one), session).lasting['note-due'] !== undefined,
  );
  for (const one of ending) appendEvents(placeFor(one), session, [{ t: 'note-due', at: now }]);
  return ending.find(({ worktreeId }) => worktreeId === knownWorktreeId(tree.gitDir));
}

/** Writes the automatic note of a session whose end is on record. */
export async function noteEnd(
  call: TreeCall,
  here: StoredSession,
  all: readonly StoredSession[],
): Promise<void> {
  const result = await withinTime(call, (budget) => leaveOwn(call, here, all, 'session-end', budget));
  if (result !== undefined && result !== 'partial') {
    const place = { commonDir: call.tree.commonDir, worktreeId: here.worktreeId };
    appendEvents(place, call.session, [{ t: 'note-left', at: call.now }]);
  }
}

/** Writes a note before the session's context is compacted, but none before a sub-agent's is. */
export async function noteCompaction(call: TreeCall): Promise<void> {
  const { settings, tree, event } = call;
  if (!settings.automaticNotes || event.agent !== undefined) return;
  const worktreeId = knownWorktreeId(tree.gitDir);
  await withinTime(call, async (budget) => {
    const all = await listSessions({ cwd: call.tree.folder });
    const own = all.find((one) => one.record.session === call.session && one.worktreeId === worktreeId);
    return own === undefined ? 'nothing' : leaveOwn(call, own, all, 'compaction', budget);
  });
}

/** Writes notes for sessions that are gone and left none. Returns false if there were none to write. */
export async function noteGone(call: TreeCall, { others }: Registered): Promise<boolean> {
  const { tree, settings, machine, now } = call;
  if (!settings.automaticNotes) return false;
  const { commonDir } = tree;
  const gone = sessionsToNote(commonDir, others, machine.processes());
  if (gone.length === 0) return false;
  const log = (detail: string) => call.log('note', detail);
  const facts = { commonDir, sessions: others, files: machine.files, now, log };
  await withinTime(call, (budget) => leaveNotesOfGone(gone, { ...facts, budget }));
  return true;
}

/** Before the session hears about notes, closes those whose uncommitted work is gone from here; false if it closes none. */
export async function closeSettled(
  call: TreeCall,
  { record, others }: Registered,
  topics: readonly TopicState[],
): Promise<boolean> {
  const { tree, settings, now } = call;
  if (!settings.automaticNotes) return false;
  const { commonDir, gitDir, workTree } = tree;
  const ledgers = { commonDir, worktreeId: worktreeId(gitDir) };
  const repository = await openRepository(call.tree.folder);
  const own = succeededBy(record.session, [record, ...others.map((one) => one.record)]);
  const left = topics.filter(({ tip }) => {
    const { automatic, owner } = tip?.trailers ?? {};
    return automatic !== undefined && owner !== record.session && owner !== undefined && !own.includes(owner);
  });
  if (left.length === 0) return false;
  const isAny = await withinTime(call, (budget) =>
    closeSettledNotes(repository, left, {
      top: realPath(workTree),
      place: ledgers,
      sessions: others,
      now,
      timeoutMs: beforeAnswer(budget),
    }),
  );
  return isAny === true;
}

/** Closes the automatic notes of a conversation that continues, after it has heard about them. */
export async function closeOwn(
  call: TreeCall,
  { record, others }: Registered,
  topics: readonly TopicState[],
): Promise<void> {
  const { session } = record;
  const own = [session, ...succeededBy(session, [record, ...others.map((one) => one.record)])];
  const isOwn = ({ tip }: TopicState) =>
    tip?.trailers?.automatic !== undefined && own.includes(tip.trailers.owner);
  if (!call.settings.automaticNotes || !topics.some(isOwn)) return;
  const repository = await openRepository(call.tree.folder);
  await withinTime(call, () => closeOwnNotes(repository, topics, own, call.now));
}

/** Counts the paths that a session has changed here and not committed. */
export async function countOwn(call: TreeCall): Promise<number> {
  const { session, tree, machine, settings, now, budget } = call;
  const { commonDir, gitDir, workTree } = tree;
  const ledgers = { commonDir, worktreeId: worktreeId(gitDir) };
  const all = await listSessions({ cwd: call.tree.folder }, budget.left());
  const sessions = judgeSessions(all, commonDir, machine.processes(), settings.staleAfterMs, now);
  const own = [
    session,
    ...succeededBy(
      session,
      all.map((one) => one.record),
    ),
  ];
  const options = { own, sessions, now, timeoutMs: budget.left() };
  return (await ownWork(realPath(workTree), ledgers, options)).paths.length;
}

/** Whether the session has changed or committed anything since its last note; `undefined` when time ran out. */
export async function hasWorkToNote(call: TreeCall): Promise<boolean | undefined> {
  const all = await listSessions({ cwd: call.tree.folder }, call.budget.left());
  const worktreeId = knownWorktreeId(call.tree.gitDir);
  const own = all.find((one) => one.record.session === call.session && one.worktreeId === worktreeId);
  return withinTime(call, async (budget) => {
    const leaving = own === undefined ? undefined : leavingOf(call, own, all, 'compaction', budget);
    return leaving !== undefined && hasUnnotedWork(leaving);
  });
}

function leaveOwn(...given: Parameters<typeof leavingOf>): Promise<LeaveResult> {
  const leaving = leavingOf(...given);
  return leaving === undefined ? Promise.resolve('nothing') : leaveNote(leaving);
}

function leavingOf(
  call: TreeCall,
  own: StoredSession,
  all: readonly StoredSession[],
  reason: AutomaticReason,
  budget: Budget,
): Leaving | undefined {
  const { tree, settings, now, machine } = call;
  const { commonDir, workTree } = tree;
  const sessions = judgeSessions(all, commonDir, machine.processes(), settings.staleAfterMs, now);
  const session = sessions.find((one) => one.oid === own.oid && one.worktreeId === own.worktreeId);
  if (session === undefined) return undefined;
  return {
    top: realPath(workTree),
    place: { commonDir, worktreeId: own.worktreeId },
    session,
    reason,
    sessions,
    fileWritten: changedFileTime(machine.files, own.record.session),
    now,
    timeoutMs: beforeAnswer(budget),
  };
}

/** Returns `undefined` when the work failed or took too long, and writes a line to the log. */
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
