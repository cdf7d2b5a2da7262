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
 * Claude Code's hook protocol (2.1). A denial is JSON with exit 0. A rewritten input without a decision approves
 * nothing: the client still asks the user whatever it would have asked.
 */
export const claude = dialectOf({
  client: 'claude',

  tool: (event) => toolCall(text(event['tool_name']), fields(event['tool_input']), text(event['cwd'])),
  more: (event) => ({ changedFiles: changedFiles(event['tool_response']) }),

  /** Organisation-hosted sessions turn a rewrite by the user's own hooks into a denial. */
  canRewrite: (env) => (env['CLAUDE_CODE_RESTRICT_PERSONAL_CONFIG'] ?? '') === '',

  /** Events whose `additionalContext` reaches the model (checked on the real client). */
  contextEvents: new Set([
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'SubagentStart',
    'Stop',
  ]),

  reportsAgentEnd: true,

  rewrite: (input, { content, context }, event) => {
    const key = ['content', 'command'].find((name) => text(input[name]) !== undefined) ?? 'text';
    const more = context === undefined ? {} : { additionalContext: context };
    return specific(event, { updatedInput: { ...input, [key]: content }, ...more });
  },
});

function toolCall(tool: string | undefined, input: Fields | undefined, cwd: string | undefined): ToolCall {
  if (tool === undefined) return UNREADABLE;
  switch (tool) {
    case 'Bash':
    case 'PowerShell':
      return shellCall(input?.['command'], undefined, input?.['run_in_background'] === true);
    case 'Monitor':
      return input?.['command'] === undefined
        ? { kind: 'other' }
        : shellCall(input['command'], undefined, true);
    case 'ExitWorktree':
      return input?.['action'] === 'remove' ? worktreeRemoval(cwd) : { kind: 'other' };
    case 'Write':
    case 'Edit':
    case 'MultiEdit':
    case 'NotebookEdit':
      return fileCall(tool, input ?? {});
    default:
      return tool.startsWith('mcp__') && input !== undefined ? mcpCall(tool, input) : { kind: 'other' };
  }
}

/** Leaving a worktree may remove it with all its content, even if others work there; `cwd` is a folder in it. */
function worktreeRemoval(cwd = ''): ToolCall {
  const top = /^.*\/\.claude\/worktrees\/[^/]+/.exec(cwd)?.[0];
  if (top === undefined) return { kind: 'other' };
  return { kind: 'argv', argv: ['git', 'worktree', 'remove', '--force', top], cwd };
}

/** Reads `bashEditDiff` of newer versions: the files that the client itself saw the command change. */
function changedFiles(response: unknown): string[] {
  const files = fields(fields(response)?.['bashEditDiff'])?.['files'];
  if (!Array.isArray(files)) return [];
  return files.flatMap((file: unknown) => text(fields(file)?.['filePath']) ?? []);
}

function fileCall(tool: string, input: Fields): ToolCall {
  const path = text(input['file_path']) ?? text(input['path']) ?? text(input['notebook_path']);
  return writeOrEdit(path, tool === 'Write' ? text(input['content']) : undefined, input);
}
