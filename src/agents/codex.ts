import { dialectOf } from './protocol.ts';

/**
 * Codex CLI's hook protocol (0.169). Codex reads answers strictly: if an answer has an unknown key, or an `allow` without a
 * reason, Codex ignores the whole answer, and the call goes through. So we allow a call by printing nothing.
 */
export const codex = dialectOf({
  client: 'codex',

  // The payload names the root session even if a sub-agent calls. A response does not say how a command ended.
  tools: {
    // Hooks get the name `Bash` for every shell tool. The other names occur in rollouts and in older versions.
    shell: /^(?:Bash|exec_command|shell|shell_command|local_shell|container\.exec)$/,
    write: /^$/,
    edit: /^apply_patch$/,
  },

  /** Events whose schema has `additionalContext`. */
  contextEvents: new Set(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'SubagentStart']),
});
