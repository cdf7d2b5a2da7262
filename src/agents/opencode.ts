import type { Dialect } from './dialect.ts';
import { dialectOf } from './protocol.ts';

/**
 * What our plugin for OpenCode (1.18) sends, and how it uses the answer. On `deny`, the plugin throws. It adds the text of
 * `tell` to the tool's output or, at a session's first message, to the system prompt. For a sub-agent, the plugin sends the
 * id of the session that started it.
 */
export const opencode: Dialect = dialectOf({
  client: 'opencode',

  kinds: {
    'chat.message': 'session-start',
    'tool.execute.before': 'before-tool',
    'tool.execute.after': 'after-tool',
    'session.compacting': 'compaction',
    'session.deleted': 'session-end',
  },
  tools: {
    shell: /^bash$/,
    write: /^write$/,
    edit: /^(?:edit|apply_patch)$/,
    editCreates: true,
    // An MCP server's tools are `<server>_<tool>`.
    server: (tool) => tool,
  },

  contextEvents: new Set(['chat.message', 'tool.execute.after']),

  deny: (reason) => ({ deny: reason }),
  tell: (tell, event) => (opencode.contextEvents.has(event.name) ? { tell } : undefined),
});
