import type { Dialect, ToolCall } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import {
  type Fields,
  UNREADABLE,
  dialectOf,
  fields,
  text,
  patchCall,
  shellCall,
  writeOrEdit,
} from './payload.ts';

/**
 * What our plugin for OpenCode (1.18) sends, and what it does with the answer: on `deny` it throws. It adds `tell` to the
 * tool's output or, at a session's first message, to the system prompt. For a sub-agent, the plugin sends the id of the
 * session that started it.
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
  tool: toolCall,

  contextEvents: new Set(['chat.message', 'tool.execute.after']),

  deny: (reason) => ({ deny: reason }),
  tell: (tell, event) => (opencode.contextEvents.has(event.name) ? { tell } : undefined),
});

function toolCall(event: Fields): ToolCall {
  const tool = text(event['tool_name']);
  const input = fields(event['tool_input']) ?? {};
  switch (tool) {
    case undefined:
      return UNREADABLE;
    case 'bash':
      return shellCall(input['command'], input['workdir']);
    case 'write':
    case 'edit':
      return fileCall(input);
    case 'apply_patch':
      return patchCall(text(input['patchText']));
    // An MCP server's tools are `<server>_<tool>`.
    default:
      return mcpCall(tool, input);
  }
}

function fileCall(input: Fields): ToolCall {
  const isNew = input['oldString'] === '';
  const content = text(input['content']) ?? (isNew ? text(input['newString']) : undefined);
  const { oldString, newString, replaceAll } = input;
  const edit = { old_string: oldString, new_string: newString, replace_all: replaceAll };
  return writeOrEdit(text(input['filePath']), content, edit);
}
