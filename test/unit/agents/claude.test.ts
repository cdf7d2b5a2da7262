import { describe, expect, it } from 'vitest';
import { claude } from '../../../src/agents/claude.ts';
import { codex } from '../../../src/agents/codex.ts';
import { capturedPayload } from '../../support/payloads.ts';

const FAILED = 'PostToolUseFailure-Bash-exit3';

describe.each(['claude', 'claude-new'])('payloads of Claude Code (%s)', (folder) => {
  const parsed = (name: string, change: object = {}) =>
    claude.parse({ ...capturedPayload(folder, name), ...change }, {});

  it('tell a command that failed, unless the person interrupted it', () => {
    expect(parsed(FAILED)).toMatchObject({ kind: 'after-tool', failure: { exit: 3, output: 'Exit code 3' } });
    expect(parsed(FAILED, { error: 'timed out' })?.failure).toEqual({ exit: undefined, output: 'timed out' });
    expect(parsed(FAILED, { is_interrupt: true })?.failure).toBeUndefined();
    expect(parsed('PostToolUse-Bash')?.failure).toBeUndefined();
  });

  it('tell a compaction', () => {
    expect(parsed('SessionEnd', { hook_event_name: 'PreCompact', trigger: 'auto' })?.kind).toBe('compaction');
  });
});

it('Codex tells a compaction, and not how a command ended', () => {
  const change = { hook_event_name: 'PreCompact', trigger: 'auto' };
  expect(codex.parse({ ...capturedPayload('codex', 'SessionEnd'), ...change }, {})?.kind).toBe('compaction');
  expect(codex.parse(capturedPayload('codex', 'PostToolUse-Bash-exit3'), {})?.failure).toBeUndefined();
});
