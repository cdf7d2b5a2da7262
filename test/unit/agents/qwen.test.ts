import { describe, expect, it } from 'vitest';
import type { GuardEvent, Verdict } from '../../../src/agents/dialect.ts';
import { dialectFor } from '../../../src/agents/index.ts';
import { qwen } from '../../../src/agents/qwen.ts';
import { capturedPayload, capturedPayloads } from '../../support/payloads.ts';

function parsed(name: string, change: object = {}): GuardEvent | undefined {
  return qwen.parse({ ...capturedPayload('qwen', name), ...change }, {});
}

function rendered(verdict: Verdict, name: string): unknown {
  const event = parsed(name);
  if (event === undefined) throw new Error(name);
  const output = qwen.render(verdict, event, capturedPayload('qwen', name));
  return output === '' ? undefined : JSON.parse(output);
}

describe('payloads of Qwen Code', () => {
  it('are read by the dialect "qwen"', async () => expect(dialectFor('qwen')).toBe(qwen));

  it.each(capturedPayloads('qwen'))(
    '$name names its session, its folder and its sub-agent',
    ({ payload }) => {
      const event = qwen.parse(payload, {});
      expect(event?.session).toBe(payload['session_id']);
      expect(event?.agent).toBe(payload['agent_id']);
      expect(event?.cwd).toBe('/repo');
      expect(event?.tool?.kind).not.toBe('unreadable');
    },
  );

  it.each([
    ['SessionStart', 'session-start'],
    ['SessionStart-resume', 'session-start'],
    ['PreToolUse-edit', 'before-tool'],
    ['PostToolUse-edit', 'after-tool'],
    ['PostToolUseFailure-edit-no-match', 'after-tool'],
    ['Stop', 'stop'],
    ['SubagentStart', 'agent-start'],
    ['SubagentStop', 'agent-stop'],
    ['UserPromptSubmit', 'prompt'],
  ])('%s is %s', (name, kind) => expect(parsed(name)?.kind).toBe(kind));

  it('say how a session began', () => {
    expect(parsed('SessionStart')?.source).toBe('startup');
    expect(parsed('SessionStart-resume')?.source).toBe('resume');
  });

  it('are not believed for version 0.15, which calls every Stop a repeated one', () => {
    expect(parsed('Stop')?.stopHookActive).toBe(false);
    expect(parsed('Stop-0.15')?.stopHookActive).toBe(false);
  });

  it.each<[string, object, GuardEvent['tool']]>([
    ['run_shell_command', { command: 'ls', is_background: false }, { kind: 'shell', command: 'ls' }],
    ['run_shell_command', { command: 'ls', directory: '/x' }, { kind: 'shell', command: 'ls', cwd: '/x' }],
    ['run_shell_command', { command: 'ls', directory: '' }, { kind: 'shell', command: 'ls' }],
    [
      'run_shell_command',
      { command: 'ls', is_background: true },
      { kind: 'shell', command: 'ls', inBackground: true },
    ],
    ['run_shell_command', { command: 1 }, { kind: 'unreadable' }],
    ['monitor', { command: 'ls' }, { kind: 'shell', command: 'ls', inBackground: true }],
    [
      'exit_worktree',
      { name: 'w1', action: 'remove' },
      { kind: 'argv', argv: ['git', 'worktree', 'remove', '--force', '.qwen/worktrees/w1'] },
    ],
    ['exit_worktree', { name: 'w1', action: 'keep' }, { kind: 'other' }],
    ['write_file', { file_path: 'a', content: 'b' }, { kind: 'write', path: 'a', content: 'b' }],
    ['write_file', { content: 'b' }, { kind: 'unreadable' }],
    ['write_file', { file_path: 'a' }, { kind: 'edit', path: 'a' }],
    [
      'edit',
      { file_path: 'a', old_string: 'x', new_string: 'y', replace_all: true },
      { kind: 'edit', path: 'a', edits: [{ from: 'x', to: 'y', all: true }] },
    ],
    ['edit', { file_path: 'a', old_string: '', new_string: 'y' }, { kind: 'write', path: 'a', content: 'y' }],
    ['notebook_edit', { notebook_path: 'a', new_source: 'y' }, { kind: 'edit', path: 'a' }],
    ['mcp__fs__write_file', { path: 'a', content: 'b' }, { kind: 'write', path: 'a', content: 'b' }],
    ['read_file', { file_path: 'a' }, { kind: 'other' }],
  ])('%s %j', (tool_name, tool_input, tool) => {
    expect(parsed('PreToolUse-edit', { tool_name, tool_input })?.tool).toEqual(tool);
  });

  it.each([undefined, null, 1, [], {}])('%j is no payload', (payload) => {
    expect(qwen.parse(payload, {})).toBeUndefined();
  });
});

describe('answers to Qwen Code', () => {
  it('allow silently', () => expect(rendered({ kind: 'allow' }, 'PreToolUse-edit')).toBeUndefined());

  it('deny as for Claude Code', () => {
    expect(rendered({ kind: 'deny', reason: 'because' }, 'PreToolUse-edit')).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'because',
      },
    });
  });

  it('tell the model after a tool and at the start, else the person', () => {
    for (const name of ['SessionStart', 'PostToolUse-edit', 'PostToolUseFailure-edit-no-match']) {
      const hookEventName = name.replace(/-.*/, '');
      const told = { hookSpecificOutput: { hookEventName, additionalContext: 'x' } };
      expect(rendered({ kind: 'context', text: 'x' }, name)).toEqual(told);
      expect(rendered({ kind: 'notice', text: 'x' }, name)).toEqual({ systemMessage: 'x' });
    }
    expect(rendered({ kind: 'context', text: 'x' }, 'PreToolUse-edit')).toEqual({ systemMessage: 'x' });
  });

  it('never rewrite, which would approve the call', () => {
    expect(qwen.canRewrite({})).toBe(false);
    expect(rendered({ kind: 'rewrite', content: 'y' }, 'PreToolUse-write_file')).toBeUndefined();
    expect(rendered({ kind: 'rewrite', content: 'y', context: 'news' }, 'PreToolUse-write_file')).toEqual({
      systemMessage: 'news',
    });
  });
});
