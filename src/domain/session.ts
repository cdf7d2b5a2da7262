import { jsonFields } from './journal/events.ts';
import { type SessionId, parseSessionId, SESSION_VARIABLES, parseClientSessionId } from './names.ts';

/** A process as the machine knows it. `start` distinguishes two processes that had the same pid. */
export interface ProcessId {
  readonly pid: number;
  /** Start time in the unit of the platform (clock ticks on Linux, text elsewhere). */
  readonly start: string;
}

export interface SessionEnd {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly reason: string;
}

/** What `refs/handoffs-local/live/<worktree-id>/<session>` points at. */
export interface SessionRecord {
  readonly v: 1;
  readonly session: SessionId;
  readonly client: string;
  /** The client's process; `null` when it is not known (any more). */
  readonly pid: number | null;
  readonly start: string | null;
  readonly bootId: string | null;
  readonly pidNs: string | null;
  /** The name of the machine or container; `null` in a record of version 0.1.0. */
  readonly host: string | null;
  /** The common dir of its clone, because a copy of the clone contains this record, too; `null` in a record of 0.1.0. */
  readonly clone: string | null;
  /** The session in whose process tree this one was started. */
  readonly parent: SessionId | null;
  /** The ended session whose conversation this one carries on. */
  readonly succeeds: SessionId | null;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly ended: SessionEnd | null;
  /** The session only touches this worktree from outside. Its record here stays until it has no uncommitted work here. */
  readonly visiting?: true;
}

/** The kinds of events that a client's hook reports, in our words. */
export type EventKind =
  | 'session-start'
  | 'before-tool'
  | 'after-tool'
  | 'prompt'
  | 'stop'
  | 'compaction'
  | 'session-end'
  | 'agent-start'
  | 'agent-stop'
  | 'other';

/** `live`: proven or active · `dead`: its process is gone · `unknown`: cannot be determined · `ended`: it reported its end. */
export type Liveness = 'live' | 'dead' | 'unknown' | 'ended';

/** What is known of the machine when liveness is judged. */
export interface LivenessFacts {
  readonly bootId: string | null;
  readonly pidNs: string | null;
  /** Whether a process still runs; `undefined` if this user may not know. */
  readonly stillRuns: (process: ProcessId) => boolean | undefined;
  /** Milliseconds since the session's last call, `undefined` when it never called. */
  readonly silentMs: number | undefined;
  readonly staleAfterMs: number;
}

/**
 * Judges whether a session is live. A pid proves something only on the same boot, in the same pid namespace, and if this
 * user may see the process. Otherwise a recent call counts; a silent session is `unknown`, which refuses nothing.
 */
export function judgeLiveness(record: SessionRecord, facts: LivenessFacts): Liveness {
  if (record.ended !== null) return 'ended';
  const { pid, start } = record;
  if (pid !== null && start !== null && comparable(record, facts)) {
    const runs = facts.stillRuns({ pid, start });
    if (runs !== undefined) return runs ? 'live' : 'dead';
  }
  return facts.silentMs !== undefined && facts.silentMs <= facts.staleAfterMs ? 'live' : 'unknown';
}

