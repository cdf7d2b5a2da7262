import { type Body, type ModelDialect, type Reply, type ToolResult, freshId, spokenText } from './dialect.ts';
import { type JsonObject, listOf, objectOf, stringOf, textOf } from './json.ts';
import type { ToolUse, Turn } from './script.ts';

const usageOf = ({ read = 10 }: Turn) => ({
  prompt_tokens: read,
  completion_tokens: 10,
  total_tokens: read + 10,
});

function messagesOf(body: Body): Body[] {
  return listOf(body['messages']).map(objectOf);
}

function toolsOf(body: Body): Body[] {
  return listOf(body['tools']).map(objectOf);
}

/** A function's arguments are JSON in a text; a custom tool's input is any text. */
function callInput(call: Body | undefined): unknown {
  const made = objectOf(call?.['function']);
  if (call?.['function'] === undefined) return objectOf(call?.['custom'])['input'];
  try {
    return JSON.parse(stringOf(made['arguments'])) as unknown;
  } catch {
    return made['arguments'];
  }
}

function toolResults(body: Body): ToolResult[] {
  const messages = messagesOf(body);
  const calls = messages.flatMap((message) => listOf(message['tool_calls']).map(objectOf));
  return messages
    .filter(({ role }) => role === 'tool')
    .map((message) => {
      const id = stringOf(message['tool_call_id']);
      const call = calls.find((candidate) => candidate['id'] === id);
      return {
        id,
        tool: stringOf(objectOf(call?.['function'] ?? call?.['custom'])['name']),
        input: callInput(call),
        failed: false, // this protocol does not mark failures
        output: textOf(message['content']),
      };
    });
}

/** The messages after the model's last answer, without tool results. */
function userTexts(body: Body): string[] {
  const messages = messagesOf(body);
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages
    .slice(last + 1)
    .filter(({ role }) => role !== 'tool')
    .map((message) => textOf(message['content']));
}

/** Qwen Code lists the tools behind its tool_search as `- "name": "what it does"`. */
function toolNames(body: Body): string[] {
  const texts = messagesOf(body).map(({ content }) => textOf(content));
  const lists = texts.filter((text) => text.includes('reachable through `tool_search`'));
  const listed = lists.flatMap((text) => [...text.matchAll(/^- "(\w+)": /gm)].map(([, name = '']) => name));
  const offered = toolsOf(body).map((tool) => stringOf(objectOf(tool['function'] ?? tool['custom'])['name']));
  return [...offered, ...listed];
}

function callPart({ name, input }: ToolUse, index: number, body: Body): JsonObject {
  const isCustom = toolsOf(body).some((tool) => objectOf(tool['custom'])['name'] === name);
  const id = freshId('call_');
  return isCustom
    ? { index, id, type: 'custom', custom: { name, input } }
    : { index, id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

function answer(turn: Turn, body: Body): Reply {
  const calls = (turn.tools ?? []).map((use, index) => callPart(use, index, body));
  const spoken = { role: 'assistant', content: spokenText(turn) ?? '' };
  const message = calls.length === 0 ? spoken : { ...spoken, tool_calls: calls };
  const finish_reason = calls.length === 0 ? 'stop' : 'tool_calls';
  const head = { id: freshId('chatcmpl-'), created: 1, model: stringOf(body['model']) };
  if (body['stream'] !== true) {
    const choices = [{ index: 0, message, finish_reason }];
    return { kind: 'json', value: { ...head, object: 'chat.completion', choices, usage: usageOf(turn) } };
  }
  const chunk = (delta: JsonObject, end: JsonObject): JsonObject => {
    const choices = [{ index: 0, delta, finish_reason: null, ...end }];
    return { ...head, object: 'chat.completion.chunk', choices };
  };
  const last = { ...chunk({}, { finish_reason }), usage: usageOf(turn) };
  return { kind: 'events', events: [{ data: chunk(message, {}) }, { data: last }] };
}

/** OpenAI chat completions, as Qwen Code and OpenCode speak them. */
export const completions: ModelDialect = {
  name: 'completions',
  asks: (path) => (path.endsWith('/chat/completions') ? 'answer' : undefined),
  isTurn: (body) => toolsOf(body).length > 0 && completions.wantedSchema(body) === undefined,
  firstUserText(body) {
    const asked = messagesOf(body).filter(({ role }) => role === 'user');
    return asked.map((message) => textOf(message['content'])).join('\n');
  },
  toolNames,
  toolResults,
  userTexts,
  wantedSchema: (body) => objectOf(objectOf(body['response_format'])['json_schema'])['schema'],
  count: () => ({}),
  answer,
};
