import {
  type HandoffCommit,
  type HandoffTrailers,
  NOTE_FILE,
  type RecordedState,
  STATE_FILE,
  formatMessage,
  formatState,
} from '../domain/handoff.ts';
import { Failure } from '../domain/failure.ts';
import type { Oid } from '../domain/names.ts';
import { checkStep } from '../domain/transition.ts';
import type { ObjectBatch } from '../git/object-batch.ts';
import type { Committer } from '../git/repository.ts';

/** A commit that a handoff is to get. */
interface NewCommit {
  readonly parents: readonly HandoffCommit[];
  /** The blob of its note. */
  readonly note: Oid;
  readonly recorded: RecordedState;
  readonly summary: string;
  readonly trailers: HandoffTrailers;
  readonly author: Committer;
  /** Seconds since the epoch. */
  readonly seconds: number;
}

/** Puts a commit into a batch. It passes the same gate as everybody else's; a refusal here is our own fault. */
export function addCommit(batch: ObjectBatch, made: NewCommit): HandoffCommit {
  const { note, recorded, summary, trailers, seconds } = made;
  const { name, email = '' } = made.author;
  const parents = made.parents.map(({ oid }) => oid);
  const tree = batch.tree([
    { name: NOTE_FILE, oid: note },
    { name: STATE_FILE, oid: batch.blob(Buffer.from(formatState(recorded))) },
  ]);
  const message = formatMessage(summary, trailers);
  const oid = batch.commit({ tree, parents, name, email, seconds, message });
  const commit = { oid, parents, trailers, recorded, hasNote: true, summary, seconds, name, mail: email };
  const verdict = checkStep(made.parents, commit);
  if (!verdict.legal) throw new Failure('internal', `refusing to write an illegal step: ${verdict.reason}`);
  return commit;
}
