import { type Fields, fields, fieldsOrJson } from './payload.ts';

/** How many tokens of its context a session has used, as its client's own file records it. */
interface ContextUse {
  readonly used: number;
  /** The size of the context; `undefined`: the file does not state it. */
  readonly window: number | undefined;
}

/** How a client's session file records the use of the context. A path joins the names of nested fields by dots. */
interface Recorded {
  readonly type: string;
  readonly ofAgent?: string;
  /** The paths of the token counts to add up. */
  readonly used: readonly string[];
  readonly window?: string;
  /** Matches type and subtype of a compaction, after which the use is unknown until the model's next answer. */
  readonly compaction?: RegExp;
}

const CLIENTS: Readonly<Record<string, Recorded>> = {
  claude: {
    type: 'assistant',
    ofAgent: 'isSidechain',
    used: [
      'message.usage.input_tokens',
      'message.usage.cache_read_input_tokens',
      'message.usage.cache_creation_input_tokens',
    ],
    compaction: /^system compact_boundary$/,
  },
  codex: {
    type: 'event_msg',
    used: ['payload.info.last_token_usage.total_tokens'],
    window: 'payload.info.model_context_window',
    compaction: /^compacted /,
  },
  copilot: {
    type: 'session.usage_record',
    ofAgent: 'agentId',
    used: ['data.usage.inputTokens'],
    window: 'data.usage.maxPromptTokens',
    compaction: /^session\.compaction/,
  },
  gemini: { type: 'gemini', used: ['tokens.input'] },
  qwen: {
    type: 'assistant',
    ofAgent: 'isSidechain',
    used: ['usageMetadata.promptTokenCount'],
    window: 'contextWindowSize',
    compaction: / chat_compression$/,
  },
};

/** Reads how full a session's context is from the last lines of its client's file; the first line may be cut off. */
export function contextUse(client: string, tail: string): ContextUse | undefined {
  const recorded = Object.hasOwn(CLIENTS, client) ? CLIENTS[client] : undefined;
  if (recorded === undefined) return undefined;
  for (const text of tail.split('\n').reverse()) {
    const line = text.startsWith('{') ? fieldsOrJson(text) : undefined;
    if (recorded.compaction?.test(`${String(line?.['type'])} ${String(line?.['subtype'])}`) === true)
      return undefined;
    if (line?.['type'] !== recorded.type || Boolean(line[recorded.ofAgent ?? ''])) continue;
    const used = recorded.used.reduce((sum, path) => sum + count(line, path), 0);
    const window = recorded.window === undefined ? 0 : count(line, recorded.window);
    if (used > 0) return { used, window: window || undefined };
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

function count(line: Fields, path: string): number {
  const value = path.split('.').reduce<unknown>((object, name) => fields(object)?.[name], line);
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
