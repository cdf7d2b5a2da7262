import { describe, expect, it } from 'vitest';
import { copilot } from '../../../src/agents/copilot.ts';
import { cursor } from '../../../src/agents/cursor.ts';
import type { Dialect, GuardEvent, Verdict } from '../../../src/agents/dialect.ts';
import { clientOf, dialectFor } from '../../../src/agents/index.ts';
import { capturedPayload, capturedPayloads } from '../../support/payloads.ts';

/** Payloads by their vendors' documents (`fixtures/payloads/README.md`); no client ran. */
const DOCUMENTED = [
  { dialect: cursor, folder: 'cursor-documented' },
  { dialect: copilot, folder: 'copilot-documented' },
];

function parsed(dialect: Dialect, folder: string, name: string, change: object = {}): GuardEvent {
  const event = dialect.parse({ ...capturedPayload(folder, name), ...change }, {});
  if (event === undefined) throw new Error(`${name} is not understood`);
  return event;
}

const ofCursor = (name: string, change?: object) => parsed(cursor, 'cursor-documented', name, change);
const ofCopilot = (name: string, change?: object) => parsed(copilot, 'copilot-documented', name, change);

describe.each(DOCUMENTED)('payloads documented for $dialect.client', ({ dialect, folder }) => {
  it.each(capturedPayloads(folder))('$name names its session and its folder', ({ payload }) => {
    const event = dialect.parse(payload, {});
    expect(event?.session).toBe(payload['conversation_id'] ?? payload['session_id'] ?? payload['sessionId']);
    expect(event?.cwd).toBe('/repo');
    expect(event?.tool?.kind).not.toBe('unreadable');
  });

  it.each(capturedPayloads(folder))(
    '$name is known for its own under the name of Claude Code',
    (captured) => {
      expect(clientOf('claude', captured.payload)).toBe(dialect.client);
      expect(clientOf(undefined, captured.payload)).toBe(dialect.client);
    },
  );

  it('nothing else is a payload', () => {
    for (const wrong of [undefined, null, 1, 'x', [], {}, { hook_event_name: 1 }])
      expect(dialect.parse(wrong, {})).toBeUndefined();
  });
});

it('what Claude Code, Codex, Gemini CLI and Qwen Code wrote stays theirs', async () => {
  for (const folder of ['claude', 'claude-new', 'codex', 'codex-codemode', 'gemini', 'qwen']) {
    const client = folder.replace(/-.*/, '');
    for (const { name, payload } of capturedPayloads(folder))
      expect(clientOf(client, payload), `${folder}/${name}`).toBe(client);
  }
  expect((await dialectFor('somebody')).client).toBe('claude');
});

it('every payload tells its client when nobody names it', () => {
  for (const folder of ['claude', 'claude-new', 'codex', 'codex-codemode', 'gemini', 'qwen']) {
    const client = folder.replace(/-.*/, '');
    for (const { name, payload } of capturedPayloads(folder))
      expect(clientOf(undefined, payload), `${folder}/${name}`).toBe(client);
  }
});

describe('Cursor', () => {
  it('tells commands, files and tools of servers', () => {
    expect(ofCursor('preToolUse-Shell')).toMatchObject({
      kind: 'before-tool',
      tool: { kind: 'shell', command: 'npm test', cwd: '/repo' },
    });
    expect(ofCursor('preToolUse-Write').tool).toMatchObject({ kind: 'write', path: '/repo/src/a.ts' });
    expect(ofCursor('preToolUse-Delete').tool).toEqual({
      kind: 'patch',
      files: [{ path: '/repo/src/a.ts', change: 'delete' }],
    });
    const moved = { tool_name: 'MCP:move_file', tool_input: '{"source":"a","destination":"b"}' };
    expect(ofCursor('preToolUse-MCP', moved).tool).toMatchObject({ kind: 'patch' });
    const edited = { tool_name: 'StrReplace', tool_input: { path: 'a', old_string: 'x', new_string: 'y' } };
    expect(ofCursor('preToolUse-Write', edited).tool).toMatchObject({ kind: 'edit', path: 'a' });
    expect(ofCursor('preToolUse-Write', { tool_input: { text: 'x' } }).tool?.kind).toBe('unreadable');
    expect(ofCursor('preToolUse-Write', { tool_name: 'Read' }).tool?.kind).toBe('other');
  });

  it('tells a command that failed, unless it was interrupted or not allowed', () => {
    const failed = 'postToolUseFailure-Shell';
    expect(ofCursor(failed).failure).toMatchObject({ exit: 3 });
    expect(ofCursor(failed, { is_interrupt: true }).failure).toBeUndefined();
    expect(ofCursor(failed, { failure_type: 'permission_denied' }).failure).toBeUndefined();
    expect(ofCursor('postToolUse-Shell').failure).toBeUndefined();
  });
});

