import { jsonFields } from './json-fields.ts';
import { type SessionId, parseSessionId } from './names.ts';

/**
 * A person's one-shot bypass: a token that the first check which would refuse consumes. From then on it counts for
 * that session until the tool call or the git process that it was consumed in is over. Times are milliseconds.
 */

/** What a person allowed. */
export interface BypassToken {
  readonly v: 1;
  /** For which session; `null`: for whoever is refused first. */
  readonly session: SessionId | null;
  readonly at: number;
}

/** What a bypass that was consumed counts for. */
export type BypassKey =
  /** One tool call; git's hooks inside of it, too. `agent`: the sub-agent, empty for the session's own. */
  | { readonly kind: 'call'; readonly id: string; readonly agent: string }
  /** One git process. */
  | { readonly kind: 'git'; readonly pid: number; readonly start: string };

/** A token that was consumed. */
export interface ConsumedBypass {
  readonly v: 1;
  readonly key: BypassKey;
  /** When it was consumed. */
  readonly at: number;
  /** The refusal was about handoff files: what becomes of them is what a person wanted. */
  readonly files: boolean;
}

/** How long a token waits to be consumed. */
export const BYPASS_TTL_MS = 10 * 60_000;
/** Clocks of two processes may differ by this; a token from later on is none. */
const SLACK_MS = 5_000;
/** No tool call is waited for longer: its client has gone without a word. */
const MAX_CALL_MS = 3600_000;
/** Calls of one agent that are this far apart are not made at once: the earlier one is over. */
const TOGETHER_MS = 5_000;

/** Whether a token may still be consumed. */
export function isTokenFresh({ at }: BypassToken, now: number): boolean {
  return at <= now + SLACK_MS && now - at < BYPASS_TTL_MS;
}

/** Whether a session (`undefined`: a person) may consume a token. */
export function fits({ session }: BypassToken, by: SessionId | undefined): boolean {
  return session === null || session === by;
}

/** Whether what was consumed for one key counts for a check with another key of the same session. */
export function covers(consumed: ConsumedBypass, key: BypassKey, now: number): boolean {
  const { key: own } = consumed;
  if (own.kind === 'git') return key.kind === 'git' && own.pid === key.pid && own.start === key.start;
  if (now - consumed.at >= MAX_CALL_MS) return false;
  // The git hooks run inside the call that a person allowed.
  return key.kind === 'git' || own.id === key.id;
}

/** Whether a call that begins now shows that the one it was consumed in is over: no word came of its end. */
export function isAbandoned(
  consumed: ConsumedBypass,
  next: Extract<BypassKey, { kind: 'call' }>,
  now: number,
): boolean {
  const { key, at } = consumed;
  if (key.kind !== 'call' || key.id === next.id) return false;
  return key.agent === next.agent && now - at > TOGETHER_MS;
}

/** A token as its file holds it. */
export function formatToken(token: BypassToken): string {
  return `${JSON.stringify(token)}\n`;
}

/** Reads a token; `undefined` for anything else, and for a later version of it. */
export function parseToken(text: string): BypassToken | undefined {
  const { v, session, at } = jsonFields(text);
  if (v !== 1 || typeof at !== 'number') return undefined;
  if (session === null) return { v, session, at };
  const id = typeof session === 'string' ? parseSessionId(session) : undefined;
  return id === undefined ? undefined : { v, session: id, at };
}

/** What was consumed, as its file holds it. */
export function formatConsumed(consumed: ConsumedBypass): string {
  return `${JSON.stringify(consumed)}\n`;
}

/** Reads what was consumed; `undefined` for anything else. */
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
