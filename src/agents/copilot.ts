import { parseClientSessionId } from '../domain/names.ts';
import type { Dialect } from './dialect.ts';
import { type Fields, fields, firstText, text } from './payload.ts';
import { commandCall, denial, dialectOf, eventKind, specific } from './protocol.ts';

const SHELL = /^(?:bash|powershell)$/i;
/** Copilot CLI prints this if a command still runs after half a minute. */
const STILL_RUNNING = /<command with shellId: \S+ is still running after/;

/**
 * Copilot CLI's hook protocol (1.0). The spelling of an event in the settings selects one of two payloads. `init` registers
 * the payload with snake_case fields, which names its event and uses Claude Code's tool names. We also read the camelCase one.
 * Copilot CLI refuses a tool call when a hook exits with any status but 0.
 */
export const copilot: Dialect = dialectOf({
  client: 'copilot',

  name: nameOf,
  tools: {
    shell: SHELL,
    write: /^(?:Write|create)$/,
    // A payload may name `Edit` although the tool is `apply_patch`: the input shows which one it is.
    edit: /^(?:Edit|edit|str_replace_editor|apply_patch|MultiEdit|NotebookEdit)$/,
    // The name is `<server>-<tool>`, and both parts may contain dashes.
    server: (tool) => tool.replace(/^[^-]*-/, ''),
    own: (tool, input, event) =>
      SHELL.test(tool) && STILL_RUNNING.test(printed(event)) ? commandCall(input, true) : undefined,
  },
  more(event, name) {
    // A sub-agent's payload has its own session id, and the sub-agent has its own turns.
    const agent = text(event['agent_id']);
    const startedBy = agent === undefined ? undefined : parseClientSessionId(event['parent_agent_id']);
    return {
      session: startedBy ?? parseClientSessionId(event['session_id'] ?? event['sessionId']),
      agent,
      startedBy,
      ...(agent !== undefined && eventKind(name) === 'stop' ? { kind: 'agent-stop' } : {}),
      ...(event['source'] === 'new' ? { source: 'startup' } : {}),
    };
  },

  /** Events whose `additionalContext` reaches the model (checked on the real client). */
  contextEvents: new Set([
    'SessionStart',
    'sessionStart',
    'UserPromptSubmit',
    'userPromptSubmitted',
    'SubagentStart',
    'PreToolUse',
    'PostToolUse',
    'postToolUse',
  ]),

  reportsAgentEnd: true,

  /** The vendor documents these fields at the top level, Claude Code in `hookSpecificOutput`: we answer with both. */
  deny: (reason, event) => ({ ...denial(reason), ...specific(event, denial(reason)) }),
  /** Answers have no field that only the user sees, so notices are dropped. */
  tell(message, event) {
    if (!copilot.contextEvents.has(event.name)) return undefined;
    const content = { additionalContext: message };
    return event.name === 'PreToolUse' ? specific(event, content) : content;
  },
});

/** Returns an event's name. For SubagentStart, and in payloads with camelCase fields, we infer the name from other fields. */
function nameOf(event: Fields): string | undefined {
  const name = text(event['hook_event_name']) ?? text(event['hookName']);
  if (name !== undefined) return name;
  if (text(event['sessionId']) === undefined) return undefined;
  if (event['toolName'] !== undefined) {
    if (event['toolResult'] !== undefined) return 'postToolUse';
    return event['error'] === undefined ? 'preToolUse' : 'postToolUseFailure';
  }
  if (event['stopReason'] !== undefined) return event['agentId'] === undefined ? 'agentStop' : 'subagentStop';
  if (event['trigger'] !== undefined) return 'preCompact';
  if (event['reason'] !== undefined) return 'sessionEnd';
  if (event['agentName'] !== undefined) return 'SubagentStart';
  return event['source'] === undefined ? 'unknown' : 'sessionStart';
}

/** Returns what a command printed; the last line says how the command ended. */
function printed(event: Fields): string {
  const result = fields(event['tool_result'] ?? event['toolResult']);
  return firstText(result, ['text_result_for_llm', 'textResultForLlm']) ?? '';
}
