import { expect } from 'vitest';
import type { Run } from './repository.ts';

/** What a guard process said to Claude Code, read by the client's own rules. */
export type HookAnswer =
  | { readonly kind: 'silent' }
  | { readonly kind: 'deny'; readonly text: string }
  | {
      readonly kind: 'rewrite';
      readonly input: Readonly<Record<string, unknown>>;
      readonly text: string | undefined;
    }
  | { readonly kind: 'context'; readonly text: string }
  | { readonly kind: 'notice'; readonly text: string };

interface HookOutput {
  readonly systemMessage?: unknown;
  readonly hookSpecificOutput?: Readonly<Record<string, unknown>>;
}

/** Events for which Claude Code's schema has a `hookSpecificOutput` with `additionalContext`. */
const WITH_CONTEXT = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'SubagentStart',
  'Stop',
]);

/**
 * Reads an answer. Fails the test unless the process exited 0 and wrote nothing on stderr. Stdout must be empty,
 * or one JSON object with only the keys that Claude Code's schema has for this event.
 */
export function readAnswer(run: Run, event: string): HookAnswer {
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  if (run.stdout === '') return { kind: 'silent' };
  const output = JSON.parse(run.stdout) as HookOutput;
  expect(Object.keys(output)).toHaveLength(1);
  const { systemMessage, hookSpecificOutput: specific } = output;
  if (specific === undefined) return { kind: 'notice', text: textOf(systemMessage) };
  expect(specific['hookEventName']).toBe(event);
  expect(WITH_CONTEXT).toContain(event);
  const { permissionDecision, permissionDecisionReason, updatedInput, additionalContext } = specific;
  const keys = Object.keys(specific).filter((key) => key !== 'hookEventName');
  if (permissionDecision !== undefined) {
    expect({ event, keys, permissionDecision }).toEqual({
      event: 'PreToolUse',
      keys: ['permissionDecision', 'permissionDecisionReason'],
      permissionDecision: 'deny',
    });
    return { kind: 'deny', text: textOf(permissionDecisionReason) };
  }
  if (updatedInput === undefined) {
    expect(keys).toEqual(['additionalContext']);
    return { kind: 'context', text: textOf(additionalContext) };
  }
  expect(event).toBe('PreToolUse');
  expect(['updatedInput', 'additionalContext']).toEqual(expect.arrayContaining(keys));
  return {
    kind: 'rewrite',
    input: updatedInput as Record<string, unknown>,
    text: additionalContext === undefined ? undefined : textOf(additionalContext),
  };
}

function textOf(value: unknown): string {
  expect(typeof value).toBe('string');
  expect(value).not.toBe('');
  return value as string;
}
