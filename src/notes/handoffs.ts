import { Failure } from '../domain/messages.ts';
import {
  type HandoffCommit,
  type HandoffState,
  type RecordedState,
  type HandoffTrailers,
  NOTE_FILE,
  STATE_FILE,
  formatMessage,
  formatState,
} from '../domain/handoff.ts';
import type { Oid, SessionId } from '../domain/names.ts';
import { type Intent, type Passing, decideOwnership } from '../domain/note-owner.ts';
import { checkStep } from '../domain/transition.ts';
import { loadCommits } from '../git/commits.ts';
import { type HandoffPath, WORK, handoffRef, keptRef } from '../git/namespace.ts';
import { ObjectBatch } from '../git/objects.ts';
import { listRefNames, type TransactionResult, updateRefs } from '../git/refs.ts';
import { type Committer, type Repository, objectFormat } from '../git/repository.ts';
import { recordTake } from '../sessions/happenings.ts';
import { personName } from './person-name.ts';
import { type TopicState, readTopic } from './topic.ts';

/** Attempts at a swap; ownership is decided again for each. */
const MAX_TRIES = 5;
/** Attempts at a lock. git itself waits a second in each: no running git holds a lock for that long. */
const MAX_LOCKED = 2;

/** The trailers of a note that carries uncommitted work (domain/snapshot.ts). */
export interface CarriedTrailers {
  readonly work: Oid;
  readonly workSize: string;
}

/** What a write puts into its commit. If the tip's note stays, so do its trailers. */
export interface CommitContent extends Partial<
  Pick<HandoffTrailers, 'to' | 'from' | 'automatic' | 'importedFrom' | 'secretAllowed' | 'tried'>
> {
  /** `undefined`: the tip's note stays, byte for byte (take, close, reopen). */
  readonly note: Uint8Array | undefined;
  readonly summary: string | undefined;
  readonly state: HandoffState;
  readonly recorded: RecordedState;
  readonly base: Oid | undefined;
  readonly client: string | undefined;
  /** `undefined`: the note carries the same work as before. */
  readonly carried?: CarriedTrailers | undefined;
  readonly author: Committer;
  /** Seconds since the epoch. */
  readonly seconds: number;
}

export type WriteResult =
  | {
      readonly kind: 'written';
      readonly commit: HandoffCommit;
      readonly parent: HandoffCommit | undefined;
      readonly passing: Passing;
      /** The topic before this write, with the illegal move that the write replaced, if any. */
      readonly before: TopicState;
    }
  /** Nothing to do: the topic is the caller's already, or is in the wanted state already. */
  | { readonly kind: 'unchanged'; readonly tip: HandoffCommit }
  | {
      readonly kind: 'not-owner';
      readonly owner: SessionId;
      /** The owner has a `name` if it is a person, and a `client` if it is a session. */
      readonly name: string | undefined;
      readonly client: string | undefined;
      readonly tip: Oid;
    }
  | { readonly kind: 'expectation-missed'; readonly tip: Oid | undefined }
  | { readonly kind: 'read-only'; readonly tip: Oid }
  | { readonly kind: 'lost-race'; readonly tip: Oid | undefined };

interface HandoffCommitOptions {
  /** The topic, if the caller has begun to read it already. */
  readonly read?: Promise<TopicState>;
  /** Whether a tip needs no commit (closing what is closed, taking one's own). */
  readonly isAsWanted?: (tip: HandoffCommit) => boolean;
}

/**
 * Puts one commit on a topic: decides ownership, writes the objects, and moves the public ref and `kept` in one transaction.
 * Nothing else tries again after a lost swap. The loop ends if the tip is not the one that `intent` expects; it goes on if only
 * `kept` has moved.
 */
export async function commitHandoff(
  repository: Repository,
  path: HandoffPath,
  intent: Intent,
  content: CommitContent,
  options: HandoffCommitOptions = {},
): Promise<WriteResult> {
  let locked = 0;
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    if (attempt > 0) await pause(attempt);
    const before = await ((attempt === 0 ? options.read : undefined) ?? readTopic(repository, path));
    requireReadable(before);
    const decision = decideOwnership(before.tip, intent);
    if (decision.kind === 'not-owner')
      return { ...decision, name: personName(before.tip), client: before.tip?.trailers?.client };
    if (decision.kind !== 'proceed') return decision;
    if (before.tip !== undefined && options.isAsWanted?.(before.tip) === true)
      return { kind: 'unchanged', tip: before.tip };
    const { passing } = decision;
    const { commit, batch } = await newCommit(repository, before.tip, passing, intent.me, content);
    await batch.store({ cwd: repository.cwd });
    const result = await swap(repository, before, commit.oid, passing);
    if (result.kind === 'done') {
      await batch.storeAgainIfCollected(repository);
      if (passing.takenFrom !== undefined) {
        const take = { topic: `${before.branch}/${before.topic}`, from: passing.takenFrom };
        recordTake(repository.commonDir, intent.me, { ...take, at: content.seconds * 1000 });
      }
      return { kind: 'written', commit, parent: before.tip, passing, before };
    }
    if (result.kind === 'locked') locked++;
    if (result.kind === 'name-conflict' || locked === MAX_LOCKED) throw refFailure(result);
  }
  return { kind: 'lost-race', tip: (await readTopic(repository, path)).tip?.oid };
}

