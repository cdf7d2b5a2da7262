import { jsonFields } from './journal/events.ts';
import { type SessionId, parseSessionId } from './names.ts';

/**
 * A person's one-shot bypass is a token. The first check that would refuse a session consumes the token. The bypass then
 * counts for that session until the tool call or git process that consumed the token is over. Times are milliseconds.
 */

/** What a person allowed. */
export interface BypassToken {
  readonly v: 1;
  /** The session that may consume the token; `null`: whoever is refused first. */
  readonly session: SessionId | null;
  readonly at: number;
}

/** What a consumed bypass counts for. */
export type BypassKey =
  /** One tool call, and git's hooks inside it. `agent`: the sub-agent; empty for the session itself. */
  | { readonly kind: 'call'; readonly id: string; readonly agent: string }
  /** One git process. */
  | { readonly kind: 'git'; readonly pid: number; readonly start: string };

export interface ConsumedBypass {
  readonly v: 1;
  readonly key: BypassKey;
  readonly at: number;
  /** Whether the refusal was about handoff files. If so, a person has allowed whatever the call does to these files. */
  readonly files: boolean;
}

/** How long a token waits to be consumed. */
export const BYPASS_TTL_MS = 10 * 60_000;
/** How far clocks may differ: a token dated further in the future is invalid. */
const SLACK_MS = 5_000;
/** After this time a tool call counts as over, even if its client has not reported the end. */
const MAX_CALL_MS = 3600_000;
/** Calls of one agent that are this far apart do not run in parallel: the earlier one is over. */
const TOGETHER_MS = 5_000;

/** Whether a token may still be consumed. */
export function isTokenFresh({ at }: BypassToken, now: number): boolean {
  return at <= now + SLACK_MS && now - at < BYPASS_TTL_MS;
}

/** Whether a session (`undefined`: a person) may consume a token. */
export function fits({ session }: BypassToken, by: SessionId | undefined): boolean {
  return session === null || session === by;
}

/** Whether a consumed bypass also counts for a check of the same session with this key. */
export function covers(consumed: ConsumedBypass, key: BypassKey, now: number): boolean {
  const { key: own } = consumed;
  if (own.kind === 'git') return key.kind === 'git' && own.pid === key.pid && own.start === key.start;
  if (now - consumed.at >= MAX_CALL_MS) return false;
  // The git hooks run inside the call that a person allowed.
  return key.kind === 'git' || own.id === key.id;
}

/** Whether the call that consumed the bypass must be over, though nobody reported its end, because `next` begins now. */
export function isAbandoned(
  consumed: ConsumedBypass,
  next: Extract<BypassKey, { kind: 'call' }>,
  now: number,
): boolean {
  const { key, at } = consumed;
  if (key.kind !== 'call' || key.id === next.id) return false;
  return key.agent === next.agent && now - at > TOGETHER_MS;
}

/** Formats a token, or a consumed bypass, for its file. */
export function formatBypass(bypass: BypassToken | ConsumedBypass): string {
  return `${JSON.stringify(bypass)}\n`;
}

/** Reads a token; `undefined` for any other text, and for a token of a later version. */
export function parseToken(text: string): BypassToken | undefined {
  const { v, session, at } = jsonFields(text);
  if (v !== 1 || typeof at !== 'number') return undefined;
  if (session === null) return { v, session, at };
  const id = typeof session === 'string' ? parseSessionId(session) : undefined;
  return id === undefined ? undefined : { v, session: id, at };
}

/** Reads a consumed bypass; `undefined` for anything else. */
export function parseConsumed(text: string): ConsumedBypass | undefined {
  const { v, key, at, files } = jsonFields(text);
  const known = parseKey(key);
  if (v !== 1 || typeof at !== 'number' || known === undefined) return undefined;
  return { v, key: known, at, files: files === true };
}

function parseKey(value: unknown): BypassKey | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { kind, id, agent, pid, start } = value as Record<string, unknown>;
  if (kind === 'call' && typeof id === 'string' && typeof agent === 'string') return { kind, id, agent };
  if (kind === 'git' && typeof pid === 'number' && typeof start === 'string') return { kind, pid, start };
  return undefined;
}
