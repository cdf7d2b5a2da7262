import { type Body, type ModelDialect, type Reply, type ServerEvent, type ToolResult } from './dialect.ts';
import { freshId, spokenText } from './dialect.ts';
import { type JsonObject, listOf, objectOf, stringOf, textOf } from './json.ts';
import type { ToolUse, Turn } from './script.ts';

const usageOf = ({ read = 10 }: Turn) => ({
  input_tokens: read,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: read + 10,
});

function itemsOf(body: Body): Body[] {
  return listOf(body['input']).map(objectOf);
}

/** The offered tools. Newer models get some of them as an input item; a namespace is a group of tools. */
function toolsOf(body: Body): Body[] {
  const added = itemsOf(body).filter(
    ({ type }) => type === 'additional_tools' || type === 'tool_search_output',
  );
  const all = [body, ...added].flatMap((holder) => listOf(holder['tools']).map(objectOf));
  return all.flatMap((tool) =>
    tool['type'] === 'namespace'
      ? listOf(tool['tools']).map((inner) => ({ ...objectOf(inner), namespace: tool['name'] }))
      : [tool],
  );
}

/** In Codex's code mode the description of `exec` has a heading for each tool that its programs can call. */
function toolNames(body: Body): string[] {
  return toolsOf(body).flatMap(({ name, type, description }) => {
    const within = stringOf(description).matchAll(/^### `(\w+)`$/gm);
    return [stringOf(name ?? type), ...[...within].map(([, inner = '']) => inner)];
  });
}

function callInput(item: Body | undefined): unknown {
  const input = item?.['arguments'] ?? item?.['input'] ?? item?.['action'];
  if (item?.['type'] !== 'function_call' || typeof input !== 'string') return input;
  try {
    return JSON.parse(input) as unknown;
  } catch {
    return input;
  }
}

function toolResults(body: Body): ToolResult[] {
  const calls = new Map<string, Body>();
  const results: ToolResult[] = [];
  for (const item of itemsOf(body)) {
    const id = stringOf(item['call_id']);
    if (stringOf(item['type']).endsWith('_call')) calls.set(id, item);
    if (!stringOf(item['type']).endsWith('_call_output')) continue;
    const made = calls.get(id);
    results.push({
      id,
      tool: stringOf(made?.['name'] ?? made?.['type']),
      input: callInput(made),
      failed: false, // this protocol does not mark failures
      output: textOf(item['output']) || JSON.stringify(item['output']),
    });
  }
  return results;
}

/** Texts from hooks before a tool call stand between the call and its output. */
function userTexts(body: Body): string[] {
  const items = itemsOf(body);
  const isCall = ({ type }: Body): boolean => stringOf(type).endsWith('_call');
  const isMessage = ({ type }: Body): boolean => type === undefined || type === 'message';
  const last = items.findLastIndex((item) => isCall(item) || item['role'] === 'assistant');
  return items
    .slice(last + 1)
    .filter(isMessage)
    .map((item) => textOf(item['content']));
}

function callItem({ name, input, namespace: within }: ToolUse, body: Body): JsonObject {
  const tool = toolsOf(body).find((candidate) => (candidate['name'] ?? candidate['type']) === name);
  const offered = within ?? tool?.['namespace'];
  const namespace = typeof offered === 'string' ? { namespace: offered } : {};
  const common = { call_id: freshId('call_'), name, ...namespace, status: 'completed' };
  if (tool?.['type'] === 'tool_search') {
    const { call_id, status } = common;
    return {
      type: 'tool_search_call',
      id: freshId('tsc_'),
      call_id,
      status,
      execution: 'client',
      arguments: input,
    };
  }
  return tool?.['type'] === 'custom'
    ? { type: 'custom_tool_call', id: freshId('ctc_'), ...common, input }
    : { type: 'function_call', id: freshId('fc_'), ...common, arguments: JSON.stringify(input) };
}

function messageItem(text: string): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', id: freshId('msg_'), role: 'assistant', status: 'completed', content };
}

function itemEvents(item: JsonObject, index: number): JsonObject[] {
  const begun = { ...item, status: 'in_progress' };
  return [
    { type: 'response.output_item.added', output_index: index, item: begun },
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

function answer(turn: Turn, body: Body): Reply {
  const text = spokenText(turn);
  const calls = (turn.tools ?? []).map((use) => callItem(use, body));
  const output = text === undefined ? calls : [messageItem(text), ...calls];
  const head = {
    id: freshId('resp_'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    model: stringOf(body['model']),
  };
  const response = { ...head, status: 'completed', output, usage: usageOf(turn) };
  if (body['stream'] !== true) return { kind: 'json', value: response };
  const steps: JsonObject[] = [
    { type: 'response.created', response: { ...head, status: 'in_progress', output: [] } },
    ...output.flatMap(itemEvents),
    { type: 'response.completed', response },
  ];
  const events = steps.map((data, index): ServerEvent => ({
    name: stringOf(data['type']),
    data: { ...data, sequence_number: index },
  }));
  return { kind: 'events', events };
}

/** OpenAI Responses, as Codex speaks it. */
export const responses: ModelDialect = {
  name: 'responses',
  asks: (path) => (path.endsWith('/responses') ? 'answer' : undefined),
  isTurn: (body) => toolsOf(body).length > 0 && responses.wantedSchema(body) === undefined,
  firstUserText(body) {
    const asked = itemsOf(body).filter(({ role }) => role === 'user');
    return asked.map((item) => textOf(item['content'])).join('\n');
  },
  toolNames,
  toolResults,
  userTexts,
  wantedSchema: (body) => objectOf(objectOf(body['text'])['format'])['schema'],
  count: () => ({}),
  answer,
};
