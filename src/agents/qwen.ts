import type { ToolCall } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import { type Fields, UNREADABLE, dialectOf, fields, text, writeOrEdit, shellCall } from './payload.ts';

/**
 * Qwen Code's hook protocol (0.24): Claude Code's events with Gemini CLI's tools. Before 0.24, a session in print mode has no
 * SessionStart, so its first call registers it. No session in print mode has a SessionEnd.
 */
export const qwen = dialectOf({
  client: 'qwen',

  tool: toolCall,
  // Version 0.15 sets `stop_hook_active` in every Stop.
  more: () => ({ stopHookActive: false }),

  /** Events whose `additionalContext` reaches the model; PreToolUse's does not (checked on the real client). */
  contextEvents: new Set(['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure']),
});

function toolCall(event: Fields): ToolCall {
  const tool = text(event['tool_name']);
  const input = fields(event['tool_input']) ?? {};
  const runsOn = tool === 'monitor' || input['is_background'] === true;
  switch (tool) {
    case undefined:
      return UNREADABLE;
    case 'run_shell_command':
    case 'monitor':
      return shellCall(input['command'], input['directory'], runsOn);
    case 'write_file':
    case 'edit':
    case 'notebook_edit':
      return fileCall(input, tool);
    case 'exit_worktree': {
      const worktree = `.qwen/worktrees/${text(input['name']) ?? ''}`;
      if (input['action'] !== 'remove') return { kind: 'other' };
      return { kind: 'argv', argv: ['git', 'worktree', 'remove', '--force', worktree] };
    }
    default:
      return tool.startsWith('mcp__') ? mcpCall(tool, input) : { kind: 'other' };
  }
}

/** Reads a call on one file; `edit` with an empty `old_string` creates the file. */
function fileCall(input: Fields, tool: 'write_file' | 'edit' | 'notebook_edit'): ToolCall {
  const path = text(input['file_path']) ?? text(input['notebook_path']);
  const isNew = tool === 'edit' && input['old_string'] === '';
  const content =
    tool === 'write_file' ? text(input['content']) : isNew ? text(input['new_string']) : undefined;
  return writeOrEdit(path, content, input);
}
