import type { ToolCall } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import {
  type Fields,
  UNREADABLE,
  dialectOf,
  fields,
  specific,
  text,
  writeOrEdit,
  shellCall,
} from './payload.ts';

/**
 * Gemini CLI's hook protocol (0.61). A rewritten input replaces the whole input. It approves nothing: Gemini CLI still asks
 * the user. Hooks do not learn which sub-agent calls.
 */
export const gemini = dialectOf({
  client: 'gemini',

  kinds: {
    SessionStart: 'session-start',
    SessionEnd: 'session-end',
    BeforeTool: 'before-tool',
    AfterTool: 'after-tool',
    BeforeAgent: 'prompt',
    AfterAgent: 'stop',
  },
  tool: toolCall,

  canRewrite: () => true,

  /** Events whose `additionalContext` reaches the model; BeforeTool's does not (checked on the real client). */
  contextEvents: new Set(['SessionStart', 'BeforeAgent', 'AfterTool']),

  /** Gemini CLI's shell sets `core.hooksPath` to an empty value through environment variables. */
  runsGitHooks: false,

  deny: (reason) => ({ decision: 'deny', reason }),

  rewrite: (input, { content, context }, event) => {
    const message = context === undefined ? {} : { systemMessage: context };
    const key = CONTENT_KEYS.find((candidate) => typeof input[candidate] === 'string') ?? 'content';
    return { ...specific(event, { tool_input: { ...input, [key]: content } }), ...message };
  },
});

function toolCall(event: Fields): ToolCall {
  const tool = text(event['tool_name']);
  const input = fields(event['tool_input']) ?? {};
  switch (tool) {
    case undefined:
      return UNREADABLE;
    case 'run_shell_command':
      return shellCall(input['command'], input['dir_path']);
    case 'write_file':
    case 'replace':
      return fileCall(input, tool);
    default: {
      const server = fields(event['mcp_context']);
      const name = text(server?.['tool_name']) ?? tool;
      return server !== undefined || tool.startsWith('mcp_') ? mcpCall(name, input) : { kind: 'other' };
    }
  }
}

/** Reads a call on one file; `replace` with an empty `old_string` creates the file. */
function fileCall(input: Fields, tool: 'write_file' | 'replace'): ToolCall {
  const isWhole = tool === 'write_file' || input['old_string'] === '';
  const content = isWhole ? text(input[tool === 'replace' ? 'new_string' : 'content']) : undefined;
  return writeOrEdit(text(input['file_path']), content, input);
}

/** The fields with the content of a whole file in inputs of `write_file`, MCP servers and `replace`. */
const CONTENT_KEYS = ['content', 'text', 'new_string'];
