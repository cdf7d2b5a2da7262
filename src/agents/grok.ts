import { parseClientSessionId } from '../domain/names.ts';
import type { GuardEvent, ToolCall } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import { type Fields, UNREADABLE, dialectOf, fields, text, writeOrEdit, shellCall } from './payload.ts';

/**
 * Grok Build's hook protocol (1.0). It runs the hooks in Claude Code's settings, sends Claude Code's fields and its own camelCase
 * ones, accepts Claude Code's answers, and has its own tools. Its model never sees what a session-start hook says.
 */
export const grok = dialectOf({
  client: 'grok',

  tool: (event) => toolCall(text(event['tool_name']), fields(event['tool_input'])),
  more: agentFields,

  reportsAgentEnd: true,

  /** Events whose `additionalContext` reaches the model (checked on the real client). */
  contextEvents: new Set(['PreToolUse', 'PostToolUse']),
});

/** A sub-agent has its own session id. Only its start event names its parent, from which the guard finds the root session. */
function agentFields(event: Fields, name: string): Partial<GuardEvent> {
  const startedBy = parseClientSessionId(event['session_id']);
  if (name === 'SubagentStart') return { startedBy, agent: text(event['subagentId']) };
  if (event['subagentType'] === undefined) return { startedBy };
  const isOver = name === 'SessionEnd' || name === 'Stop' || name === 'SubagentStop';
  return { startedBy, agent: text(event['session_id']), ...(isOver ? { kind: 'agent-stop' } : {}) };
}

function toolCall(tool: string | undefined, input: Fields | undefined): ToolCall {
  switch (tool) {
    case undefined:
      return UNREADABLE;
    case 'monitor':
    case 'run_terminal_command':
      return shellCall(input?.['command'], undefined, tool === 'monitor' || input?.['background'] === true);
    case 'write':
    case 'search_replace': {
      const content = tool === 'write' ? text(input?.['content']) : undefined;
      return writeOrEdit(text(input?.['file_path']), content, input);
    }
    default:
      return input === undefined ? { kind: 'other' } : mcpCall(tool, input);
  }
}
