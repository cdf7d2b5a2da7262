import { readJournal } from '../../sessions/journal.ts';
import { recordState } from '../../domain/handoff.ts';
import type { SessionId } from '../../domain/names.ts';
import type { SessionRecord } from '../../domain/session.ts';
import type { HandoffPath } from '../../git/namespace.ts';
import { type Repository, committer, workTreeFacts, type InRepository } from '../../git/repository.ts';
import { worktreeName } from '../../sessions/caller.ts';
import { commitHandoff } from '../../notes/handoffs.ts';
import type { TopicState } from '../../notes/topic.ts';
import { readWork, dropWork, keptWork } from '../../notes/work/work-commit.ts';
import { type Conversation, type NoteContext, conversation, ownWork } from './own-work.ts';

/** The most notes that one start checks. */
const MAX_LOOKS = 3;

/** The open automatic notes of this branch with their owners, newest first. */
function openNotes({ branch }: Repository, topics: readonly TopicState[]) {
  return topics
    .flatMap((topic) => {
      const { automatic, state, owner } = topic.tip?.trailers ?? {};
      const isOne = topic.branch === branch && topic.illegal === undefined && automatic !== undefined;
      return isOne && state === 'open' && owner !== undefined ? [{ topic, owner }] : [];
    })
    .sort((a, b) => (b.topic.tip?.seconds ?? 0) - (a.topic.tip?.seconds ?? 0));
}

/** Closes an automatic note in its owner's name, because its work is done or its owner has written a note about it. */
export async function closeNote(
  repository: Repository,
  { path, tip, branch, topic }: TopicState,
  now: number,
): Promise<void> {
  if (tip?.trailers === undefined) return;
  const { owner, client } = tip.trailers;
  const [author, tree] = await Promise.all([committer(repository.cwd), workTreeFacts(repository.cwd)]);
  const intent = { me: owner, succeeded: [], take: false, expect: tip.oid };
  const closed = await commitHandoff(repository, path, intent, {
    note: undefined,
    summary: undefined,
    state: 'closed',
    base: tree.head,
    client,
    recorded: recordState({ branch, topic, ...tree, client, worktree: worktreeName(repository) }),
    author,
    seconds: Math.floor(now / 1000),
  });
  if (closed.kind !== 'written' || tip.trailers.work === undefined) return;
  await dropOwnWork(repository, path, owner);
}

/** Closes the automatic notes of a conversation that continues, and so needs no note. */
export async function closeOwnNotes(
  repository: Repository,
  topics: readonly TopicState[],
  own: Conversation,
  now: number,
): Promise<void> {
  for (const { topic, owner } of openNotes(repository, topics))
    if (own.includes(owner)) await closeNote(repository, topic, now);
}

/**
 * Closes the automatic notes of sessions that worked in this worktree, are no longer live, and left nothing uncommitted here.
 * Returns whether it closed any.
 *
 * @param asking the session that will hear about the notes
 */
export async function closeSettledNotes(
  repository: Repository,
  topics: readonly TopicState[],
  context: NoteContext,
  asking: SessionRecord,
): Promise<boolean> {
  const { place, sessions, now } = context;
  const records = [asking, ...sessions.map(({ record }) => record)];
  const live = sessions.filter(({ liveness }) => liveness === 'live').map(({ record }) => record);
  const going = new Set([asking, ...live].flatMap(({ session }) => conversation(session, records)));
  const left = openNotes(repository, topics).filter(
    // If a session's journal does not mention this worktree, nobody knows what the session changed here.
    ({ owner }) => !going.has(owner) && readJournal(place.commonDir, owner).trees.has(place.worktreeId),
  );
  let isAny = false;
  for (const { topic, owner } of left.slice(0, MAX_LOOKS)) {
    const { paths } = await ownWork(context, conversation(owner, records));
    if (paths.length > 0) continue;
    await closeNote(repository, topic, now);
    isAny = true;
  }
  return isAny;
}

/** Deletes a topic's carried work, if `author` packed it. Others' work stays: `doctor` moves it to the rescues. */
async function dropOwnWork(repository: InRepository, path: HandoffPath, author: SessionId): Promise<void> {
  for (const ref of await keptWork(repository, path)) {
    const work = await readWork({ cwd: repository.cwd }, ref.oid, Infinity);
    if (typeof work === 'object' && work.trailers.owner === author) await dropWork(repository, [ref]);
  }
}
