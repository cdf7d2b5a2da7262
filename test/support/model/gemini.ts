import { type Body, type ModelDialect, type Reply, type ToolResult, freshId, spokenText } from './dialect.ts';
import { type JsonObject, listOf, objectOf, stringOf } from './json.ts';
import type { Turn } from './script.ts';

function contentsOf(body: Body): Body[] {
  return listOf(body['contents']).map(objectOf);
}

function partsOf(content: Body | undefined): Body[] {
  return listOf(content?.['parts']).map(objectOf);
}

function textsOf(parts: readonly Body[]): string[] {
  return parts.map((part) => stringOf(part['text'])).filter((text) => text !== '');
}

function toolResults(body: Body): ToolResult[] {
  const calls: Body[] = [];
  const results: ToolResult[] = [];
  for (const part of contentsOf(body).flatMap(partsOf)) {
    if (part['functionCall'] !== undefined) calls.push(objectOf(part['functionCall']));
    if (part['functionResponse'] === undefined) continue;
    const reply = objectOf(part['functionResponse']);
    // Ids are optional in this protocol; without one, the position identifies the call.
    const id = stringOf(reply['id']) || `#${results.length}`;
    const call = calls.find((candidate) => candidate['id'] === id) ?? calls[results.length];
    const { error, output } = objectOf(reply['response']);
    results.push({
      id,
      tool: stringOf(reply['name']),
      input: call?.['args'],
      failed: error !== undefined,
      output: stringOf(error ?? output) || JSON.stringify(reply['response']),
    });
  }
  return results;
}

function toolNames(body: Body): string[] {
  const declared = listOf(body['tools']).flatMap((tool) => listOf(objectOf(tool)['functionDeclarations']));
  return declared.map((tool) => stringOf(objectOf(tool)['name']));
}

function answer(turn: Turn, _body: Body, path: string): Reply {
  const text = spokenText(turn);
  const calls = (turn.tools ?? []).map(({ name, input }) => ({
    functionCall: { id: freshId('call_'), name, args: input },
  }));
  const parts: JsonObject[] = text === undefined ? calls : [{ text }, ...calls];
  const value = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
    modelVersion: 'scripted',
  };
  return path.endsWith(':streamGenerateContent')
    ? { kind: 'events', events: [{ data: value }] }
    : { kind: 'json', value };
}

/** Gemini generateContent, as Gemini CLI speaks it. */
export const gemini: ModelDialect = {
  name: 'gemini',
  asks(path) {
    if (/:(?:streamG|g)enerateContent$/.test(path)) return 'answer';
    return path.endsWith(':countTokens') ? 'count' : undefined;
  },
  // The requests of Gemini CLI's routers and checkers declare no functions, or want JSON.
  isTurn(body) {
    const isDeclared = toolNames(body).length > 0;
    return isDeclared && !stringOf(objectOf(body['generationConfig'])['responseMimeType']).includes('json');
  },
  firstUserText(body) {
    const asked = contentsOf(body).filter(({ role }) => role === 'user');
    return textsOf(asked.flatMap(partsOf)).join('\n');
  },
  toolNames,
  toolResults,
  userTexts: (body) => textsOf(partsOf(contentsOf(body).at(-1))),
  wantedSchema(body) {
    const config = objectOf(body['generationConfig']);
    return config['responseJsonSchema'] ?? config['responseSchema'];
  },
  count: () => ({ totalTokens: 10 }),
  answer,
};
