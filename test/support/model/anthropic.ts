import { type Body, type ModelDialect, type Reply, type ServerEvent, type ToolResult } from './dialect.ts';
import { freshId, spokenText } from './dialect.ts';
import { type JsonObject, listOf, objectOf, stringOf, textOf } from './json.ts';
import type { Turn } from './script.ts';

/** Reports most of the input as read from the cache. */
const usageOf = ({ read = 10 }: Turn) => ({
  input_tokens: 10,
  output_tokens: 10,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: read - 10,
});

function messagesOf(body: Body): Body[] {
  return listOf(body['messages']).map(objectOf);
}

function toolResults(body: Body): ToolResult[] {
  const uses = new Map<string, Body>();
  const results: ToolResult[] = [];
  for (const part of messagesOf(body).flatMap((message) => listOf(message['content']).map(objectOf))) {
    if (part['type'] === 'tool_use') uses.set(stringOf(part['id']), part);
    if (part['type'] !== 'tool_result') continue;
    const id = stringOf(part['tool_use_id']);
    results.push({
      id,
      tool: stringOf(uses.get(id)?.['name']),
      input: uses.get(id)?.['input'],
      failed: part['is_error'] === true,
      output: textOf(part['content']),
    });
  }
  return results;
}

function userTexts(body: Body): string[] {
  const messages = messagesOf(body);
  const last = messages.findLastIndex((message) => message['role'] === 'assistant');
  return messages.slice(last + 1).flatMap(({ content }) => {
    if (typeof content === 'string') return [content];
    const parts = listOf(content).map(objectOf);
    return parts.filter((part) => part['type'] === 'text').map((part) => stringOf(part['text']));
  });
}

/** Claude Code lists the tools that its ToolSearch can find, one per line. */
function toolNames(body: Body): string[] {
  const texts = messagesOf(body).map(({ content }) => textOf(content));
  const lists = texts.flatMap(
    (text) => /deferred tools are now available.*\n((?:\w+\n)+)/.exec(text)?.[1] ?? [],
  );
  const offered = listOf(body['tools']).map((tool) => stringOf(objectOf(tool)['name']));
  return [...offered, ...lists.flatMap((list) => list.trim().split('\n'))];
}

function contentOf(turn: Turn): JsonObject[] {
  const text = spokenText(turn);
  const uses = (turn.tools ?? []).map(({ name, input }) => ({
    type: 'tool_use',
    id: freshId('toolu_'),
    name,
    input,
  }));
  return text === undefined ? uses : [{ type: 'text', text }, ...uses];
}

function blockEvents(block: JsonObject, index: number): ServerEvent[] {
  const isText = block['type'] === 'text';
  const start = isText ? { type: 'text', text: '' } : { ...block, input: {} };
  const delta = isText
    ? { type: 'text_delta', text: block['text'] ?? '' }
    : { type: 'input_json_delta', partial_json: JSON.stringify(block['input']) };
  return [
    event({ type: 'content_block_start', index, content_block: start }),
    event({ type: 'content_block_delta', index, delta }),
    event({ type: 'content_block_stop', index }),
  ];
}

function event(data: JsonObject & { readonly type: string }): ServerEvent {
  return { name: data.type, data };
}

function answer(turn: Turn, body: Body): Reply {
  const content = contentOf(turn);
  const stop = { stop_reason: turn.tools?.length ? 'tool_use' : 'end_turn', stop_sequence: null };
  const head = { id: freshId('msg_'), type: 'message', role: 'assistant', model: stringOf(body['model']) };
  const usage = usageOf(turn);
  if (body['stream'] !== true) return { kind: 'json', value: { ...head, content, ...stop, usage } };
  const message = { ...head, content: [], stop_reason: null, stop_sequence: null, usage };
  const events = [
    event({ type: 'message_start', message }),
    ...content.flatMap(blockEvents),
    event({ type: 'message_delta', delta: stop, usage: { output_tokens: 10 } }),
    event({ type: 'message_stop' }),
  ];
  return { kind: 'events', events };
}

/** Anthropic Messages, as Claude Code speaks it. */
export const anthropic: ModelDialect = {
  name: 'anthropic',
  asks(path) {
    if (path.endsWith('/v1/messages')) return 'answer';
    return path.endsWith('/v1/messages/count_tokens') ? 'count' : undefined;
  },
  // Claude Code asks side questions (a title, a quota probe) without tools or for a single token.
  isTurn: (body) => listOf(body['tools']).length > 0 && body['max_tokens'] !== 1,
  firstUserText: (body) => textOf(messagesOf(body).find(({ role }) => role === 'user')?.['content']),
  toolNames,
  toolResults,
  userTexts,
  wantedSchema(body) {
    const format = objectOf(objectOf(body['output_config'])['format'] ?? body['output_format']);
    return format['schema'];
  },
  count: () => ({ input_tokens: 10 }),
  answer,
};
