import { describe, expect, it } from 'vitest';
import { claude } from '../../../src/agents/claude.ts';
import { codex } from '../../../src/agents/codex.ts';
import { capturedPayload } from '../../support/payloads.ts';

describe.each(['claude', 'claude-new'])('payloads of Claude Code (%s)', (folder) => {
  const parsed = (name: string, change: object = {}) =>
    claude.parse({ ...capturedPayload(folder, name), ...change }, {});

  it('tell a compaction', () => {
    expect(parsed('SessionEnd', { hook_event_name: 'PreCompact', trigger: 'auto' })?.kind).toBe('compaction');
  });
});

it('Codex tells a compaction', () => {
  const change = { hook_event_name: 'PreCompact', trigger: 'auto' };
  expect(codex.parse({ ...capturedPayload('codex', 'SessionEnd'), ...change }, {})?.kind).toBe('compaction');
});
