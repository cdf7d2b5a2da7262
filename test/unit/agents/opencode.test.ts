import { describe, expect, it } from 'vitest';
import type { GuardEvent, Verdict } from '../../../src/agents/dialect.ts';
import { dialectFor } from '../../../src/agents/index.ts';
import { opencode } from '../../../src/agents/opencode.ts';
import { capturedPayload, capturedPayloads } from '../../support/payloads.ts';

function parsed(name: string, change: object = {}): GuardEvent | undefined {
  return opencode.parse({ ...capturedPayload('opencode', name), ...change }, {});
}

function rendered(verdict: Verdict, name: string): unknown {
  const event = parsed(name);
  if (event === undefined) throw new Error(name);
  const output = opencode.render(verdict, event, {});
  return output === '' ? undefined : JSON.parse(output);
}

describe('what our plugin for OpenCode passes on', () => {
  it('is read by the dialect "opencode"', async () => expect(dialectFor('opencode')).toBe(opencode));

  it.each(capturedPayloads('opencode'))(
    '$name names its session, its folder and its sub-agent',
    (captured) => {
      const event = opencode.parse(captured.payload, {});
      expect(event?.session).toBe(captured.payload['session_id']);
      expect(event?.agent).toBe(captured.payload['agent_id']);
      expect(event?.cwd).toBe('/repo');
      expect(event?.tool?.kind).not.toBe('unreadable');
      const end = captured.name.startsWith('chat.')
        ? 'session-start'
        : /\.(before|after)-/.exec(captured.name)?.[1];
      expect(event?.kind).toContain(end);
    },
  );

  it.each<[string, object, GuardEvent['tool']]>([
    ['bash', { command: 'ls' }, { kind: 'shell', command: 'ls' }],
    ['bash', { command: 'ls', workdir: '/x' }, { kind: 'shell', command: 'ls', cwd: '/x' }],
    ['bash', { command: 1 }, { kind: 'unreadable' }],
    ['write', { filePath: 'a', content: 'b' }, { kind: 'write', path: 'a', content: 'b' }],
    ['write', { content: 'b' }, { kind: 'unreadable' }],
    [
      'edit',
      { filePath: 'a', oldString: 'x', newString: 'y', replaceAll: true },
      { kind: 'edit', path: 'a', edits: [{ from: 'x', to: 'y', all: true }] },
    ],
    ['edit', { filePath: 'a', oldString: '', newString: 'y' }, { kind: 'write', path: 'a', content: 'y' }],
    ['edit', { filePath: 'a' }, { kind: 'edit', path: 'a' }],
    [
      'apply_patch',
      { patchText: '*** Begin Patch\n*** Delete File: a\n*** End Patch\n' },
      { kind: 'patch', files: [{ path: 'a', change: 'delete' }] },
    ],
    ['apply_patch', {}, { kind: 'unreadable' }],
    ['files_write_file', { path: 'a', content: 'b' }, { kind: 'write', path: 'a', content: 'b' }],
    ['websearch', { query: 'a' }, { kind: 'other' }],
  ])('%s %j', (tool_name, tool_input, tool) => {
    expect(parsed('tool.execute.before-edit', { tool_name, tool_input })?.tool).toEqual(tool);
  });

  it.each([undefined, null, 1, [], {}])('%j is no payload', (payload) => {
    expect(opencode.parse(payload, {})).toBeUndefined();
  });
});

describe('answers to our plugin for OpenCode', () => {
  it('allow silently, deny with the reason, and tell only where that reaches the model', () => {
    const before = 'tool.execute.before-edit';
    expect(rendered({ kind: 'allow' }, before)).toBeUndefined();
    expect(rendered({ kind: 'deny', reason: 'because' }, before)).toEqual({ deny: 'because' });
    for (const name of ['chat.message', 'tool.execute.after-edit'])
      expect(rendered({ kind: 'context', text: 'x' }, name)).toEqual({ tell: 'x' });
    expect(rendered({ kind: 'context', text: 'x' }, before)).toBeUndefined();
    expect(rendered({ kind: 'notice', text: 'x' }, 'tool.execute.after-edit')).toBeUndefined();
    expect(opencode.canRewrite({})).toBe(false);
  });
});
