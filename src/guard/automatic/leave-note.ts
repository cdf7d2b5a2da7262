import type { LedgerPlace } from '../../sessions/journal.ts';
import { readStart } from '../../changes/windows.ts';
import {
  type AutomaticFacts,
  automaticNote,
  automaticSummary,
  automaticTopic,
  isWorthNoting,
} from '../../domain/automatic-note.ts';
import { type AutomaticReason, recordState } from '../../domain/handoff.ts';
import type { SessionId } from '../../domain/names.ts';
import { succeededBy } from '../../domain/session.ts';
import { hash } from '../../git/hash.ts';
import { type HandoffPath, handoffPath } from '../../git/namespace.ts';
import { type Repository, committer, openRepository, readTreeState } from '../../git/repository.ts';
import { type LoggedCommit, commitsOf, headAt, unsignedCommits } from '../../git/log.ts';
import { statOf } from '../../host/disk.ts';
import type { MarkerFiles } from '../../host/marker-files.ts';
import { worktreeName } from '../../sessions/caller.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { type CommitContent, commitHandoff } from '../../notes/handoffs.ts';
import { type TopicState, readTopic, readTopics } from '../../notes/topic.ts';
import { closeNote } from './close-notes.ts';
import { type OwnWork, ownWork } from './own-work.ts';

/** The session that a note is about, and where it worked. */
export interface Leaving {
  /** Top folder of the worktree. */
  readonly top: string;
  readonly place: LedgerPlace;
  readonly session: JudgedSession;
  readonly reason: AutomaticReason;
  /** All sessions on record, this one included. */
  readonly sessions: readonly JudgedSession[];
  /** When the session last wrote a handoff file in the predecessor's form, milliseconds since the epoch. */
  readonly fileWritten: number | undefined;
  readonly now: number;
  /** The time limit of each git process; the note leaves out what git has not answered by then. */
  readonly timeoutMs: number;
}

/**
 * `covered`: the session's own note, or its last automatic one, already says everything. `partial`: git took too long, so
 * the note, if one was written, lacks the uncommitted changes.
 */
export type LeaveResult = 'written' | 'covered' | 'nothing' | 'refused' | 'partial';

/**
 * Leaves a note for a session that left none: on a topic of that session, owned by it, and marked as automatic. Never
 * replaces a note that somebody wrote, and does not write the same text twice.
 */
export async function leaveNote(leaving: Leaving): Promise<LeaveResult> {
  const { top, now } = leaving;
  const { record } = leaving.session;
  const repository = await openRepository(top);
  const [seen, author] = await Promise.all([look(leaving, repository), committer(top)]);
  const { own, work, commits: made, topics } = seen;
  const facts = factsOf(leaving, repository, seen);
  const isWhole = work !== undefined;
  const path = placeFor(repository, topics, own);
  const isCovered = isCoveredByNote(leaving, own, topics, work, made);
  if (isCovered || !isWorthNoting(facts)) {
    // The work in the session's earlier automatic note is done, or the session's own note describes it.
    const before = isWhole ? path?.before : undefined;
    if (before?.tip?.trailers?.state === 'open') await closeNote(repository, before, now);
    return isCovered ? 'covered' : isWhole ? 'nothing' : 'partial';
  }
  if (path === undefined) return 'refused';
  const tree = await orUndefined(readTreeState(top, leaving.timeoutMs));
  const text = { note: Buffer.from(automaticNote(facts)), summary: automaticSummary(facts) };
  const result = await put(repository, path, own, {
    ...text,
    state: 'open',
    recorded: recordState({
      ...facts,
      branch: repository.branch,
      topic: path.path.topic,
      head: work?.head ?? undefined,
      dirty: tree?.dirty ?? work?.dirty ?? 0,
    }),
    base: work?.head ?? undefined,
    client: record.client,
    automatic: leaving.reason,
    author,
    seconds: Math.floor(now / 1000),
  });
  return isWhole ? result : 'partial';
}

/** Whether a session has changed or committed anything since its last note. */
export async function hasUnnotedWork(leaving: Leaving): Promise<boolean> {
  const { own, work, commits, topics } = await look(leaving, await openRepository(leaving.top));
  const isAny = commits.length > 0 || (work !== undefined && work.paths.length > 0);
  return isAny && !isCoveredByNote(leaving, own, topics, work, commits);
}

/** Reads what a session has done, and all topics. */
async function look(leaving: Leaving, repository: Repository) {
  const { top, place, session, sessions, now, timeoutMs } = leaving;
  const former = succeededBy(
    session.record.session,
    sessions.map(({ record }) => record),
  );
  const own = [session.record.session, ...former] as const;
  const [work, signed, startHead, topics] = await Promise.all([
    orUndefined(ownWork(top, place, { own, sessions, now, timeoutMs })),
    orUndefined(commitsOf(top, own, timeoutMs)),
    orUndefined(startOf(leaving, own)),
    readTopics(repository),
  ]);
  return { own, work, commits: await allCommits(leaving, signed ?? [], work, startHead), startHead, topics };
}

interface Place {
  readonly path: HandoffPath;
  /** The automatic note that is already at the path. */
  readonly before: TopicState | undefined;
}

/**
 * Returns where the note goes. A conversation that continues after `/clear` keeps its first topic as long as it owns that
 * topic. `undefined`: somebody wrote to the topic, took it, or moved its ref by hand.
 */
