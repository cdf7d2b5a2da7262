import { readStart } from '../../changes/windows.ts';
import {
  type AutomaticFacts,
  automaticNote,
  automaticSummary,
  automaticTopic,
} from '../../domain/automatic-note.ts';
import { type AutomaticReason, recordState } from '../../domain/handoff.ts';
import type { SessionId } from '../../domain/names.ts';
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
import { type Conversation, type NoteContext, type OwnWork, conversation, ownWork } from './own-work.ts';

/** The session that a note is about, and where it worked. */
export interface Leaving extends NoteContext {
  readonly session: JudgedSession;
  readonly reason: AutomaticReason;
}

/**
 * Leaves a note for a session that left none: on a topic of that session, owned by it, and marked as automatic. Never
 * replaces a note that somebody wrote, and does not write the same text twice. Returns false if git took too long to tell
 * what is uncommitted.
 */
export async function leaveNote(leaving: Leaving): Promise<boolean> {
  const { now, session, reason } = leaving;
  const { top } = leaving.place;
  const repository = await openRepository(top);
  const [seen, author] = await Promise.all([look(leaving, repository), committer(top)]);
  const { own, work, topics } = seen;
  if (work === undefined) return false;
  const path = placeFor(repository, topics, own);
  // Without uncommitted work the note would say no more than `git log` does.
  if (work.paths.length === 0 || isCoveredByNote(leaving, seen)) {
    // The work in the session's earlier automatic note is done, or the session's own note describes it.
    if (isOpen(path?.before)) await closeNote(repository, path.before, now);
    return true;
  }
  if (path === undefined) return true;
  const facts = factsOf(leaving, repository, work, seen);
  const tree = await orUndefined(readTreeState({ cwd: top, timeoutMs: leaving.timeoutMs }));
  await put(repository, path, own, {
    note: Buffer.from(automaticNote(facts)),
    summary: automaticSummary(facts),
    state: 'open',
    recorded: recordState({
      ...facts,
      branch: repository.branch,
      topic: path.path.topic,
      dirty: tree?.dirty ?? work.dirty,
    }),
    base: work.head ?? undefined,
    client: session.record.client,
    automatic: reason,
    author,
    seconds: Math.floor(now / 1000),
  });
  return true;
}

/** Whether a session has changed or committed anything since its last note. */
export async function hasUnnotedWork(leaving: Leaving): Promise<boolean> {
  const seen = await look(leaving, await openRepository(leaving.place.top));
  const isAny = seen.commits.length > 0 || (seen.work !== undefined && seen.work.paths.length > 0);
  return isAny && !isCoveredByNote(leaving, seen);
}

type Seen = Awaited<ReturnType<typeof look>>;

async function look(leaving: Leaving, repository: Repository) {
  const { place, session, sessions, timeoutMs } = leaving;
  const records = sessions.map(({ record }) => record);
  const own = conversation(session.record.session, records);
  const [work, signed, start, topics] = await Promise.all([
    orUndefined(ownWork(leaving, own)),
    orUndefined(commitsOf({ cwd: place.top, timeoutMs }, own)),
    orUndefined(startOf(leaving, own)),
    readTopics(repository),
  ]);
  return { own, work, commits: await allCommits(leaving, signed ?? [], work, start), start, topics };
}

interface Place {
  readonly path: HandoffPath;
  readonly before: TopicState | undefined;
}

/**
 * Returns the topic for the note. A conversation that continues after `/clear` keeps its first topic as long as it owns that
 * topic. `undefined`: somebody wrote to the topic, took it, or moved its ref by hand.
 */
function placeFor(
  repository: Repository,
  topics: readonly TopicState[],
  own: Conversation,
): Place | undefined {
  const paths = own.map((id) => handoffPath(repository.branch, automaticTopic(id, sha256)));
  const places = paths.map((path) => ({
    path,
    before: topics.find((one) => one.path.component === path.component && one.topic === path.topic),
  }));
  const first = places.findLast(({ before }) => before !== undefined && isAutomatic(before, own));
  return first ?? places.slice(0, 1).find(({ before }) => before === undefined);
}

