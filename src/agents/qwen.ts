import { text } from './payload.ts';
import { dialectOf } from './protocol.ts';

/**
 * Qwen Code's hook protocol (0.24): Claude Code's events with Gemini CLI's tools. Before 0.24, a session in print mode has no
 * SessionStart, so its first call registers it. No session in print mode has a SessionEnd.
 */
export const qwen = dialectOf({
  client: 'qwen',

  tools: {
    shell: /^(?:run_shell_command|monitor)$/,
    write: /^write_file$/,
    edit: /^(?:edit|notebook_edit)$/,
    editCreates: true,
    own(tool, input) {
      const worktree = `.qwen/worktrees/${text(input['name']) ?? ''}`;
      if (tool !== 'exit_worktree' || input['action'] !== 'remove') return undefined;
      return { kind: 'argv', argv: ['git', 'worktree', 'remove', '--force', worktree] };
    },
  },
  // Version 0.15 sets `stop_hook_active` in every Stop.
  more: () => ({ stopHookActive: false }),

  /** Events whose `additionalContext` reaches the model; PreToolUse's does not (checked on the real client). */
  contextEvents: new Set(['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure']),
});
