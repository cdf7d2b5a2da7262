import { parseClientSessionId } from '../domain/names.ts';
import type { GuardEvent, ToolCall } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import { type Fields, UNREADABLE, dialectOf, fields, text, writeOrEdit } from './payload.ts';

/**
 * Grok Build's hook protocol (1.0): it runs the hooks of Claude Code's settings, with Claude's fields beside its own camelCase
 * ones, Claude's answers, and tools of its own. What a session's start says reaches no model.
 */
export const grok = dialectOf({
  client: 'grok',

  tool: (event) => toolCall(text(event['tool_name']), fields(event['tool_input'])),
  more: (event, name) => kin(event, name),

  /** Another input would do without the question that the user would have been asked. */
  canRewrite: () => false,

  /** Events whose `additionalContext` reaches the model (checked on the real client). */
  tells: new Set(['PreToolUse', 'PostToolUse']),
});

/** A sub-agent has an id of its own for a session; only its start says whose it is, by which the guard finds the root. */
function kin(event: Fields, name: string): Partial<GuardEvent> {
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
    case 'run_terminal_command': {
      const command = text(input?.['command']);
      if (command === undefined) return UNREADABLE;
      return { kind: 'shell', command, ...(input?.['background'] === true ? { inBackground: true } : {}) };
    }
    case 'write':
    case 'search_replace': {
      const path = text(input?.['file_path']);
      if (path === undefined || input === undefined) return UNREADABLE;
      return writeOrEdit(path, tool === 'write' ? text(input['content']) : undefined, input);
    }
    default:
      return input === undefined ? { kind: 'other' } : mcpCall(tool, input);
  }
}
