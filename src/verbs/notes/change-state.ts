import { Failure } from '../../domain/messages.ts';
import { type HandoffState, recordState } from '../../domain/handoff.ts';
import { branchTip, committer, workTreeFacts } from '../../git/repository.ts';
import { commitHandoff } from '../../notes/handoffs.ts';
import { type Context, findCaller, worktreeName } from '../../sessions/caller.ts';
import { findTopic, requireTip, typedTopic } from '../../notes/topic-argument.ts';
import { refusal } from '../../notes/refusal.ts';
import { commitAs, acknowledge } from '../../notes/whose-note.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { HandoffShape } from '../shapes.ts';
import { clientsOfOwner, handoffShape } from '../handoff-shape.ts';
import { openWorkspace } from '../workspace.ts';
import { settleClosed } from './settle-work.ts';
import { parseExpectation } from './write.ts';
import type { CommandResult } from '../verb.ts';
import { readerName } from '../../domain/note-owner.ts';
import { readTopic } from '../../notes/topic.ts';
import { openTopic } from './reader.ts';

interface TopicOptions {
  readonly topic: string;
  readonly expect: string | undefined;
  readonly session: string | undefined;
}

interface StateOptions extends TopicOptions {
  readonly take: boolean;
}

/**
 * Commits the state `wanted`; if that is `undefined`, makes the caller the owner. Keeps the note, and makes no commit if nothing
 * would change. Returns the former tip. A take fails if the tip has moved since it was read.
 */
async function commitOnTip(change: StateOptions, wanted: HandoffState | undefined, context: Context) {
  const { cwd } = context;
  const [{ repository, sessions, notices: seen }, tree, author] = await Promise.all([
    openWorkspace(context),
    workTreeFacts(cwd),
    committer(cwd),
  ]);
  const before = await findTopic(repository, change.topic);
  const tip = requireTip(before);
  const caller = findCaller(context, sessions, change.session, author);
  const isPinned = wanted === undefined && change.expect === undefined;
  const expect = isPinned ? tip.oid : parseExpectation(change.expect);
  const { client } = caller;
  const head = before.branch === repository.branch ? tree.head : await branchTip(repository, before.branch);
  const content = {
    note: undefined,
    summary: undefined,
    state: wanted ?? tip.trailers?.state ?? 'open',
    base: head,
    client,
    recorded: recordState({ ...before, ...tree, head, client, worktree: worktreeName(repository) }),
    author,
    seconds: Math.floor(context.now / 1000),
  };
  const closes = wanted === 'closed';
  const name = typedTopic(before.branch, before.topic);
  const wish = { name, take: change.take, closes, expect };
  const result = await commitAs(caller, wish, { repository, sessions }, context, (intent) =>
    commitHandoff(repository, before.path, intent, content, {
      isAsWanted: ({ trailers }) =>
        wanted === undefined ? trailers?.owner === caller.id : trailers?.state === wanted,
    }),
  );
  const notices = [...seen, ...(await reportIllegalMoves(repository, [before], context.now))];
  if (result.kind === 'written') {
    const closed = { ...before, tip: result.commit };
    if (closes) notices.push(...(await settleClosed(repository, closed, caller, context.now)));
    return { shape: handoffShape(before, result.commit, caller.id), changed: true, tip, notices };
  }
  if (result.kind === 'unchanged') {
    return { shape: handoffShape(before, result.tip, caller.id), changed: false, tip: result.tip, notices };
  }
  const target = { branch: before.branch, topic: before.topic, path: before.path, explicit: true };
  throw await refusal(result, {
    ...{ repository, target, note: undefined, caller: caller.id, context },
    closes: closes && !caller.isPerson,
  });
}

/** The answer to a take: the handoff, and the commit from which it was taken. */
export type TakeValue = HandoffShape & { readonly taken: boolean; readonly tookFrom: string };

/**
 * Makes the caller the owner of a topic, if the tip is still the one that was read. The note stays as it is. Taking what
 * the caller already owns is no error, and makes no commit.
 */
export async function take(options: TopicOptions, context: Context): Promise<CommandResult<TakeValue>> {
  const { shape, changed, tip, notices } = await commitOnTip({ ...options, take: true }, undefined, context);
  return { value: { ...shape, taken: changed, tookFrom: tip.oid }, notices, clients: clientsOfOwner(tip) };
}

export type StateValue = HandoffShape & { readonly changed: boolean };

/** Closes a topic, which keeps its history, or reopens it. Doing so again is no error, and makes no commit. */
export async function changeState(
  options: StateOptions,
  wanted: HandoffState,
  context: Context,
): Promise<CommandResult<StateValue>> {
  const { shape, changed, notices } = await commitOnTip(options, wanted, context);
  return { value: { ...shape, changed }, notices };
}

/** The answer to an acknowledgement: the handoff, its reader, and whether the acknowledgement is new. */
export type AckValue = HandoffShape & { readonly reader: string; readonly changed: boolean };

/**
 * Marks a handoff as read by the reader, until the handoff changes. Repeating this is no error.
 *
 * @throws Failure `lost-race` when the handoff is not at the expected commit.
 */
export async function ack(options: TopicOptions, context: Context): Promise<CommandResult<AckValue>> {
  const expect = parseExpectation(options.expect);
  const { repository, state, reader, notices, ...opened } = await openTopic(
    { ...options, reading: true },
    context,
  );
  const name = readerName(reader);
  if (name === undefined) {
    throw new Failure('usage', 'git does not know your e-mail address, and no session is running this', {
      hint: 'git config user.email you@example.com',
    });
  }
  let { tip } = opened;
  const { changed } = await acknowledge(repository, state.path, name, async () => {
    tip = requireTip(await readTopic(repository, state.path));
    if (expect === undefined || expect === tip.oid) return tip.oid;
    const topic = typedTopic(state.branch, state.topic);
    throw new Failure('lost-race', `${topic} is not at the expected commit: it is at ${tip.oid}`, {
      hint: `git handoff show ${topic}`,
    });
  });
  const shape = handoffShape(state, tip, reader, tip.oid);
  return { value: { ...shape, reader: name, changed }, notices };
}
