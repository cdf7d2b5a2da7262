import type { Dialect, GuardEvent, ToolCall, Verdict } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import {
  type Fields,
  UNREADABLE,
  answered,
  editCall,
  fields,
  guardEvent,
  text,
  patchCall,
  shellCall,
} from './payload.ts';

/**
 * What our plugin for OpenCode (1.18) sends, and what it does with the answer: on `deny` it throws. It adds `tell` to the
 * tool's output or, at a session's first message, to the system prompt. For a sub-agent, the plugin sends the id of the
 * session that started it.
 */
export const opencode: Dialect = {
  client: 'opencode',

  parse(payload) {
    const event = fields(payload);
    const name = text(event?.['hook_event_name']);
    if (event === undefined || name === undefined) return undefined;
    return guardEvent(event, name, KINDS[name], () => toolCall(event));
  },

  canRewrite: () => false,

  contextEvents: new Set(['chat.message', 'tool.execute.after']),

  runsGitHooks: true,

  render: (verdict, event) => answered(answer(verdict, event)),
};

const KINDS: Readonly<Record<string, GuardEvent['kind']>> = {
  'chat.message': 'session-start',
  'tool.execute.before': 'before-tool',
  'tool.execute.after': 'after-tool',
  'session.compacting': 'compaction',
  'session.deleted': 'session-end',
};

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
  const path = text(input['filePath']);
  if (path === undefined) return UNREADABLE;
  const isNew = input['oldString'] === '';
  const content = text(input['content']) ?? (isNew ? text(input['newString']) : undefined);
  if (content !== undefined) return { kind: 'write', path, content };
  const { oldString, newString, replaceAll } = input;
  return editCall(path, { old_string: oldString, new_string: newString, replace_all: replaceAll });
}

function answer(verdict: Verdict, event: GuardEvent): object | undefined {
  switch (verdict.kind) {
    case 'deny':
      return { deny: verdict.reason };
    case 'context':
      return opencode.contextEvents.has(event.name) ? { tell: verdict.text } : undefined;
    default:
      return undefined;
  }
}
