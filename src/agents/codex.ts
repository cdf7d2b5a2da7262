import type { ToolCall } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import { UNREADABLE, dialectOf, fields, text, patchCall, shellCall } from './payload.ts';

/**
 * Codex CLI's hook protocol (0.169). Codex reads answers strictly: if an answer has an unknown key, or an `allow` without a
 * reason, Codex ignores the whole answer, and the call goes through. So we allow a call by printing nothing.
 */
export const codex = dialectOf({
  client: 'codex',

  // The payload names the root session even if a sub-agent calls. A response does not say how a command ended.
  tool: (event) => toolCall(text(event['tool_name']), event['tool_input']),

  /** Events whose schema has `additionalContext`. */
  contextEvents: new Set(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'SubagentStart']),
});

/** Hooks get the name `Bash` for every shell tool. The other names occur in rollouts and in older versions. */
const SHELLS = /^(?:Bash|exec_command|shell|shell_command|local_shell|container\.exec)$/;

function toolCall(tool: string | undefined, given: unknown): ToolCall {
  if (tool === undefined) return UNREADABLE;
  const input = fields(given);
  if (SHELLS.test(tool)) return commandCall(input?.['command'] ?? input?.['cmd'], input?.['workdir']);
  if (tool === 'apply_patch')
    return patchCall(text(given) ?? text(input?.['command']) ?? text(input?.['input']));
  return tool.startsWith('mcp__') && input !== undefined ? mcpCall(tool, input) : { kind: 'other' };
}

/** Reads a command line, or the words of a command that runs without a shell. */
function commandCall(command: unknown, folder: unknown): ToolCall {
  if (!Array.isArray(command) || command.length === 0) return shellCall(command, folder);
  const argv = command.filter((word) => typeof word === 'string');
  const cwd = text(folder) ?? '';
  return argv.length === command.length ? { kind: 'argv', argv, ...(cwd === '' ? {} : { cwd }) } : UNREADABLE;
}
