import { expect } from 'vitest';
import type { Run } from './repository.ts';

/** What a guard process said to a client, read by that client's own rules. */
export interface DialectAnswer {
  readonly kind: 'silent' | 'deny' | 'rewrite' | 'context' | 'notice';
  /** What the model or the person is told. */
  readonly text: string;
  /** The tool's whole new input, of a rewrite. */
  readonly input?: Readonly<Record<string, unknown>>;
}

export type OtherClient = 'codex' | 'gemini' | 'qwen';

type Output = Readonly<Record<string, unknown>>;

/** Events for which the clients hand `additionalContext` on to the model. */
const CONTEXT_EVENTS: Readonly<Record<OtherClient, readonly string[]>> = {
  codex: ['SessionStart', 'PreToolUse', 'PostToolUse', 'SubagentStart'],
  gemini: ['SessionStart', 'BeforeAgent', 'AfterTool'],
  qwen: ['SessionStart', 'PostToolUse', 'PostToolUseFailure'],
};

/**
 * Reads an answer. Fails the test unless the process exited 0, wrote nothing on stderr, and its stdout is
 * empty or one JSON object that the client would take: Codex voids an answer with a key too many, Gemini CLI
 * drops context that an event cannot carry.
 */
export function readDialectAnswer(client: OtherClient, run: Run, event: string): DialectAnswer {
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  if (run.stdout === '') return { kind: 'silent', text: '' };
  const { hookSpecificOutput, ...rest } = JSON.parse(run.stdout) as Output;
  if (hookSpecificOutput === undefined) return plain(client, rest, event);
  const { hookEventName, ...specific } = hookSpecificOutput as Output;
  expect(hookEventName).toBe(event);
  if ('additionalContext' in specific) {
    expect({ keys: [...Object.keys(specific), ...Object.keys(rest)] }).toEqual({
      keys: ['additionalContext'],
    });
    expect(CONTEXT_EVENTS[client]).toContain(event);
    return { kind: 'context', text: textOf(specific['additionalContext']) };
  }
  return client === 'gemini' ? geminiRewrite(specific, rest, event) : nestedDenial(specific, rest, event);
}

function plain(client: OtherClient, output: Output, event: string): DialectAnswer {
  if ('decision' in output) {
    expect({ client, event, keys: Object.keys(output) }).toEqual({
      client: 'gemini',
      event: 'BeforeTool',
      keys: ['decision', 'reason'],
    });
    expect(output['decision']).toBe('deny');
    return { kind: 'deny', text: textOf(output['reason']) };
  }
  expect(Object.keys(output)).toEqual(['systemMessage']);
  return { kind: 'notice', text: textOf(output['systemMessage']) };
}

function nestedDenial(specific: Output, rest: Output, event: string): DialectAnswer {
  expect({ event, rest, keys: Object.keys(specific) }).toEqual({
    event: 'PreToolUse',
    rest: {},
    keys: ['permissionDecision', 'permissionDecisionReason'],
  });
  expect(specific['permissionDecision']).toBe('deny');
  return { kind: 'deny', text: textOf(specific['permissionDecisionReason']) };
}

function geminiRewrite(specific: Output, rest: Output, event: string): DialectAnswer {
  expect({ event, keys: Object.keys(specific) }).toEqual({ event: 'BeforeTool', keys: ['tool_input'] });
  const { systemMessage = '', ...more } = rest;
  expect(more).toEqual({});
  return { kind: 'rewrite', text: String(systemMessage), input: specific['tool_input'] as Output };
}

function textOf(value: unknown): string {
  expect(typeof value).toBe('string');
  expect(value).not.toBe('');
  return value as string;
}
