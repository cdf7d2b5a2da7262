import { randomUUID } from 'node:crypto';
import type { JsonObject } from './json.ts';
import type { Turn } from './script.ts';

/** What a tool answered, as it reached the model. */
export interface ToolResult {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  readonly failed: boolean;
  readonly output: string;
}

/** Body of a request, parsed. */
export type Body = Readonly<Record<string, unknown>>;

/** An answer before it is written: one JSON value, or server-sent events with their optional names. */
export type Reply =
  | { readonly kind: 'json'; readonly value: JsonObject }
  | { readonly kind: 'events'; readonly events: readonly ServerEvent[] };

export interface ServerEvent {
  readonly name?: string;
  readonly data: JsonObject;
}

/** One vendor's protocol. To add a protocol, export a `ModelDialect` from a new file, and list it in `server.ts`. */
export interface ModelDialect {
  readonly name: string;
  /** What a POST to this path asks for; `undefined` when it is not of this dialect. */
  asks(path: string): 'answer' | 'count' | undefined;
  /** Whether the request belongs to a conversation; others are side requests (titles, summaries). */
  isTurn(body: Body): boolean;
  /** The conversation's first prompt, which distinguishes a sub-agent's conversation from the main one. */
  firstUserText(body: Body): string;
  /** The names of the tools that the client offers, including those that it only lists until the model searches for them. */
  toolNames(body: Body): string[];
  /** Every tool result in the conversation so far, oldest first. */
  toolResults(body: Body): ToolResult[];
  /** What the model was told since its last answer, by the person and by hooks. */
  userTexts(body: Body): string[];
  /** The JSON Schema that the answer of a side request must fit, if any. */
  wantedSchema(body: Body): unknown;
  count(): JsonObject;
  answer(turn: Turn, body: Body, path: string): Reply;
}

/** A fresh id in the vendor's form: a prefix and 24 hex digits. */
export function freshId(prefix: string): string {
  return prefix + randomUUID().replaceAll('-', '').slice(0, 24);
}

/** The text of a turn. Without text and tools, it is `ok`. */
export function spokenText(turn: Turn): string | undefined {
  return turn.text ?? (turn.tools === undefined || turn.tools.length === 0 ? 'ok' : undefined);
}