describe('Copilot CLI', () => {
  it('tells commands and files in both of its forms', () => {
    for (const name of ['PreToolUse-Bash', 'preToolUse-bash'])
      expect(ofCopilot(name)).toMatchObject({
        kind: 'before-tool',
        tool: { kind: 'shell', command: 'npm test' },
      });
    for (const name of ['PreToolUse-Write', 'preToolUse-create'])
      expect(ofCopilot(name).tool).toMatchObject({ kind: 'write', path: '/repo/src/a.ts' });
    expect(ofCopilot('PreToolUse-Edit').tool).toMatchObject({ kind: 'edit', path: '/repo/src/a.ts' });
    expect(ofCopilot('PreToolUse-Edit-apply_patch').tool).toMatchObject({
      kind: 'patch',
      files: [{ path: 'src/a.ts', change: 'update' }],
    });
    expect(ofCopilot('PreToolUse-Read').tool?.kind).toBe('other');
    expect(ofCopilot('PreToolUse-Bash', { tool_input: {} }).tool?.kind).toBe('unreadable');
  });

  it('is understood where its payload does not name the event', () => {
    const kinds = ['postToolUse-bash', 'sessionEnd-camel', 'sessionStart-camel', 'agentStop'].map(
      (name) => ofCopilot(name).kind,
    );
    expect(kinds).toEqual(['after-tool', 'session-end', 'session-start', 'stop']);
  });

  it('tells a command that failed', () => {
    expect(ofCopilot('PostToolUseFailure-Bash').failure).toMatchObject({ exit: 3 });
  });
});

describe('answers', () => {
  const deny: Verdict = { kind: 'deny', reason: 'why' };
  const context: Verdict = { kind: 'context', text: 'news' };
  const said = (dialect: Dialect, verdict: Verdict, event: GuardEvent) => {
    const output = dialect.render(verdict, event, {});
    return output === '' ? undefined : (JSON.parse(output) as unknown);
  };

  it('of Cursor', () => {
    const before = ofCursor('preToolUse-Shell');
    expect(said(cursor, deny, before)).toMatchObject({ permission: 'deny', agent_message: 'why' });
    expect(said(cursor, deny, before)).not.toHaveProperty('hookSpecificOutput');
    const borrowed = ofCursor('preToolUse-Shell', { hook_event_name: 'PreToolUse' });
    expect(said(cursor, deny, borrowed)).toMatchObject({
      permission: 'deny',
      hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'why' },
    });
    expect(said(cursor, { kind: 'allow' }, before)).toBeUndefined();
    expect(said(cursor, context, before)).toBeUndefined();
    expect(said(cursor, context, ofCursor('sessionStart'))).toEqual({ additional_context: 'news' });
    expect(said(cursor, context, ofCursor('postToolUse-Shell'))).toEqual({ additional_context: 'news' });
    expect(said(cursor, { kind: 'notice', text: 'x' }, ofCursor('stop'))).toBeUndefined();
  });

  it('of Copilot CLI', () => {
    const before = ofCopilot('PreToolUse-Bash');
    const decision = { permissionDecision: 'deny', permissionDecisionReason: 'why' };
    expect(said(copilot, deny, before)).toEqual({
      ...decision,
      hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision },
    });
    expect(said(copilot, { kind: 'allow' }, before)).toBeUndefined();
    expect(said(copilot, context, before)).toBeUndefined();
    expect(said(copilot, context, ofCopilot('SessionStart'))).toEqual({ additionalContext: 'news' });
    expect(said(copilot, context, ofCopilot('PostToolUse-Bash'))).toEqual({ additionalContext: 'news' });
    expect(said(copilot, { kind: 'notice', text: 'x' }, ofCopilot('Stop'))).toBeUndefined();
  });
});
