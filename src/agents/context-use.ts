import { type Fields, fields, text } from './payload.ts';

/** How much of its context a session has filled, in tokens, as the file that its client keeps of it says. */
interface ContextUse {
  readonly used: number;
  /** `undefined`: that file does not say how much there is. */
  readonly window: number | undefined;
}

/** What one line says; `unknown`: the context was made smaller, and nothing is known until the model has answered again. */
type LineUse = ContextUse | 'unknown' | undefined;

/** The clients that keep such a file. */
const READERS: Readonly<Record<string, (line: Fields) => LineUse>> = {
  claude,
  codex,
  copilot,
  gemini,
  qwen,
};

/**
 * Reads how full the context of a client's session is, from the last lines of the client's own file. Whatever is no such
 * line is passed over: the first may be a part of one.
 */
export function contextUse(client: string, tail: string): ContextUse | undefined {
  const read = Object.hasOwn(READERS, client) ? READERS[client] : undefined;
  for (const line of read === undefined ? [] : tail.split('\n').reverse()) {
    const said = useIn(line, read);
    if (said === 'unknown') return undefined;
    if (said !== undefined && said.used > 0) return said;
  }
  return undefined;
}

/** The file of a session, where its client names none with a prompt: Copilot CLI's. `undefined`: not known. */
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
    const said = fields(JSON.parse(line));
    return said === undefined ? undefined : read?.(said);
  } catch {
    return undefined;
  }
}

/** Claude Code: what an answer has read, from the cache or not. A sidechain is a sub-agent's. */
function claude(line: Fields): LineUse {
  if (line['type'] === 'system' && line['subtype'] === 'compact_boundary') return 'unknown';
  if (line['type'] !== 'assistant' || line['isSidechain'] === true) return undefined;
  const usage = fields(fields(line['message'])?.['usage']);
  const parts = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
  return { used: parts.reduce((sum, part) => sum + count(usage?.[part]), 0), window: undefined };
}

/** Codex counts after each answer, and says how large the model's window is. */
function codex(line: Fields): LineUse {
  if (line['type'] === 'compacted') return 'unknown';
  const payload = fields(line['payload']);
  if (payload?.['type'] !== 'token_count') return undefined;
  const info = fields(payload['info']);
  const last = fields(info?.['last_token_usage']);
  return { used: count(last?.['total_tokens']), window: windowOf(info?.['model_context_window']) };
}

/** Copilot CLI records what each answer took and how large the model's window is, of its sub-agents, too. */
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

/** Qwen Code says with each answer how large the model's window is. */
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
