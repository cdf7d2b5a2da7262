import { parseClientSessionId } from '../domain/names.ts';
import type { Dialect, GuardEvent, SessionStartSource, ToolCall, Verdict } from './dialect.ts';
import { type Fields, fields, text } from './payload.ts';

/**
 * Claude Code's hook protocol (2.1). A denial is JSON with exit 0; a rewritten input without a
 * decision approves nothing, the user is still asked what they would have been asked.
 */
export const claude: Dialect = {
  client: 'claude',

  parse(payload) {
    const event = fields(payload);
    const name = text(event?.['hook_event_name']);
    if (event === undefined || name === undefined) return undefined;
    return {
      kind: KINDS[name] ?? 'other',
      name,
      session: parseClientSessionId(event['session_id']),
      agent: text(event['agent_id']),
      cwd: text(event['cwd']),
      tool: TOOL_EVENTS.has(name)
        ? toolCall(text(event['tool_name']), fields(event['tool_input']))
        : undefined,
      toolName: text(event['tool_name']),
      source: name === 'SessionStart' ? sourceOf(text(event['source'])) : undefined,
      reason: text(event['reason']),
      stopHookActive: event['stop_hook_active'] === true,
    };
  },

  /** Organisation-hosted sessions turn a rewrite by the user's own hooks into a denial. */
  canRewrite: (env) => (env['CLAUDE_CODE_RESTRICT_PERSONAL_CONFIG'] ?? '') === '',

  render(verdict, event, payload) {
    const output = answer(verdict, event, payload);
    return output === undefined ? '' : JSON.stringify(output);
  },
};

const KINDS: Readonly<Record<string, GuardEvent['kind']>> = {
  SessionStart: 'session-start',
  SessionEnd: 'session-end',
  PreToolUse: 'before-tool',
  PostToolUse: 'after-tool',
  PostToolUseFailure: 'after-tool',
  Stop: 'stop',
  SubagentStart: 'agent-start',
  SubagentStop: 'agent-stop',
};

const TOOL_EVENTS = new Set(['PreToolUse', 'PostToolUse', 'PostToolUseFailure']);

/** Events whose `additionalContext` reaches the model (checked on the real client). */
const CONTEXT_EVENTS = new Set(['SessionStart', 'PreToolUse', 'PostToolUse', 'SubagentStart']);

const SOURCES: readonly SessionStartSource[] = ['startup', 'resume', 'clear', 'compact', 'fork'];

function sourceOf(source: string | undefined): SessionStartSource {
  return SOURCES.find((known) => known === source) ?? 'unknown';
}

function toolCall(tool: string | undefined, input: Fields | undefined): ToolCall {
  if (tool === undefined || input === undefined) return { kind: 'other' };
  const path = text(input['file_path']) ?? text(input['path']) ?? text(input['notebook_path']);
  switch (tool) {
    case 'Bash':
    case 'PowerShell':
    case 'Monitor':
      return shellCall(input['command']);
    case 'Write':
      return path === undefined
        ? { kind: 'other' }
        : { kind: 'write', path, content: text(input['content']) ?? '' };
    case 'Edit':
    case 'MultiEdit':
    case 'NotebookEdit':
      return path === undefined ? { kind: 'other' } : { kind: 'edit', path };
    default:
      return tool.startsWith('mcp__') ? mcpCall(tool, input) : { kind: 'other' };
  }
}

function shellCall(command: unknown): ToolCall {
  const line = text(command);
  return line === undefined ? { kind: 'other' } : { kind: 'shell', command: line };
}

/** Verbs in the names of MCP file tools that change what they are given the path of. */
const MCP_WRITES =
  /(?:^|_)(?:write|create|save|put|append|edit|update|replace|insert|patch|move|rename|delete|remove|truncate)(?:_|$)/;
const MCP_SHELLS = /(?:^|_)(?:bash|shell|exec|execute|run|terminal)(?:_|$)/;
const PATH_KEYS = [
  'path',
  'file_path',
  'filePath',
  'filename',
  'file',
  'destination',
  'source',
  'uri',
  'notebook_path',
];

/** An MCP tool is known by its name only; one that writes gets every path it is given guarded. */
function mcpCall(tool: string, input: Fields): ToolCall {
  const name = tool
    .slice(tool.lastIndexOf('__') + 2)
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();
  const paths = PATH_KEYS.flatMap((key) => text(input[key]) ?? []).map((path) =>
    path.replace(/^file:\/\//, ''),
  );
  const [path] = paths;
  if (MCP_WRITES.test(name) && path !== undefined) {
    const content = text(input['content']) ?? text(input['text']);
    if (paths.length === 1 && content !== undefined) return { kind: 'write', path, content };
    return { kind: 'patch', files: paths.map((one) => ({ path: one, change: 'update' })) };
  }
  return MCP_SHELLS.test(name) ? shellCall(input['command']) : { kind: 'other' };
}

function answer(verdict: Verdict, event: GuardEvent, payload: unknown): object | undefined {
  const specific = (content: object) => ({ hookSpecificOutput: { hookEventName: event.name, ...content } });
  switch (verdict.kind) {
    case 'allow':
      return undefined;
    case 'context':
      return CONTEXT_EVENTS.has(event.name)
        ? specific({ additionalContext: verdict.text })
        : { systemMessage: verdict.text };
    case 'notice':
      return { systemMessage: verdict.text };
    case 'deny':
      return specific({ permissionDecision: 'deny', permissionDecisionReason: verdict.reason });
    case 'rewrite': {
      const input = fields(fields(payload)?.['tool_input']) ?? {};
      const context = verdict.context === undefined ? {} : { additionalContext: verdict.context };
      return specific({ updatedInput: { ...input, content: verdict.content }, ...context });
    }
  }
}
