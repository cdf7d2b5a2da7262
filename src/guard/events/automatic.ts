import { keptCommand } from '../../domain/automatic-note.ts';
import type { AutomaticReason } from '../../domain/handoff.ts';
import type { SessionId } from '../../domain/names.ts';
import { realPath } from '../../host/disk.ts';
import { succeededBy } from '../../domain/session.ts';
import { openRepository } from '../../git/repository.ts';
import { knownWorktreeId, worktreeId } from '../../host/folders.ts';
import { type Budget, inTime } from '../../host/io.ts';
import { processTable } from '../../host/processes.ts';
import { rememberFailed } from '../../notes/failed-commands.ts';
import { forgetLate, isLate, rememberLate, tidyNoted } from '../../notes/noted.ts';
import { type StoredSession, judgeSessions, listSessions } from '../../sessions/records.ts';
import { closeOwnNotes, closeSettledNotes } from '../../notes/automatic/close-notes.ts';
import { ownWork } from '../../notes/automatic/own-work.ts';
import type { TopicState } from '../../notes/topic.ts';
import { leaveNotesOfGone, sessionsToNote } from '../../notes/automatic/gone-sessions.ts';
import { type LeaveResult, leaveNote } from '../../notes/automatic/leave-note.ts';
import { changedFileTime } from '../../notes/automatic/predecessor-notes.ts';
import type { Registered } from './registration.ts';
import type { Scene } from '../scene.ts';

/** Automatic notes in the guard: each within its time, and none stops what else the hook is for. */

/** Of the clients' limit for the end of a session (1.5 seconds) this is ours, and this the note's. Milliseconds. */
const END_MS = 1100;
const END_NOTE_MS = 650;
/** A start or a compaction can wait longer. Milliseconds. */
const START_MS = 1500;
const START_NOTE_MS = 1000;

/**
 * Leaves the note of a session that ends, before its end is recorded: one that is killed meanwhile has died. What could
 * not be done in time, and what it did in other worktrees, is left to whoever starts next.
 */
export async function noteEnd(
  scene: Scene,
  session: SessionId,
  all: readonly StoredSession[],
): Promise<void> {
  const { settings, place } = scene;
  if (!settings.automaticNotes || place === undefined) return;
  const { commonDir } = place;
  const own = all.filter(({ record }) => record.session === session);
  const ending = own.filter((one) => one.record.ended === null || isLate(commonDir, one));
  const here = ending.find(({ worktreeId }) => worktreeId === knownWorktreeId(place.gitDir));
  for (const one of ending) rememberLate(commonDir, one);
  if (here === undefined) return;
  scene.budget.extend(END_MS);
  const result = await withinTime(scene, END_NOTE_MS, (budget) =>
    leaveOwn(scene, here, all, 'session-end', budget),
  );
  if (result !== undefined && result !== 'partial') forgetLate(commonDir, here);
}

/** Leaves a note before the session's context is made smaller. A sub-agent's is not the session's. */
export async function noteCompaction(scene: Scene, session: SessionId): Promise<void> {
  const { settings, place, event } = scene;
  if (!settings.automaticNotes || place === undefined || event.agent !== undefined) return;
  scene.budget.extend(START_MS);
  const worktreeId = knownWorktreeId(place.gitDir);
  await withinTime(scene, START_NOTE_MS, async (budget) => {
    const all = await listSessions({ cwd: scene.cwd });
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
  scene.budget.extend(START_MS);
  const log = (detail: string) => scene.log('note', detail);
  const facts = { commonDir, sessions: others, files, now, log };
  await withinTime(scene, START_NOTE_MS, (budget) => leaveNotesOfGone(gone, { ...facts, budget }));
  return true;
}

/** Closes notes of whose work nothing is left here, before they are told. False when there was none. */
export async function closeSettled(
  scene: Scene,
  { record, others }: Registered,
  topics: readonly TopicState[],
): Promise<boolean> {
  const { place, settings, now } = scene;
  if (!settings.automaticNotes || place === undefined) return false;
  const { commonDir, gitDir, workTree } = place;
  const ledgers = { commonDir, worktreeId: worktreeId(gitDir) };
  const repository = await openRepository(scene.cwd);
  const own = succeededBy(record.session, [record, ...others.map((one) => one.record)]);
  const left = topics.filter(({ tip }) => {
    const { automatic, owner } = tip?.trailers ?? {};
    return automatic !== undefined && owner !== record.session && owner !== undefined && !own.includes(owner);
  });
  if (left.length === 0) return false;
  const isAny = await withinTime(scene, START_NOTE_MS, (budget) =>
    closeSettledNotes(repository, left, {
      top: realPath(workTree),
      place: ledgers,
      sessions: others,
      now,
      timeoutMs: budget.part(END_NOTE_MS * 0.6).left(),
    }),
  );
  return isAny === true;
}

/** Closes the notes of a conversation that goes on, when it has been told of them. */
export async function closeOwn(
  scene: Scene,
  { record, others }: Registered,
  topics: readonly TopicState[],
): Promise<void> {
  const { session } = record;
  const own = [session, ...succeededBy(session, [record, ...others.map((one) => one.record)])];
  const isOwn = ({ tip }: TopicState) =>
    tip?.trailers?.automatic !== undefined && own.includes(tip.trailers.owner);
  if (!scene.settings.automaticNotes || !topics.some(isOwn)) return;
  const repository = await openRepository(scene.cwd);
  await withinTime(scene, START_NOTE_MS, () => closeOwnNotes(repository, topics, own, scene.now));
}

/** What a session has changed here and not committed: as many paths. */
export async function countOwn(scene: Scene, session: SessionId): Promise<number> {
  const { place, settings, now, budget } = scene;
  if (place === undefined) return 0;
  const { commonDir, gitDir, workTree } = place;
  const ledgers = { commonDir, worktreeId: worktreeId(gitDir) };
  const all = await listSessions({ cwd: scene.cwd }, budget.left());
  const sessions = judgeSessions(all, commonDir, processTable(), settings.staleAfterMs, now);
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
    timeoutMs: budget.part(END_NOTE_MS * 0.6).left(),
  });
}

/** `undefined` when it failed or took too long, which is one line in the log. */
async function withinTime<T>(
  scene: Scene,
  milliseconds: number,
  what: (budget: Budget) => Promise<T>,
): Promise<T | undefined> {
  const budget = scene.budget.part(milliseconds);
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
