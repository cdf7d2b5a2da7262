import { parseClientSessionId } from '../domain/names.ts';
import type { Dialect, GuardEvent, ToolCall, Verdict } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import {
  type Fields,
  UNREADABLE,
  answered,
  fields,
  fieldsOrJson,
  firstText,
  guardEvent,
  specific,
  text,
  writeOrEdit,
  shellCall,
  eventKind,
  lowerFirst,
} from './payload.ts';
import { toolsOf } from './tools.ts';

/**
 * Cursor's hook protocol (3), as its vendor documents it; no real client was tested. A conversation is a session. The
 * payload does not name the calling sub-agent. The vendor does not document the input fields of file tools: we accept several.
 */
export const cursor: Dialect = {
  client: 'cursor',

  parse(payload) {
    const event = fields(payload);
    const name = text(event?.['hook_event_name']);
    if (event === undefined || name === undefined) return undefined;
    // The events of a sub-agent do not name it.
    const kind = /^subagent/i.test(name) ? undefined : eventKind(name);
    return guardEvent(event, name, kind, () => toolCall(event), {
      session: parseClientSessionId(event['conversation_id'] ?? event['session_id']),
      cwd: folder(event),
      agent: undefined,
      stopHookActive: Number(event['loop_count']) > 0,
    });
  },

  /** The vendor does not document whether a changed input would count as an approval. */
  canRewrite: () => false,

  /** Events whose answer may have `additional_context`. */
  contextEvents: new Set(['sessionStart', 'postToolUse']),

  runsGitHooks: true,

  render: (verdict, event) => answered(answer(verdict, event)),
};

const PATH_KEYS = ['file_path', 'path', 'target_file', 'filePath', 'notebook_path', 'target_notebook'];
const CONTENT_KEYS = ['content', 'contents', 'file_text'];
const isFileTool = (tool: string) => toolsOf('cursor', 'file').includes(tool);

/** Returns the folder that a tool event names. Other events name none: for them it is the workspace's first root. */
function folder(event: Fields): string | undefined {
  const roots = event['workspace_roots'];
  const [root] = Array.isArray(roots) ? (roots as readonly unknown[]) : [];
  return text(event['cwd']) || text(root);
}

function toolCall(event: Fields): ToolCall {
  const tool = text(event['tool_name']);
  if (tool === undefined) return UNREADABLE;
  const input = fieldsOrJson(event['tool_input']);
  if (tool === 'Shell' || tool === 'Bash') return shellCall(input?.['command'], input?.['working_directory']);
  if (tool.startsWith('MCP:') || tool.startsWith('mcp__')) {
    return input === undefined ? { kind: 'other' } : mcpCall(tool.replace(/^MCP:/, ''), input);
  }
  const path = firstText(input, PATH_KEYS);
  if (tool === 'Delete') {
    return path === undefined ? UNREADABLE : { kind: 'patch', files: [{ path, change: 'delete' }] };
  }
  if (!isFileTool(tool)) return { kind: 'other' };
  if (path === undefined) return UNREADABLE;
  const content = tool === 'Write' ? firstText(input, CONTENT_KEYS) : undefined;
  return writeOrEdit(path, content, input);
}

/** Only a refusal carries a text for the user alone (`user_message`), so notices are dropped. */
function answer(verdict: Verdict, event: GuardEvent): object | undefined {
  switch (verdict.kind) {
    case 'allow':
    case 'notice':
      return undefined;
    case 'context':
      return contextAnswer(verdict.text, event);
    case 'rewrite':
      return verdict.context === undefined ? undefined : contextAnswer(verdict.context, event);
    case 'deny': {
      const own = {
        permission: 'deny',
        user_message: `git-handoff refused ${event.toolName ?? 'this'}; the agent is told why`,
        agent_message: verdict.reason,
      };
      // The vendor does not document which answer a hook in `.claude/settings.json` should give, so we give both.
      const decision = { permissionDecision: 'deny', permissionDecisionReason: verdict.reason };
      return event.name === lowerFirst(event.name) ? own : { ...own, ...specific(event, decision) };
    }
  }
}

function contextAnswer(message: string, event: GuardEvent): object | undefined {
  return cursor.contextEvents.has(lowerFirst(event.name)) ? { additional_context: message } : undefined;
}
