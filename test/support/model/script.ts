import type { Json, JsonObject } from './json.ts';

/** One call of a client's tool. Codex's custom tools take a string, all others an object. */
export interface ToolUse {
  readonly name: string;
  readonly input: JsonObject | string;
  /** Codex: the namespace of a tool that it offers only after a search. */
  readonly namespace?: string;
}

/**
 * The model's answer to one request. In all strings of `tools`, `{{last:REGEX}}` stands for the
 * first group (or else the whole match) of REGEX in the last tool result.
 */
export interface Turn {
  readonly text?: string;
  readonly tools?: readonly ToolUse[];
  /** A gate that opens when the client requests this turn, so after it has carried out the turn before. */
  readonly opens?: string;
  /** A gate that must be open before the model answers. */
  readonly waitsFor?: string;
  /** Milliseconds to wait before answering. */
  readonly delay?: number;
  /** How many input tokens the model reports. */
  readonly read?: number;
  /** An HTTP status to fail with instead of an answer. */
  readonly error?: number;
}

/** The turns of the main conversation and of sub-agents, which a text in their prompt identifies. */
export interface Script {
  readonly turns: readonly Turn[];
  /** Called at each request with the tools that the client offers. */
  readonly hears?: (tools: readonly string[]) => void;
  readonly agents?: readonly { readonly match: string; readonly turns: readonly Turn[] }[];
}

/** A turn that calls one tool. */
export function call(name: string, input: JsonObject | string, gates: Partial<Turn> = {}): Turn {
  return { ...gates, tools: [{ name, input }] };
}

/** A turn that ends the model's answer with a text. */
export function say(text: string, gates: Partial<Turn> = {}): Turn {
  return { ...gates, text };
}

// In `{{last:a{2}}}`, the first `}` belongs to the pattern. So a placeholder ends at a `}}` that no further `}` follows.
const PLACEHOLDER = /\{\{last:(.*?)\}\}(?!\})/gs;

/**
 * The turn with its placeholders filled from the last tool result. A string that is only a placeholder becomes
 * a number if it finds digits. Throws when a pattern finds nothing, since the script expects a match.
 */
export function fillIn(turn: Turn, lastResult: string): Turn {
  if (turn.tools === undefined) return turn;
  const tools = turn.tools.map((use) => ({
    ...use,
    input: fillValue(use.input, lastResult) as JsonObject | string,
  }));
  return { ...turn, tools };
}

function fillValue(value: Json, lastResult: string): Json {
  if (typeof value === 'string') return fillString(value, lastResult);
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map((item) => fillValue(item, lastResult));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillValue(item, lastResult)]));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function fillString(text: string, lastResult: string): string | number {
  const filled = text.replace(PLACEHOLDER, (_, pattern: string) => {
    const found = new RegExp(pattern).exec(lastResult);
    if (found === null) throw new Error(`/${pattern}/ is not in the last tool result: ${lastResult}`);
    return found[1] ?? found[0];
  });
  const whole = filled !== text && text.replace(PLACEHOLDER, '') === '';
  return whole && /^\d+$/.test(filled) ? Number(filled) : filled;
}