/** The failure for a ref that cannot be moved. */
export function refFailure(result: TransactionResult): Failure {
  const detail = 'detail' in result ? result.detail : 'its objects were pruned';
  return result.kind === 'locked'
    ? new Failure('environment', `a lock is in the way: ${detail}`, { hint: 'git handoff doctor' })
    : new Failure('integrity', detail, { hint: 'git handoff doctor' });
}

/** Fails for a tip that cannot be read: it still has an owner, so nothing may replace it. */
function requireReadable({ tip, keptOid }: TopicState): void {
  if (tip !== undefined || keptOid === undefined) return;
  throw new Failure('integrity', `the last commit of this handoff (${keptOid}) cannot be read`, {
    hint: 'git fsck --connectivity-only',
  });
}

/** Waits for a random time, so that writers that lost together do not collide again. */
function pause(attempt: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 25 * 2 ** attempt));
}

/** Makes the next commit. If it does not pass the check that every handoff commit must pass, that is a bug of ours. */
async function newCommit(
  repository: Repository,
  parent: HandoffCommit | undefined,
  passing: Passing,
  me: SessionId,
  content: CommitContent,
): Promise<{ commit: HandoffCommit; batch: ObjectBatch }> {
  const batch = new ObjectBatch(await objectFormat(repository, parent?.oid, content.base));
  const { base, client, state, recorded, seconds, author } = content;
  const { name, email = '' } = author;
  const tree = batch.tree([
    { name: NOTE_FILE, oid: batch.blob(content.note ?? (await noteOf(repository, parent))) },
    { name: STATE_FILE, oid: batch.blob(Buffer.from(formatState(recorded))) },
  ]);
  const summary = content.summary ?? parent?.summary ?? '';
  const trailers: HandoffTrailers = {
    ...{ owner: me, base, client, state },
    ...passing,
    ...nature(content, parent),
    ...(await carriedBy(repository, content, parent)),
  };
  const parents = parent === undefined ? [] : [parent.oid];
  const message = formatMessage(summary, trailers);
  const oid = batch.commit({ tree, parents, name, email, seconds, message });
  const commit = { oid, parents, trailers, recorded, hasNote: true, summary, seconds, name, mail: email };
  const verdict = checkStep(parent === undefined ? [] : [parent], commit);
  if (!verdict.legal) throw new Failure('internal', `refusing to write an illegal step: ${verdict.reason}`);
  return { commit, batch };
}

/** The trailers that describe the note: those of `content` or, if the tip's note stays, the tip's. */
function nature(content: CommitContent, parent: HandoffCommit | undefined) {
  const { to, from, automatic, importedFrom, secretAllowed, tried } =
    content.note === undefined ? (parent?.trailers ?? content) : content;
  return { to, from, automatic, importedFrom, secretAllowed, tried };
}

/** The work of the next commit: a note keeps its work, but a reopened note only if this clone still has the work. */
async function carriedBy(
  repository: Repository,
  { carried, state }: CommitContent,
  parent: HandoffCommit | undefined,
) {
  const { work, workSize } = carried ?? parent?.trailers ?? {};
  const isReopened = carried === undefined && parent?.trailers?.state === 'closed' && state === 'open';
  if (work === undefined || !isReopened) return { work, workSize };
  const kept = await listRefNames(repository, [WORK]);
  return kept.some(({ oid }) => oid === work) ? { work, workSize } : {};
}

async function noteOf(repository: Repository, parent: HandoffCommit | undefined): Promise<Uint8Array> {
  const [loaded] =
    parent === undefined ? [] : await loadCommits({ cwd: repository.cwd }, [parent.oid], { notes: true });
  if (loaded?.note === undefined)
    throw new Failure('integrity', "the tip's note cannot be read", { hint: 'git fsck' });
  return loaded.note;
}

/** Moves the public ref first, then `kept`: a crash in between leaves the public ref one legal move ahead of `kept`. */
async function swap(
  repository: Repository,
  before: TopicState,
  next: Oid,
  passing: Passing,
): Promise<TransactionResult> {
  const updates = [
    { ref: handoffRef(before.path), next, old: before.publicOid },
    { ref: keptRef(before.path), next, old: before.keptOid },
  ];
  const act = passing.takenFrom === undefined ? 'write' : 'take';
  return updateRefs(repository, updates, { reflog: `handoff: ${act}`, leads: true });
}