function isAutomatic({ tip, illegal }: TopicState, own: Conversation): boolean {
  const { automatic, owner } = tip?.trailers ?? {};
  return illegal === undefined && automatic !== undefined && owner !== undefined && own.includes(owner);
}

/** Writes a note. If another process was faster, it has written the same note. */
async function put(
  repository: Repository,
  { path, before }: Place,
  [me, ...succeeded]: Conversation,
  content: CommitContent,
): Promise<void> {
  if (isOpen(before) && (await isSame(repository, before, content))) return;
  const intent = { me, succeeded, take: false, expect: before?.tip?.oid ?? null };
  await commitHandoff(repository, path, intent, content);
}

const isOpen = (topic: TopicState | undefined): topic is TopicState => topic?.tip?.trailers?.state === 'open';

const sha256 = (text: string) => hash('sha256', text);

async function isSame(repository: Repository, before: TopicState, content: CommitContent): Promise<boolean> {
  const { note, tip } = await readTopic(repository, before.path, { note: true });
  return tip?.oid === before.tip?.oid && note?.equals(content.note ?? Buffer.alloc(0)) === true;
}

/** Whether the session wrote a note after its last change. */
function isCoveredByNote({ files, session, reason }: Leaving, { own, topics, work, commits }: Seen): boolean {
  const written = topics.flatMap(({ tip }) => {
    const isWritten = tip?.trailers !== undefined && tip.trailers.automatic === undefined;
    // A commit's time has no milliseconds: the note may be up to 999 ms newer than its commit says.
    return isWritten && own.includes(tip.trailers.owner) ? [tip.seconds * 1000 + 999] : [];
  });
  const lastNote = Math.max(...fileTimes(files, session.record.session), ...written);
  // When a session ends, commits after its last note need no new note: `boot` counts the commits since a note.
  const later = reason === 'session-end' ? [] : commits;
  const lastWork = Math.max(work?.changedAt ?? -Infinity, ...later.map(({ seconds }) => seconds * 1000));
  // If git did not report the working tree, the note may be out of date.
  return lastNote > -Infinity && work !== undefined && lastNote >= lastWork;
}

async function startOf({ place, session, timeoutMs }: Leaving, own: Conversation) {
  const start = own.map((id) => readStart(place, id)).find((one) => one !== undefined);
  if (start !== undefined) return { oid: start.head.oid, loneSince: start.at };
  const oid = await headAt({ cwd: place.top, timeoutMs }, Math.floor(session.record.startedAt / 1000));
  return oid === undefined ? undefined : { oid, loneSince: undefined };
}

type Start = Awaited<ReturnType<typeof startOf>>;

/** If commits get no trailer, those made while the session was alone count as its own. */
async function allCommits(
  { place, timeoutMs }: Leaving,
  signed: readonly LoggedCommit[],
  work: OwnWork | undefined,
  start: Start,
): Promise<readonly LoggedCommit[]> {
  if (start?.loneSince === undefined || signed.length > 0) return signed;
  if (work === undefined || work.head === start.oid) return signed;
  const since = Math.floor(start.loneSince / 1000);
  const made = (await orUndefined(unsignedCommits({ cwd: place.top, timeoutMs }, start.oid))) ?? [];
  // The session may have switched to a branch with earlier commits of others.
  return made.filter(({ seconds }) => seconds >= since);
}

function factsOf(
  { session: { record, liveness }, reason }: Leaving,
  repository: Repository,
  { head, paths, deleted, untracked }: OwnWork,
  { commits, start }: Seen,
): AutomaticFacts {
  return {
    session: record.session,
    client: record.client,
    reason,
    proven: liveness === 'dead',
    branch: repository.branch,
    worktree: worktreeName(repository),
    startHead: start?.oid,
    ...{ head, commits, paths, deleted, untracked },
  };
}

/** Turns a failure into `undefined`: the note leaves out what git does not answer in time. */
function orUndefined<T>(promise: Promise<T>): Promise<T | undefined> {
  return promise.catch(() => undefined);
}

/** Returns when a session last wrote its handoff files in the predecessor's form, milliseconds since the epoch. */
function fileTimes(files: MarkerFiles, session: SessionId): number[] {
  const own = files.all().filter((path) => files.read(path).owner === session);
  return own.flatMap((path) => statOf(path)?.mtimeMs ?? []);
}