/** The text of a record's blob. */
export function formatRecord(record: SessionRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Reads a record; `undefined` if it is not one of version 1. */
export function parseRecord(text: string): SessionRecord | undefined {
  const value = jsonFields<keyof SessionRecord>(text);
  if (value.v !== 1) return undefined;
  const session = parseSessionId(value.session);
  if (session === undefined || typeof value.startedAt !== 'number') return undefined;
  const text_ = (field: unknown) => (typeof field === 'string' ? field : null);
  return {
    v: 1,
    session,
    client: clientName(value.client),
    pid: typeof value.pid === 'number' ? value.pid : null,
    start: text_(value.start),
    bootId: text_(value.bootId),
    pidNs: text_(value.pidNs),
    host: text_(value.host),
    clone: text_(value.clone),
    parent: parseSessionId(value.parent) ?? null,
    succeeds: parseSessionId(value.succeeds) ?? null,
    startedAt: value.startedAt,
    ended: parseEnd(value.ended),
    ...(value.visiting === true ? { visiting: true } : {}),
  };
}

/** Reads a client's name, which becomes a trailer: anything but a plain word is `unknown`. */
function clientName(value: unknown): string {
  return typeof value === 'string' && /^[a-z0-9-]{1,32}$/.test(value) ? value : 'unknown';
}

function parseEnd(value: unknown): SessionEnd | null {
  if (typeof value !== 'object' || value === null) return null;
  const { at, reason } = value as Record<string, unknown>;
  return typeof at === 'number' ? { at, reason: typeof reason === 'string' ? reason : 'other' } : null;
}

/** Returns every session whose conversation `session` carries on, nearest first. */
export function succeededBy(session: SessionId, records: readonly SessionRecord[]): SessionId[] {
  return chainFrom(session, 'succeeds', records).slice(1);
}

/** Whether two sessions belong together: the same one, or one started inside the other. */
export function related(a: SessionId, b: SessionId, records: readonly SessionRecord[]): boolean {
  return chainFrom(a, 'parent', records).includes(b) || chainFrom(b, 'parent', records).includes(a);
}

/** Returns a session and all that are reached through `link`, step by step. It follows a circle of links only once. */
function chainFrom(
  start: SessionId,
  link: 'succeeds' | 'parent',
  records: readonly SessionRecord[],
): SessionId[] {
  const chain = new Set([start]);
  for (const session of chain) {
    const next = records.find((record) => record.session === session && record[link] !== null)?.[link];
    if (next) chain.add(next);
  }
  return [...chain];
}

export interface IdentityFacts {
  /** This process's ancestors, nearest first. */
  readonly ancestors: readonly ProcessId[];
  /** Sessions on record that have not ended. */
  readonly records: readonly SessionRecord[];
  readonly bootId: string | null;
  readonly pidNs: string | null;
  variable(name: string): string | undefined;
}

interface CallingSession {
  readonly id: SessionId;
  readonly client: string;
}

/**
 * Decides which session is writing; `undefined`: a person is. The nearest ancestor process that is a session on record wins,
 * whatever the environment says, because everything that a session ever started inherits its variables. A variable counts if
 * its session's process may be an ancestor that we cannot see.
 */
export function callingSession(facts: IdentityFacts): CallingSession | undefined {
  const proven = provenSessions(facts);
  const named = namedSessions(facts);
  const [only] =
    proven.length === 1 ? proven : proven.filter((record) => named.some(({ id }) => id === record.session));
  if (only !== undefined) return { id: only.session, client: only.client };
  return named.find(({ id }) => couldBeAncestor(id, facts));
}

function namedSessions(facts: IdentityFacts): CallingSession[] {
  return Object.entries(SESSION_VARIABLES).flatMap(([name, client]) => {
    const id = parseClientSessionId(facts.variable(name));
    return id === undefined ? [] : [{ id, client }];
  });
}

/**
 * Returns the sessions of the nearest ancestor process that has any. If there are several, one process reported them all (a
 * client that hosts conversations side by side): then only a variable can tell which of them is writing.
 */
function provenSessions({ ancestors, records, ...machine }: IdentityFacts): readonly SessionRecord[] {
  const here = records.filter((record) => comparable(record, machine));
  for (const { pid, start } of ancestors) {
    const found = here.filter((record) => record.pid === pid && record.start === start);
    if (found.length > 0) return found;
  }
  return [];
}

/** Whether the session's process may be an ancestor that we cannot see: a visible one would have been found already. */
function couldBeAncestor(id: SessionId, facts: IdentityFacts): boolean {
  const own = facts.records.filter((record) => record.session === id);
  return own.length === 0 || own.some((record) => !comparable(record, facts));
}

function comparable(record: SessionRecord, machine: Pick<SessionRecord, 'bootId' | 'pidNs'>): boolean {
  return (
    record.pid !== null &&
    record.bootId !== null &&
    record.bootId === machine.bootId &&
    record.pidNs === machine.pidNs
  );
}
