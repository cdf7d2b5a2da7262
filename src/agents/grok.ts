import { parseClientSessionId } from '../domain/names.ts';
import type { GuardEvent } from './dialect.ts';
import { type Fields, text } from './payload.ts';
import { dialectOf } from './protocol.ts';

/**
 * Grok Build's hook protocol (1.0). Grok runs the hooks in Claude Code's settings, sends Claude Code's fields and its own
 * camelCase ones, accepts Claude Code's answers, and has its own tools. Its model never sees what a session-start hook says.
 */
export const grok = dialectOf({
  client: 'grok',

  tools: {
    shell: /^(?:run_terminal_command|monitor)$/,
    write: /^write$/,
    edit: /^search_replace$/,
    server: (tool) => tool,
  },
  more: agentFields,

  reportsAgentEnd: true,

  /** Events whose `additionalContext` reaches the model (checked on the real client). */
  contextEvents: new Set(['PreToolUse', 'PostToolUse']),
});

/** A sub-agent has its own session id. Only its start event names its parent, which leads the guard to the root session. */
function agentFields(event: Fields, name: string): Partial<GuardEvent> {
  const startedBy = parseClientSessionId(event['session_id']);
  if (name === 'SubagentStart') return { startedBy, agent: text(event['subagentId']) };
  if (event['subagentType'] === undefined) return { startedBy };
  const isOver = name === 'SessionEnd' || name === 'Stop' || name === 'SubagentStop';
  return { startedBy, agent: text(event['session_id']), ...(isOver ? { kind: 'agent-stop' } : {}) };
}
