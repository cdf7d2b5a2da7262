import { fields, text } from './payload.ts';
import { dialectOf, specific } from './protocol.ts';

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
  tools: {
    shell: /^run_shell_command$/,
    write: /^write_file$/,
    edit: /^replace$/,
    editCreates: true,
    server(tool, event) {
      const server = fields(event['mcp_context']);
      const name = text(server?.['tool_name']) ?? tool;
      return server !== undefined || tool.startsWith('mcp_') ? name : undefined;
    },
  },

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

/** The input fields that hold a whole file's content: those of `write_file`, of MCP servers, of `replace`. */
const CONTENT_KEYS = ['content', 'text', 'new_string'];
