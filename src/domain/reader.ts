import type { HandoffCommit } from './handoff.ts';
import type { Oid, SessionId } from './names.ts';
import { type Operator, operatorOf } from './operators.ts';

/** Who reads (and writes) notes: an operator outlives its sessions. */
export interface Reader {
  /** The session, or the person by its address; `undefined` where neither is known. */
  readonly session: SessionId | undefined;
  readonly operator: string | undefined;
}

/** Returns the operator that acts: the configured one, else the one with that e-mail address. */
export function decideOperator(
  setting: string | undefined,
  email: string | undefined,
  operators: readonly Operator[],
): string | undefined {
  return setting ?? (email === undefined ? undefined : operatorOf(email, operators));
}

/** Returns the name under which the reader acknowledges, and which is `from` in its notes. */
export function readerName(reader: Reader): string | undefined {
  return reader.operator ?? reader.session;
}

/** Whether a commit is the reader's own: its session's, or its operator's by whatever session. */
function isOwn({ trailers }: HandoffCommit, reader: Reader): boolean {
  if (trailers === undefined) return false;
  return (
    trailers.owner === reader.session || (trailers.from !== undefined && trailers.from === readerName(reader))
  );
}

/** Returns the versions of a history, newest first, that count as acknowledged: `newest` and its ancestors. */
export function acknowledgedOf(history: readonly HandoffCommit[], newest: Oid | undefined): Oid[] {
  const read = new Set(newest === undefined ? [] : [newest]);
  return history.flatMap(({ oid, parents }) => {
    if (!read.has(oid)) return [];
    for (const parent of parents) read.add(parent);
    return [oid];
  });
}

/** Whether a commit is neither the reader's own nor acknowledged as it is. */
export function isUnread(commit: HandoffCommit, reader: Reader, acknowledged: Oid | undefined): boolean {
  return acknowledged !== commit.oid && !isOwn(commit, reader);
}
