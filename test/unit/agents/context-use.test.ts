import { describe, expect, it } from 'vitest';
import { contextUse } from '../../../src/agents/context-use.ts';
import { parseSettings } from '../../../src/domain/settings.ts';

const tail = (...lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

const claude = (read: number, more: object = {}) => ({
  type: 'assistant',
  message: { usage: { input_tokens: 1, cache_read_input_tokens: read, cache_creation_input_tokens: 2 } },
  ...more,
});
const codex = (total: unknown, window: unknown) => ({
  type: 'event_msg',
  payload: {
    type: 'token_count',
    info: { last_token_usage: { total_tokens: total }, model_context_window: window },
  },
});
const qwen = (read: number) => ({
  type: 'assistant',
  usageMetadata: { promptTokenCount: read },
  contextWindowSize: 1_000_000,
});

const copilot = (inputTokens: number, more: object = {}) => ({
  type: 'session.usage_record',
  data: { usage: { inputTokens, maxPromptTokens: 100 } },
  ...more,
});

describe('how full a context is', () => {
  it.each([
    ['claude', tail(claude(5), claude(97), { type: 'user' }), { used: 100, window: undefined }],
    ['claude', tail(claude(97), claude(500, { isSidechain: true })), { used: 100, window: undefined }],
    ['claude', tail(claude(97), { type: 'assistant', message: {} }), { used: 100, window: undefined }],
    ['claude', tail(claude(97), { type: 'system', subtype: 'compact_boundary' }), undefined],
    ['codex', tail(codex(1, 100), codex(70, 100)), { used: 70, window: 100 }],
    ['codex', tail(codex(70, null)), { used: 70, window: undefined }],
    [
      'codex',
      tail(codex(70, 100), { type: 'event_msg', payload: { type: 'token_count', info: null } }),
      { used: 70, window: 100 },
    ],
    ['codex', tail(codex(70, 100), { type: 'compacted', payload: {} }), undefined],
    ['codex', tail(codex('70', -1), codex(-1, 100), codex(1e300, 100)), undefined],
    ['gemini', tail({ type: 'gemini', tokens: { input: 9 } }, { $set: {} }), { used: 9, window: undefined }],
    ['qwen', tail(qwen(9)), { used: 9, window: 1_000_000 }],
    ['qwen', tail(qwen(9), { type: 'system', subtype: 'chat_compression' }), undefined],
    ['copilot', tail(claude(97)), undefined],
    ['copilot', tail(copilot(70), copilot(9, { agentId: 'sub' })), { used: 70, window: 100 }],
    ['copilot', tail(copilot(70), { type: 'session.compaction_complete', data: {} }), undefined],
    ['constructor', tail(claude(97)), undefined],
  ])('%s', (client, text, use) => {
    // The text may begin in the middle of a line.
    expect(contextUse(client, `":1}}\n${text}`)).toEqual(use);
  });
});

describe('when to ask for a note', () => {
  it.each([
    [[], 75, 0],
    [[['handoff.contextnudge', '60']], 60, 0],
    [[['handoff.contextnudge', '60 %']], 60, 0],
    [[['handoff.contextnudge', 'true']], 75, 0],
    [[['handoff.contextnudge', undefined]], 75, 0],
    [[['handoff.contextnudge', 'false']], 0, 0],
    [[['handoff.contextnudge', '0']], 0, 0],
    [[['handoff.contextwindow', '200000']], 75, 200_000],
    [[['handoff.contextwindow', '0']], 75, 0],
  ] as const)('%j', (entries, nudge, window) => {
    expect(parseSettings(entries)).toMatchObject({
      contextNudge: nudge,
      contextWindow: window,
      unknown: [],
    });
  });

  it('an invalid value counts as the default, and is reported', () => {
    const entries = [
      ['handoff.contextnudge', '200'],
      ['handoff.contextwindow', 'large'],
    ] as const;
    const { contextNudge, contextWindow, unknown } = parseSettings(entries);
    expect([contextNudge, contextWindow]).toEqual([75, 0]);
    expect(unknown.map(({ key, value }) => [key, value])).toEqual(entries);
  });
});
