import type { HandoffCommit } from '../domain/handoff.ts';
import type { SessionId } from '../domain/names.ts';
import type { TopicState } from '../store/topic.ts';

/**
 * The shapes of `--json`. Every answer is one object `{"schema":1,"ok":true,…}`; lists stand under
 * `items`. schema/output.schema.json describes them for programs.
 */

export interface HandoffShape {
  readonly branch: string;
  readonly topic: string;
  readonly ref: string;
  readonly oid: string;
  readonly parent: string | null;
  readonly state: 'open' | 'closed';
  readonly owner: string;
  readonly agent: string | null;
  readonly client: string | null;
  readonly summary: string;
  /** The commit `HEAD` was at when the note was written. */
  readonly base: string | null;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly takenFrom: string | null;
  /** Written by somebody else than the reader. */
  readonly unread: boolean;
}

/** A note's text in JSON: as text when it is UTF-8, else in base64. */
export type NoteShape = { readonly note: string } | { readonly noteBase64: string };

export type StepName = 'create' | 'write' | 'close' | 'reopen' | 'take' | 'succeed' | 'merge' | 'illegal';

export interface VersionShape extends HandoffShape {
  readonly step: StepName;
}

export interface LostShape {
  readonly number: number;
  readonly ref: string;
  readonly kind: 'refused' | 'illegal-move';
  readonly session: string | null;
  readonly createdAt: string;
  readonly reason: string;
}

export interface SessionShape {
  readonly session: string;
  readonly client: string;
  readonly liveness: 'live' | 'dead' | 'unknown' | 'ended';
  readonly pid: number | null;
  readonly branch: string | null;
  readonly worktree: string | null;
  readonly startedAt: string;
  readonly idleSeconds: number | null;
  readonly parent: string | null;
  readonly succeeds: string | null;
  readonly ended: { readonly at: string; readonly reason: string } | null;
  /** The session that runs this command. */
  readonly self: boolean;
}

export interface CheckShape {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem' | 'fixed';
  readonly detail: string;
  readonly hint: string | null;
}

/** RFC 3339 with seconds; milliseconds since the epoch in. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`;
}

/** A handoff commit as `--json` shows it; a commit whose trailers cannot be read shows owner "unknown". */
export function handoffShape(
  place: Pick<TopicState, 'branch' | 'topic'> & { ref: string },
  commit: HandoffCommit,
  reader: SessionId | undefined,
): HandoffShape {
  const { trailers } = commit;
  return {
    branch: place.branch,
    topic: place.topic,
    ref: place.ref,
    oid: commit.oid,
    parent: commit.parents[0] ?? null,
    state: trailers?.state ?? 'open',
    owner: trailers?.owner ?? 'unknown',
    agent: trailers?.agent ?? null,
    client: trailers?.client ?? null,
    summary: commit.summary,
    base: trailers?.base ?? null,
    createdAt: timestamp(commit.seconds * 1000),
    takenFrom: trailers?.takenFrom ?? trailers?.succeeds ?? null,
    unread: trailers?.owner !== reader,
  };
}

/** A note's bytes for JSON. */
export function noteShape(note: Uint8Array): NoteShape {
  try {
    return { note: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(note) };
  } catch {
    return { noteBase64: Buffer.from(note).toString('base64') };
  }
}
