import { parseClientSessionId } from '../domain/names.ts';
import type { Dialect, ToolCall } from './dialect.ts';
import {
  type Fields,
  UNREADABLE,
  denial,
  dialectOf,
  fields,
  fieldsOrJson,
  firstText,
  specific,
  text,
  writeOrEdit,
  patchCall,
  shellCall,
  eventKind,
} from './payload.ts';
import { mcpCall } from './mcp.ts';

/**
 * Copilot CLI's hook protocol (1.0). The spelling of an event in the settings selects one of two payloads. `init` registers
 * the payload with snake_case fields, which names its event and uses Claude Code's tool names. We also read the other one.
 * Copilot CLI refuses a tool call when a hook exits with any status but 0.
 */
export const copilot: Dialect = dialectOf({
  client: 'copilot',

  name: nameOf,
  tool: toolCall,
  more(event, name) {
    // A sub-agent's payload has its own session id, and the sub-agent has its own turns.
    const agent = text(event['agent_id']);
    const startedBy = agent === undefined ? undefined : parseClientSessionId(event['parent_agent_id']);
    return {
      session: startedBy ?? parseClientSessionId(event['session_id'] ?? event['sessionId']),
      agent,
      startedBy,
      toolName: toolName(event),
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

  /** The vendor documents these fields at the top level; Claude Code, whose payload this is, has them in `hookSpecificOutput`. */
  deny: (reason, event) => ({ ...denial(reason), ...specific(event, denial(reason)) }),
  /** Answers have no field that only the user sees, so notices are dropped. */
  tell(message, event) {
    if (!copilot.contextEvents.has(event.name)) return undefined;
    const content = { additionalContext: message };
    return event.name === 'PreToolUse' ? specific(event, content) : content;
  },
});

const SHELLS = /^(?:bash|powershell)$/i;
/** A payload may also call `apply_patch` Edit: its input shows the difference. */
const EDITORS = new Set(['Edit', 'edit', 'str_replace_editor', 'apply_patch', 'MultiEdit', 'NotebookEdit']);
const WRITERS = new Set(['Write', 'create']);
const PATH_KEYS = ['file_path', 'path', 'filePath'];
const CONTENT_KEYS = ['content', 'file_text'];

/** Names the event. Payloads with camelCase fields, and those of SubagentStart, do not name it: it follows from their fields. */
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

function toolName(event: Fields): string | undefined {
  return text(event['tool_name']) ?? text(event['toolName']);
}

function toolCall(event: Fields): ToolCall {
  const tool = toolName(event);
  const given = event['tool_input'] ?? event['toolArgs'];
  const input = fieldsOrJson(given);
  if (tool === undefined) return UNREADABLE;
  if (SHELLS.test(tool)) {
    const runsOn = input?.['mode'] === 'async' || STILL_RUNNING.test(printed(event));
    return shellCall(input?.['command'], undefined, runsOn);
  }
  const path = firstText(input, PATH_KEYS);
  if (EDITORS.has(tool)) {
    if (path !== undefined) return writeOrEdit(path, undefined, input);
    return patchCall(text(given) ?? firstText(input, ['patch', 'input', 'command']));
  }
  if (!WRITERS.has(tool)) {
    // The name is `<server>-<tool>`, and both parts may contain dashes.
    return input === undefined ? { kind: 'other' } : mcpCall(tool.replace(/^[^-]*-/, ''), input);
  }
  return writeOrEdit(path, firstText(input, CONTENT_KEYS), input);
}

/** Returns what a command printed; the last line says how the command ended. */
function printed(event: Fields): string {
  const result = fields(event['tool_result'] ?? event['toolResult']);
  return firstText(result, ['text_result_for_llm', 'textResultForLlm']) ?? '';
}

/** Copilot CLI prints this if a command still runs after half a minute. */
const STILL_RUNNING = /<command with shellId: \S+ is still running after/;
