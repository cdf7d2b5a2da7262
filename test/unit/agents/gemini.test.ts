import { describe, expect, it } from 'vitest';
import type { GuardEvent, Verdict } from '../../../src/agents/dialect.ts';
import { gemini } from '../../../src/agents/gemini.ts';
import { dialectFor } from '../../../src/agents/index.ts';
import { capturedPayload } from '../../support/payloads.ts';

const SESSION = 'dc32f0f3-6909-4dba-abe2-6f6f72df6a59';

function parsed(name: string, change: object = {}): GuardEvent | undefined {
  return gemini.parse({ ...capturedPayload('gemini', name), ...change }, {});
}

function rendered(verdict: Verdict, name: string, change: object = {}): unknown {
  const event = parsed(name, change);
  if (event === undefined) throw new Error(name);
  const output = gemini.render(verdict, event, { ...capturedPayload('gemini', name), ...change });
  return output === '' ? undefined : JSON.parse(output);
}

describe('payloads of Gemini CLI', () => {
  it('are read by the dialect "gemini"', async () => expect(dialectFor('gemini')).toBe(gemini));

  it.each([
    ['SessionStart', 'session-start'],
    ['SessionEnd', 'session-end'],
    ['BeforeTool-replace', 'before-tool'],
    ['AfterTool-replace', 'after-tool'],
    ['AfterAgent', 'stop'],
    ['BeforeAgent', 'prompt'],
  ])('%s is %s', (name, kind) => {
    expect(parsed(name)).toMatchObject({ kind, session: SESSION, cwd: '/repo', agent: undefined });
  });

  it('include no compaction, since an announced one may never happen', () => {
    expect(parsed('SessionEnd', { hook_event_name: 'PreCompress' })?.kind).toBe('other');
  });

  it('distinguish a Stop that follows a Stop', () => {
    expect(parsed('AfterAgent')?.stopHookActive).toBe(false);
    expect(parsed('AfterAgent-again')?.stopHookActive).toBe(true);
  });

  it.each<[string, object, GuardEvent['tool']]>([
    ['run_shell_command', { command: 'ls' }, { kind: 'shell', command: 'ls' }],
    ['run_shell_command', { command: 'ls', dir_path: 'sub' }, { kind: 'shell', command: 'ls', cwd: 'sub' }],
    ['run_shell_command', { command: 'ls', dir_path: '' }, { kind: 'shell', command: 'ls' }],
    ['run_shell_command', { command: 1 }, { kind: 'unreadable' }],
    ['write_file', { file_path: 'a', content: 'b' }, { kind: 'write', path: 'a', content: 'b' }],
    ['write_file', { content: 'b' }, { kind: 'unreadable' }],
    ['write_file', { file_path: 'a' }, { kind: 'edit', path: 'a' }],
    [
      'replace',
      { file_path: 'a', old_string: 'x', new_string: 'y' },
      { kind: 'edit', path: 'a', edits: [{ from: 'x', to: 'y', all: false }] },
    ],
    [
      'replace',
      { file_path: 'a', old_string: '', new_string: 'y' },
      { kind: 'write', path: 'a', content: 'y' },
    ],
    ['mcp_fs_write_file', { path: 'a', content: 'b' }, { kind: 'write', path: 'a', content: 'b' }],
    ['read_file', { file_path: 'a' }, { kind: 'other' }],
  ])('%s %j', (tool_name, tool_input, tool) => {
    expect(parsed('BeforeTool-replace', { tool_name, tool_input })?.tool).toEqual(tool);
  });

  it('name an MCP tool as its server does', () => {
    const change = {
      tool_name: 'mcp_update_things_list',
      tool_input: { path: 'a' },
      mcp_context: { server_name: 'update_things', tool_name: 'list' },
    };
    expect(parsed('BeforeTool-replace', change)?.tool).toEqual({ kind: 'other' });
    const removing = { ...change, mcp_context: { server_name: 'x', tool_name: 'delete_file' } };
    expect(parsed('BeforeTool-replace', removing)?.tool).toEqual({
      kind: 'patch',
      files: [{ path: 'a', change: 'delete' }],
    });
  });

  it.each([undefined, null, 1, [], {}])('%j is no payload', (payload) => {
    expect(gemini.parse(payload, {})).toBeUndefined();
  });
});

describe('answers to Gemini CLI', () => {
  it('allow silently', () => expect(rendered({ kind: 'allow' }, 'BeforeTool-replace')).toBeUndefined());

  it('deny with a decision and a reason', () => {
    expect(rendered({ kind: 'deny', reason: 'because' }, 'BeforeTool-replace')).toEqual({
      decision: 'deny',
      reason: 'because',
    });
  });

  it('rewrite by returning the whole input', () => {
    const tool_input = { file_path: 'a', content: 'x', other: [1] };
    expect(
      rendered({ kind: 'rewrite', content: 'y', context: 'news' }, 'BeforeTool-write_file', { tool_input }),
    ).toEqual({
      hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: { ...tool_input, content: 'y' } },
      systemMessage: 'news',
    });
  });

  it('rewrite a `replace` that would create a file', () => {
    const tool_input = { file_path: 'a', instruction: 'i', old_string: '', new_string: 'x' };
    expect(rendered({ kind: 'rewrite', content: 'y' }, 'BeforeTool-replace', { tool_input })).toEqual({
      hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: { ...tool_input, new_string: 'y' } },
    });
  });

  it.each(['SessionStart', 'AfterTool-replace', 'BeforeAgent'])('tell the model in %s', (name) => {
    expect(rendered({ kind: 'context', text: 'news' }, name)).toEqual({
      hookSpecificOutput: { hookEventName: name.replace(/-.*/, ''), additionalContext: 'news' },
    });
  });

  it.each(['BeforeTool-replace', 'AfterAgent'])(
    'tell the person in %s, which the model would not hear',
    (name) => {
      expect(rendered({ kind: 'context', text: 'news' }, name)).toEqual({ systemMessage: 'news' });
      expect(rendered({ kind: 'notice', text: 'news' }, name)).toEqual({ systemMessage: 'news' });
    },
  );
});
