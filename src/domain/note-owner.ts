import { FORMAT_VERSION, type HandoffCommit } from './handoff.ts';
import type { Oid, SessionId } from './names.ts';
import { type Operator, operatorOf } from './operators.ts';

/** The tip that a writer saw: the last version whose move was legal; `undefined`: none. */
type Tip = HandoffCommit | undefined;

/** What a writer wants to do to a topic. */
export interface Intent {
  readonly me: SessionId;
  /** Sessions whose conversation this one carries on (SessionStart `clear`), nearest first. */
  readonly succeeded: readonly SessionId[];
  readonly take: boolean;
  /** Sessions from which the writer may not take: they are at work, and no person has asked for a take. */
  readonly spared?: ReadonlySet<SessionId>;
  /** The tip that the writer has read: if given, a write on any other tip is refused. `null`: there must be no tip. */
  readonly expect: Oid | null | undefined;
}

/** The trailers with which a commit passes ownership on. */
export interface Passing {
  readonly takenFrom: SessionId | undefined;
  readonly succeeds: SessionId | undefined;
}

type OwnershipDecision =
  | { readonly kind: 'proceed'; readonly passing: Passing }
  | { readonly kind: 'not-owner'; readonly owner: SessionId; readonly tip: Oid }
  | { readonly kind: 'expectation-missed'; readonly tip: Oid | undefined }
  | { readonly kind: 'read-only'; readonly tip: Oid };

const NOTHING: Passing = { takenFrom: undefined, succeeds: undefined };

/** Decides whether `intent.me` may put a commit on `tip`, and how ownership then passes. */
export function decideOwnership(tip: Tip, intent: Intent): OwnershipDecision {
  if (intent.expect !== undefined && (intent.expect ?? undefined) !== tip?.oid) {
    return { kind: 'expectation-missed', tip: tip?.oid };
  }
  if (tip === undefined) return { kind: 'proceed', passing: NOTHING };
  if (tip.trailers === undefined || tip.recorded?.version !== FORMAT_VERSION) {
    return { kind: 'read-only', tip: tip.oid };
  }
  const { owner } = tip.trailers;
  if (owner === intent.me) return { kind: 'proceed', passing: NOTHING };
  if (intent.succeeded.includes(owner)) return { kind: 'proceed', passing: { ...NOTHING, succeeds: owner } };
  if (intent.take && intent.spared?.has(owner) !== true)
    return { kind: 'proceed', passing: { ...NOTHING, takenFrom: owner } };
  return { kind: 'not-owner', owner, tip: tip.oid };
}

/** Who reads and writes notes: a session or person, and its operator, who outlives sessions. */
export interface Reader {
  /** The session, or the person's id (`personOf`); `undefined` where neither is known. */
  readonly session: SessionId | undefined;
  readonly operator: string | undefined;
}

/** Returns the operator that acts: the configured one, else the one that `email` belongs to. */
export function decideOperator(
  setting: string | undefined,
  email: string | undefined,
  operators: readonly Operator[],
): string | undefined {
  return setting ?? (email === undefined ? undefined : operatorOf(email, operators));
}

/** Returns the reader's name: the reader acknowledges notes under it, and has it as `from` in notes. */
export function readerName(reader: Reader): string | undefined {
  return reader.operator ?? reader.session;
}

/** Whether a commit is the reader's own: by its session, or by its operator in any session. */
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

/** Whether a commit is neither the reader's own nor the one that the reader acknowledged last. */
export function isUnread(commit: HandoffCommit, reader: Reader, acknowledged: Oid | undefined): boolean {
  return acknowledged !== commit.oid && !isOwn(commit, reader);
}
