import { type Fields, fields, text } from './payload.ts';

/** How many tokens of its context a session has used, as its client's own file records it. */
interface ContextUse {
  readonly used: number;
  /** The size of the context; `undefined`: the file does not state it. */
  readonly window: number | undefined;
}

/** What one line says; `unknown`: the context was compacted, so its use is unknown until the model's next answer. */
type LineUse = ContextUse | 'unknown' | undefined;

/** For each client, the function that reads the context use from one line of the client's session file. */
const READERS: Readonly<Record<string, (line: Fields) => LineUse>> = {
  claude,
  codex,
  copilot,
  gemini,
  qwen,
};

/**
 * Reads how full a session's context is, from the last lines of its client's file. Skips lines that do not parse, because the
 * first may be cut off.
 */
export function contextUse(client: string, tail: string): ContextUse | undefined {
  const read = Object.hasOwn(READERS, client) ? READERS[client] : undefined;
  for (const line of read === undefined ? [] : tail.split('\n').reverse()) {
    const use = useIn(line, read);
    if (use === 'unknown') return undefined;
    if (use !== undefined && use.used > 0) return use;
  }
  return undefined;
}

/** Returns the session's file for a client whose payloads do not name it (Copilot CLI); `undefined`: unknown. */
export function sessionFile(
  client: string,
  session: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const home = env['COPILOT_HOME'] ?? `${env['HOME'] ?? ''}/.copilot`;
  return client === 'copilot' ? `${home}/session-state/${session}/events.jsonl` : undefined;
}

function useIn(line: string, read: ((line: Fields) => LineUse) | undefined): LineUse {
  try {
    const entry = fields(JSON.parse(line));
    return entry === undefined ? undefined : read?.(entry);
  } catch {
    return undefined;
  }
}

/** Claude Code records the input tokens of each answer, cached or not. A sidechain belongs to a sub-agent. */
function claude(line: Fields): LineUse {
  if (line['type'] === 'system' && line['subtype'] === 'compact_boundary') return 'unknown';
  if (line['type'] !== 'assistant' || line['isSidechain'] === true) return undefined;
  const usage = fields(fields(line['message'])?.['usage']);
  const parts = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
  return { used: parts.reduce((sum, part) => sum + count(usage?.[part]), 0), window: undefined };
}

/** Codex records the total of used tokens and the size of the model's window after each answer. */
function codex(line: Fields): LineUse {
  if (line['type'] === 'compacted') return 'unknown';
  const payload = fields(line['payload']);
  if (payload?.['type'] !== 'token_count') return undefined;
  const info = fields(payload['info']);
  const last = fields(info?.['last_token_usage']);
  return { used: count(last?.['total_tokens']), window: windowOf(info?.['model_context_window']) };
}

/** Copilot CLI records the tokens of each answer and the size of the model's window, for its sub-agents, too. */
function copilot(line: Fields): LineUse {
  if (text(line['type'])?.startsWith('session.compaction') === true) return 'unknown';
  if (line['type'] !== 'session.usage_record' || line['agentId'] !== undefined) return undefined;
  const usage = fields(fields(line['data'])?.['usage']);
  return { used: count(usage?.['inputTokens']), window: windowOf(usage?.['maxPromptTokens']) };
}

function gemini(line: Fields): LineUse {
  if (line['type'] !== 'gemini') return undefined;
  return { used: count(fields(line['tokens'])?.['input']), window: undefined };
}

/** Qwen Code records the size of the model's window with each answer. */
function qwen(line: Fields): LineUse {
  if (text(line['subtype']) === 'chat_compression') return 'unknown';
  if (line['type'] !== 'assistant' || line['isSidechain'] === true) return undefined;
  const used = count(fields(line['usageMetadata'])?.['promptTokenCount']);
  return { used, window: windowOf(line['contextWindowSize']) };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function windowOf(value: unknown): number | undefined {
  return count(value) || undefined;
}
