import { Failure } from '../../domain/failure.ts';
import { type HandoffCommit, type HandoffState, recordState } from '../../domain/handoff.ts';
import type { SessionId } from '../../domain/names.ts';
import { branchTip, committer, workTreeFacts } from '../../git/repository.ts';
import { commitHandoff } from '../../notes/handoffs.ts';
import { type Context, findCaller, worktreeName } from '../../sessions/caller.ts';
import { findTopic, requireTip } from '../../notes/find-topic.ts';
import { refusal } from '../../notes/refusal.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { HandoffShape } from '../shapes.ts';
import { handoffShape } from '../handoff-shape.ts';
import { openWorkspace } from '../workspace.ts';
import { settleClosed } from './settle-work.ts';
import { parseExpectation } from './write.ts';

/** A commit that changes owner or state and leaves the note as it is. */
interface TipChange {
  readonly topic: string;
  readonly take: boolean;
  /** `undefined`: the state stays. */
  readonly state: HandoffState | undefined;
  readonly expect: string | undefined;
  /** Swap from exactly the tip that was read first, also without `--expect`. */
  readonly pinned: boolean;
  readonly session: string | undefined;
}

interface TipChanged {
  readonly shape: HandoffShape;
  readonly changed: boolean;
  /** The tip it was done on. */
  readonly tip: HandoffCommit;
  readonly notices: readonly string[];
}

/** Puts such a commit on a topic; `isAsWanted` says that a tip is as wanted already. */
export async function commitOnTip(
  change: TipChange,
  context: Context,
  isAsWanted: (owner: SessionId, me: SessionId, state: HandoffState) => boolean,
): Promise<TipChanged> {
  const { cwd } = context;
  const [{ repository, sessions, notices: seen }, tree, author] = await Promise.all([
    openWorkspace(context),
    workTreeFacts(cwd),
    committer(cwd),
  ]);
  const before = await findTopic(repository, change.topic);
  const tip = requireTip(before);
  const caller = findCaller(context, sessions, change.session, author);
  const expect = parseExpectation(change.expect) ?? (change.pinned ? tip.oid : undefined);
  const { client } = caller;
  const head = before.branch === repository.branch ? tree.head : await branchTip(repository, before.branch);
  const result = await commitHandoff(
    repository,
    before.path,
    { me: caller.id, succeeded: caller.succeeded, take: change.take, expect },
    {
      note: undefined,
      summary: undefined,
      state: change.state ?? tip.trailers?.state ?? 'open',
      base: head,
      client,
      recorded: recordState({ ...before, ...tree, head, client, worktree: worktreeName(repository) }),
      author,
      seconds: Math.floor(context.now / 1000),
    },
    {
      isAsWanted: ({ trailers }) =>
        trailers !== undefined && isAsWanted(trailers.owner, caller.id, trailers.state),
    },
  );
  const notices = [...seen, ...(await reportIllegalMoves(repository, [before], context.now))];
  if (result.kind === 'written') {
    if (change.state === 'closed') {
      notices.push(
        ...(await settleClosed(repository, { ...before, tip: result.commit }, caller, context.now)),
      );
    }
    return { shape: handoffShape(before, result.commit, caller.id), changed: true, tip, notices };
  }
  if (result.kind === 'unchanged') {
    return { shape: handoffShape(before, result.tip, caller.id), changed: false, tip: result.tip, notices };
  }
  if (result.kind === 'read-only')
    throw new Failure('integrity', 'written in a format this version does not know');
  const target = { branch: before.branch, topic: before.topic, path: before.path, explicit: true };
  throw await refusal(result, { repository, target, note: undefined, caller: caller.id, now: context.now });
}
