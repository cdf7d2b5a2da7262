import type { Dialect, GuardEvent, ToolCall, ToolFailure, Verdict } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import {
  type Fields,
  UNREADABLE,
  answered,
  fields,
  guardEvent,
  specific,
  text,
  toldTo,
  writeOrEdit,
} from './payload.ts';

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
    const tool = () => toolCall(text(event['tool_name']), fields(event['tool_input']));
    return guardEvent(event, name, KINDS[name], tool, {
      agent: text(event['agent_id']),
      callId: text(event['tool_use_id']),
      changedFiles: changedFiles(event['tool_response']),
      failure: name === 'PostToolUseFailure' ? failure(event) : undefined,
    });
  },

  /** Organisation-hosted sessions turn a rewrite by the user's own hooks into a denial. */
  canRewrite: (env) => (env['CLAUDE_CODE_RESTRICT_PERSONAL_CONFIG'] ?? '') === '',

  /** Events whose `additionalContext` reaches the model (checked on the real client). */
  tells: new Set(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'SubagentStart', 'Stop']),

  runsGitHooks: true,

  render: (verdict, event, payload) => answered(answer(verdict, event, payload)),
};

const KINDS: Readonly<Record<string, GuardEvent['kind']>> = {
  SessionStart: 'session-start',
  SessionEnd: 'session-end',
  PreToolUse: 'before-tool',
  PostToolUse: 'after-tool',
  PostToolUseFailure: 'after-tool',
  UserPromptSubmit: 'prompt',
  Stop: 'stop',
  PreCompact: 'compaction',
  SubagentStart: 'agent-start',
  SubagentStop: 'agent-stop',
};

function toolCall(tool: string | undefined, input: Fields | undefined): ToolCall {
  if (tool === undefined) return UNREADABLE;
  switch (tool) {
    case 'Bash':
    case 'PowerShell': {
      const command = text(input?.['command']);
      if (command === undefined) return UNREADABLE;
      const runsOn = input?.['run_in_background'] === true;
      return { kind: 'shell', command, ...(runsOn ? { inBackground: true } : {}) };
    }
    case 'Monitor': {
      const command = text(input?.['command']);
      return command === undefined ? { kind: 'other' } : { kind: 'shell', command, inBackground: true };
    }
    case 'Write':
    case 'Edit':
    case 'MultiEdit':
    case 'NotebookEdit':
      return fileCall(tool, input ?? {});
    default:
      return tool.startsWith('mcp__') && input !== undefined ? mcpCall(tool, input) : { kind: 'other' };
  }
}

/** `bashEditDiff` of newer versions: what the command did to files, by the client's own comparison. */
function changedFiles(response: unknown): string[] {
  const files = fields(fields(response)?.['bashEditDiff'])?.['files'];
  if (!Array.isArray(files)) return [];
  return files.flatMap((file: unknown) => text(fields(file)?.['filePath']) ?? []);
}

/** What the person interrupted has not failed. */
function failure(event: Fields): ToolFailure | undefined {
  if (event['is_interrupt'] === true) return undefined;
  const output = text(event['error']) ?? '';
  const exit = /^Exit code (\d{1,9})\b/.exec(output)?.[1];
  return { exit: exit === undefined ? undefined : Number(exit), output };
}

function fileCall(tool: string, input: Fields): ToolCall {
  const path = text(input['file_path']) ?? text(input['path']) ?? text(input['notebook_path']);
  if (path === undefined) return UNREADABLE;
  const content = tool === 'Write' ? text(input['content']) : undefined;
  return writeOrEdit(path, content, input);
}

function answer(verdict: Verdict, event: GuardEvent, payload: unknown): object | undefined {
  switch (verdict.kind) {
    case 'allow':
      return undefined;
    case 'context':
    case 'notice':
      return toldTo(verdict, event, claude.tells);
    case 'deny':
      return specific(event, { permissionDecision: 'deny', permissionDecisionReason: verdict.reason });
    case 'rewrite': {
      const input = fields(fields(payload)?.['tool_input']) ?? {};
      const context = verdict.context === undefined ? {} : { additionalContext: verdict.context };
      const key = text(input['content']) === undefined ? 'text' : 'content';
      return specific(event, { updatedInput: { ...input, [key]: verdict.content }, ...context });
    }
  }
}
