import { describe, expect, it } from 'vitest';
import { copilot } from '../../../src/agents/copilot.ts';
import { cursor } from '../../../src/agents/cursor.ts';
import type { Dialect, GuardEvent, Verdict } from '../../../src/agents/dialect.ts';
import { capturedPayload } from '../../support/payloads.ts';

function parsed(dialect: Dialect, folder: string, name: string, change: object = {}): GuardEvent {
  const event = dialect.parse({ ...capturedPayload(folder, name), ...change }, {});
  if (event === undefined) throw new Error(`${name} is not understood`);
  return event;
}

const ofCursor = (name: string, change?: object) => parsed(cursor, 'cursor-documented', name, change);
/** A payload captured from Copilot CLI itself. */
const byCopilot = (name: string) => parsed(copilot, 'copilot', name);
const ofCopilot = (name: string, change?: object) => parsed(copilot, 'copilot-documented', name, change);

describe('Cursor', () => {
  it('distinguishes commands, files and tools of servers', () => {
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
});

describe('Copilot CLI', () => {
  it('distinguishes commands and files in both forms of its payloads', () => {
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

  it('is understood even if its payload does not name the event', () => {
    const kinds = ['postToolUse-bash', 'sessionEnd-camel', 'sessionStart-camel', 'agentStop'].map(
      (name) => ofCopilot(name).kind,
    );
    expect(kinds).toEqual(['after-tool', 'session-end', 'session-start', 'stop']);
  });

  it('marks a command that keeps running', () => {
    for (const name of ['PostToolUse-Bash-still-running', 'PostToolUse-Bash-background'])
      expect(byCopilot(name).tool).toMatchObject({ kind: 'shell', inBackground: true });
    expect(byCopilot('PostToolUse-Bash').tool).not.toHaveProperty('inBackground');
  });

  it('names the session that started a sub-agent; the sub-agent’s turns are not the session’s', () => {
    const root = 'c660e2ed-1004-485b-a628-f4bf2e15830d';
    const agent = '01f3a478-ed69-4b32-a2f2-ff79925fb8d0';
    for (const name of ['SubagentStart', 'PreToolUse-Bash-subagent', 'Stop-subagent', 'SubagentStop'])
      expect(byCopilot(name)).toMatchObject({ session: root, startedBy: root, agent });
    expect(byCopilot('PreToolUse-Bash')).toMatchObject({
      session: root,
      agent: undefined,
      startedBy: undefined,
    });
  });

  it("recognises a server's tool by the part of its name after the server's", () => {
    const file = '/repo/by-mcp.txt';
    expect(byCopilot('PreToolUse-files-write_file').tool).toEqual({
      kind: 'write',
      path: file,
      content: 'm\n',
    });
    const reads = { tool_name: 'write-tools-read_file', tool_input: { path: file } };
    expect(ofCopilot('PreToolUse-Read', reads).tool?.kind).toBe('other');
  });

  it('starts and resumes like every client', () => {
    expect(byCopilot('SessionStart-new').source).toBe('startup');
    expect(byCopilot('SessionStart-resume').source).toBe('resume');
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
    expect(said(copilot, context, before)).toEqual({
      hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: 'news' },
    });
    expect(said(copilot, context, ofCopilot('SessionStart'))).toEqual({ additionalContext: 'news' });
    expect(said(copilot, context, ofCopilot('PostToolUse-Bash'))).toEqual({ additionalContext: 'news' });
    expect(said(copilot, { kind: 'notice', text: 'x' }, ofCopilot('Stop'))).toBeUndefined();
  });
});
