import { describe, expect, it } from 'vitest';
import { codex } from '../../../src/agents/codex.ts';
import type { GuardEvent, Verdict } from '../../../src/agents/dialect.ts';
import { dialectFor } from '../../../src/agents/index.ts';
import { capturedPayload } from '../../support/payloads.ts';

const SESSION = '01a1fba2-e09f-7542-a66b-d84706f9779c';

function parsed(name: string, change: object = {}): GuardEvent | undefined {
  return codex.parse({ ...capturedPayload('codex', name), ...change }, {});
}

function rendered(verdict: Verdict, name: string): unknown {
  const event = parsed(name);
  if (event === undefined) throw new Error(name);
  const output = codex.render(verdict, event, {});
  return output === '' ? undefined : JSON.parse(output);
}

describe('payloads of Codex', () => {
  it('are read by the dialect "codex"', async () => expect(dialectFor('codex')).toBe(codex));

  it.each([
    ['SessionStart', 'session-start'],
    ['SessionEnd', 'session-end'],
    ['PreToolUse-Bash', 'before-tool'],
    ['PostToolUse-Bash', 'after-tool'],
    ['Stop', 'stop'],
    ['SubagentStart-subagent', 'agent-start'],
    ['SubagentStop-subagent', 'agent-stop'],
    ['UserPromptSubmit', 'prompt'],
  ])('%s is %s', (name, kind) => {
    expect(parsed(name)).toMatchObject({ kind, session: SESSION, cwd: '/repo' });
  });

  it('name the root session and the sub-agent that calls', () => {
    expect(parsed('PreToolUse-apply_patch-subagent')).toMatchObject({
      session: SESSION,
      agent: '01a1fba2-ea99-7bb3-94f3-3ebcc6d51750',
      tool: { kind: 'patch', files: [{ path: 'sub.txt', change: 'add', firstLine: 'one' }] },
    });
    expect(parsed('PreToolUse-Bash')?.agent).toBeUndefined();
  });

  it.each<[string, unknown, GuardEvent['tool']]>([
    ['Bash', { command: 'ls' }, { kind: 'shell', command: 'ls' }],
    ['exec_command', { cmd: 'ls' }, { kind: 'shell', command: 'ls' }],
    ['shell', { command: ['ls', '-l'], workdir: 'sub' }, { kind: 'argv', argv: ['ls', '-l'], cwd: 'sub' }],
    ['shell', { command: ['ls', 1] }, { kind: 'unreadable' }],
    ['shell', { command: [] }, { kind: 'unreadable' }],
    ['Bash', null, { kind: 'unreadable' }],
    [
      'apply_patch',
      { input: '*** Delete File: a' },
      { kind: 'patch', files: [{ path: 'a', change: 'delete' }] },
    ],
    ['apply_patch', '*** Delete File: a', { kind: 'patch', files: [{ path: 'a', change: 'delete' }] }],
    ['apply_patch', { command: 'nothing' }, { kind: 'unreadable' }],
    ['apply_patch', {}, { kind: 'unreadable' }],
    ['mcp__fs__write_file', { path: 'a', content: 'b' }, { kind: 'write', path: 'a', content: 'b' }],
    ['update_plan', { plan: [] }, { kind: 'other' }],
  ])('%s %j', (tool_name, tool_input, tool) => {
    expect(parsed('PreToolUse-Bash', { tool_name, tool_input })?.tool).toEqual(tool);
  });

  it.each([undefined, null, 1, 'x', [], {}, { hook_event_name: 1 }])('%j is no payload', (payload) => {
    expect(codex.parse(payload, {})).toBeUndefined();
  });

  it.each([undefined, null, 1, '', 'current', 'person-0123456789ab', '../x'])(
    'the session id %j counts as none',
    (session_id) => expect(parsed('PreToolUse-Bash', { session_id })).toMatchObject({ session: undefined }),
  );
});

describe('answers to Codex', () => {
  it('allow silently, and never rewrite, which would approve the call', () => {
    expect(rendered({ kind: 'allow' }, 'PreToolUse-Bash')).toBeUndefined();
    expect(codex.canRewrite({})).toBe(false);
    expect(rendered({ kind: 'rewrite', content: 'x' }, 'PreToolUse-Bash')).toBeUndefined();
  });

  it('deny with a reason and no other key', () => {
    expect(rendered({ kind: 'deny', reason: 'because' }, 'PreToolUse-Bash')).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'because',
      },
    });
  });

  it.each(['SessionStart', 'PreToolUse-Bash', 'PostToolUse-Bash', 'SubagentStart-subagent'])(
    'tell the model in %s',
    (name) => {
      const hookEventName = name.replace(/-.*/, '');
      expect(rendered({ kind: 'context', text: 'news' }, name)).toEqual({
        hookSpecificOutput: { hookEventName, additionalContext: 'news' },
      });
    },
  );

  it('tell the person what cannot reach the model', () => {
    expect(rendered({ kind: 'context', text: 'news' }, 'Stop')).toEqual({ systemMessage: 'news' });
    expect(rendered({ kind: 'notice', text: 'news' }, 'Stop')).toEqual({ systemMessage: 'news' });
    expect(rendered({ kind: 'notice', text: 'news' }, 'PreToolUse-Bash')).toEqual({ systemMessage: 'news' });
  });
});
