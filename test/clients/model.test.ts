import { describe, expect, it, onTestFinished } from 'vitest';
import { createGates } from '../support/model/gates.ts';
import { call, fillIn, say, type Script } from '../support/model/script.ts';
import { startModel } from '../support/model/server.ts';

async function start(script: Script, gates = createGates()) {
  const model = await startModel(script, gates);
  onTestFinished(() => model.close());
  const post = async (path: string, body: unknown): Promise<string> => {
    const response = await fetch(model.url + path, { method: 'POST', body: JSON.stringify(body) });
    return response.text();
  };
  return { ...model, post };
}

const TOOLS = { tools: [{ name: 'Bash' }] };

describe('the scripted model', () => {
  it('plays its turns in order, reports the end of the script, and also answers side requests', async () => {
    const model = await start({ turns: [say('one'), say('two')] });
    expect(await model.post('/v1/messages', { ...TOOLS, messages: [] })).toContain('"one"');
    expect(await model.post('/v1/messages/count_tokens', TOOLS)).toBe('{"input_tokens":10}');
    const schema = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } };
    const asked = { output_config: { format: { type: 'json_schema', schema } } };
    expect(await model.post('/v1/messages', asked)).toContain('{\\"title\\":\\"ok\\"}');
    expect(await model.post('/v1/messages', { ...TOOLS, messages: [] })).toContain('"two"');
    expect(await model.post('/v1/messages', { ...TOOLS, messages: [] })).toContain('the script is over');
    expect(model.conversation.turnsUsed()).toBe(3);
  });

  it('holds an answer back until its gate opens, and reports a gate that stays shut', async () => {
    const gates = createGates();
    const order: string[] = [];
    const slow = await start({ turns: [say('slow', { opens: 'asked', waitsFor: 'fast' })] }, gates);
    const fast = await start({ turns: [say('fast')] }, gates);
    const waiting = slow.post('/v1/messages', TOOLS).then(() => order.push('slow'));
    expect(await gates.wait('asked')).toBe(true);
    await fast.post('/v1/messages', TOOLS);
    order.push('fast');
    gates.open('fast');
    await waiting;
    expect(order).toEqual(['fast', 'slow']);
    expect(await gates.wait('never opened', 1)).toBe(false);
  });

  it('fills a turn from the last tool result, and reports a pattern that does not match', () => {
    const turn = call('Bash', { command: 'run {{last:id ([0-9a-f]{3})}}', port: '{{last:port (\\d+)}}' });
    expect(fillIn(turn, 'id abc\nport 80').tools).toEqual([
      { name: 'Bash', input: { command: 'run abc', port: 80 } },
    ]);
    expect(() => fillIn(turn, 'nothing')).toThrow('id ([0-9a-f]{3})');
  });

  it.each([
    ['/v1/messages', { ...TOOLS, messages: [{ role: 'user', content: 'SUB do it' }] }],
    ['/v1/responses', { ...TOOLS, input: [{ role: 'user', content: [{ text: 'SUB do it' }] }] }],
    ['/v1/chat/completions', { ...TOOLS, messages: [{ role: 'user', content: 'SUB do it' }] }],
    [
      '/v1beta/models/m:generateContent',
      {
        tools: [{ functionDeclarations: [{ name: 'x' }] }],
        contents: [{ role: 'user', parts: [{ text: 'SUB do it' }] }],
      },
    ],
  ])('knows a sub-agent by what it was asked: %s', async (path, body) => {
    const agents = [{ match: 'SUB', turns: [say('sub-agent')] }];
    const model = await start({ turns: [say('main')], agents });
    expect(await model.post(path, body)).toContain('sub-agent');
    expect(model.conversation.turnsUsed()).toBe(0);
  });

  it.each([
    [
      '/v1/messages',
      {
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls' } }],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 't', content: 'no', is_error: true },
              { type: 'text', text: 'hook says' },
            ],
          },
        ],
      },
      true,
    ],
    [
      '/v1/responses',
      {
        input: [
          { type: 'function_call', call_id: 't', name: 'Bash', arguments: '{"command":"ls"}' },
          { type: 'message', role: 'developer', content: [{ text: 'hook says' }] },
          { type: 'function_call_output', call_id: 't', output: 'no' },
        ],
      },
      false,
    ],
    [
      '/v1/chat/completions',
      {
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 't', function: { name: 'Bash', arguments: '{"command":"ls"}' } }],
          },
          { role: 'tool', tool_call_id: 't', content: [{ type: 'text', text: 'no' }] },
          { role: 'user', content: 'hook says' },
        ],
      },
      false,
    ],
    [
      '/v1beta/models/m:streamGenerateContent',
      {
        tools: [{ functionDeclarations: [{ name: 'Bash' }] }],
        contents: [
          { role: 'model', parts: [{ functionCall: { name: 'Bash', args: { command: 'ls' } } }] },
          {
            role: 'user',
            parts: [{ functionResponse: { name: 'Bash', response: { error: 'no' } } }, { text: 'hook says' }],
          },
        ],
      },
      true,
    ],
  ])('reads tool results and texts back: %s', async (path, body, failed) => {
    const model = await start({ turns: [say('main')] });
    await model.post(path, { ...TOOLS, ...body });
    const results = model.conversation.toolResults();
    expect(results).toMatchObject([{ tool: 'Bash', input: { command: 'ls' }, failed, output: 'no' }]);
    expect(model.conversation.userTexts()).toEqual([['hook says']]);
  });
});
