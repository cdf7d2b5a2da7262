import type { ToolCall } from './dialect.ts';
import { fields, text } from './payload.ts';
import { dialectOf, specific } from './protocol.ts';

/**
 * Claude Code's hook protocol (2.1). A denial is JSON with exit 0. A rewritten input without a decision approves
 * nothing: the client still asks the user whatever it would have asked.
 */
export const claude = dialectOf({
  client: 'claude',

  tools: {
    shell: /^(?:Bash|PowerShell|Monitor)$/,
    write: /^Write$/,
    edit: /^(?:Edit|MultiEdit|NotebookEdit)$/,
    own(tool, input, event) {
      if (tool === 'ExitWorktree' && input['action'] === 'remove') return worktreeRemoval(text(event['cwd']));
      return tool === 'Monitor' && input['command'] === undefined ? { kind: 'other' } : undefined;
    },
  },
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

/** Leaving a worktree may remove it with all its content, even if others work there. `cwd` is any folder in the worktree. */
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