function placeFor(
  repository: Repository,
  topics: readonly TopicState[],
  own: readonly SessionId[],
): Place | undefined {
  const paths = own.map((id) => handoffPath(repository.branch, automaticTopic(id, sha256)));
  const places = paths.map((path) => ({
    path,
    before: topics.find((one) => one.path.component === path.component && one.topic === path.topic),
  }));
  const first = places.findLast(({ before }) => before !== undefined && isAutomatic(before, own));
  const place = first ?? places[0];
  if (place?.before === undefined || first !== undefined) return place;
  return undefined;
}

function isAutomatic({ tip, illegal }: TopicState, own: readonly SessionId[]): boolean {
  const { automatic, owner } = tip?.trailers ?? {};
  return illegal === undefined && automatic !== undefined && owner !== undefined && own.includes(owner);
}

async function put(
  repository: Repository,
  { path, before }: Place,
  [me, ...succeeded]: readonly [SessionId, ...SessionId[]],
  content: CommitContent,
): Promise<LeaveResult> {
  const isOpen = before?.tip?.trailers?.state === 'open';
  if (isOpen && (await isSame(repository, before, content))) return 'covered';
  const intent = { me, succeeded, take: false, expect: before?.tip?.oid ?? null };
  const result = await commitHandoff(repository, path, intent, content);
  if (result.kind === 'written') return 'written';
  // Another process was faster, and has written the same.
  return result.kind === 'expectation-missed' ? 'covered' : 'refused';
}

const sha256 = (text: string) => hash('sha256', text);

async function isSame(repository: Repository, before: TopicState, content: CommitContent): Promise<boolean> {
  const { note, tip } = await readTopic(repository, before.path, { note: true });
  return tip?.oid === before.tip?.oid && note?.equals(content.note ?? Buffer.alloc(0)) === true;
}

/** Whether the session wrote a note after its last change. */
function isCoveredByNote(
  { fileWritten, reason }: Leaving,
  own: readonly SessionId[],
  topics: readonly TopicState[],
  work: OwnWork | undefined,
  commits: readonly LoggedCommit[],
): boolean {
  const written = topics.flatMap(({ tip }) => {
    const isWritten = tip?.trailers !== undefined && tip.trailers.automatic === undefined;
    // A commit's time lacks the milliseconds, so the note may be up to 999 ms newer than it says.
    return isWritten && own.includes(tip.trailers.owner) ? [tip.seconds * 1000 + 999] : [];
  });
  const lastNote = Math.max(fileWritten ?? -Infinity, ...written);
  // A session may commit after its last note: that needs no new note, because `boot` counts the commits since a note.
  const later = reason === 'session-end' ? [] : commits;
  const lastWork = Math.max(work?.changedAt ?? -Infinity, ...later.map(({ seconds }) => seconds * 1000));
  // If git did not report the working tree, the note may be out of date.
  return lastNote > -Infinity && work !== undefined && lastNote >= lastWork;
}

async function startOf({ top, place, session, timeoutMs }: Leaving, own: readonly SessionId[]) {
  const start = own.map((id) => readStart(place, id)).find((one) => one !== undefined);
  if (start !== undefined) return { oid: start.head.oid, loneSince: start.at };
  const oid = await headAt(top, Math.floor(session.record.startedAt / 1000), timeoutMs);
  return oid === undefined ? undefined : { oid, loneSince: undefined };
}

type Start = Awaited<ReturnType<typeof startOf>>;

/** If commits get no trailer, those made while the session was alone count as its own. */
async function allCommits(
  { top, timeoutMs }: Leaving,
  signed: readonly LoggedCommit[],
  work: OwnWork | undefined,
  start: Start,
): Promise<readonly LoggedCommit[]> {
  if (start?.loneSince === undefined || signed.length > 0) return signed;
  if (work === undefined || work.head === start.oid) return signed;
  const since = Math.floor(start.loneSince / 1000);
  const made = (await orUndefined(unsignedCommits(top, start.oid, timeoutMs))) ?? [];
  // The session may have switched to a branch with earlier commits of others.
  return made.filter(({ seconds }) => seconds >= since);
}

function factsOf(
  { session: { record, liveness }, reason }: Leaving,
  repository: Repository,
  seen: { work: OwnWork | undefined; commits: readonly LoggedCommit[]; startHead: Start },
): AutomaticFacts {
  const { work, commits, startHead } = seen;
  return {
    session: record.session,
    client: record.client,
    reason,
    proven: liveness === 'dead',
    branch: repository.branch,
    worktree: worktreeName(repository),
    startHead: startHead?.oid,
    head: work?.head,
    commits,
    paths: work?.paths,
    deleted: work?.deleted ?? [],
    untracked: work?.untracked ?? [],
  };
}

/** Turns a failure into `undefined`: the note leaves out what git does not answer in time. */
function orUndefined<T>(promise: Promise<T>): Promise<T | undefined> {
  return promise.catch(() => undefined);
}

/** Returns when a session last wrote a handoff file in the predecessor's form, milliseconds since the epoch. */
export function changedFileTime(files: MarkerFiles, session: SessionId): number | undefined {
  const times = files.all().flatMap((path) => {
    const isOwn = files.read(path).owner === session;
    return isOwn ? (statOf(path)?.mtimeMs ?? []) : [];
  });
  return times.length === 0 ? undefined : Math.max(...times);
}
