import { parseClientSessionId } from '../domain/names.ts';
import { patchedFiles } from '../domain/patch.ts';
import type { Dialect, GuardEvent, ToolCall, Verdict } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import { type Fields, fields, startSource, text } from './payload.ts';

/**
 * Codex CLI's hook protocol (0.169). Its schema of answers is strict: one key too many, or an `allow` without
 * a reason to say it, makes the whole answer void and the call goes on. So silence allows.
 */
export const codex: Dialect = {
  client: 'codex',

  parse(payload) {
    const event = fields(payload);
    const name = text(event?.['hook_event_name']);
    if (event === undefined || name === undefined) return undefined;
    const toolName = text(event['tool_name']);
    return {
      kind: KINDS[name] ?? 'other',
      name,
      // The root session, whichever of its agents calls.
      session: parseClientSessionId(event['session_id']),
      agent: text(event['agent_id']),
      cwd: text(event['cwd']),
      tool: TOOL_EVENTS.has(name) ? toolCall(toolName, event['tool_input']) : undefined,
      toolName,
      callId: text(event['tool_use_id']),
      changedFiles: [],
      // Its response is what the command printed, and says nothing of how it ended.
      failure: undefined,
      source: name === 'SessionStart' ? startSource(event['source']) : undefined,
      reason: text(event['reason']),
      stopHookActive: event['stop_hook_active'] === true,
    };
  },

  /** Codex takes another input only together with an approval, which is not ours to give. */
  canRewrite: () => false,

  tellsBefore: true,

  runsGitHooks: true,

  render(verdict, event) {
    const output = answer(verdict, event);
    return output === undefined ? '' : JSON.stringify(output);
  },
};

const KINDS: Readonly<Record<string, GuardEvent['kind']>> = {
  SessionStart: 'session-start',
  SessionEnd: 'session-end',
  PreToolUse: 'before-tool',
  PostToolUse: 'after-tool',
  Stop: 'stop',
  PreCompact: 'compaction',
  SubagentStart: 'agent-start',
  SubagentStop: 'agent-stop',
};

const TOOL_EVENTS = new Set(['PreToolUse', 'PostToolUse']);

/** Events whose schema has `additionalContext`. */
const CONTEXT_EVENTS = new Set(['SessionStart', 'PreToolUse', 'PostToolUse', 'SubagentStart']);

/** Hooks are told `Bash` for every one of them; the others are what rollouts and older versions say. */
const SHELLS = new Set(['Bash', 'shell', 'shell_command', 'exec_command', 'local_shell', 'container.exec']);

const UNREADABLE: ToolCall = { kind: 'unreadable' };

function toolCall(tool: string | undefined, given: unknown): ToolCall {
  if (tool === undefined) return UNREADABLE;
  const input = fields(given);
  if (SHELLS.has(tool)) return shellCall(input);
  if (tool === 'apply_patch')
    return patchCall(text(given) ?? text(input?.['command']) ?? text(input?.['input']));
  return tool.startsWith('mcp__') && input !== undefined ? mcpCall(tool, input) : { kind: 'other' };
}

/** A command line, or the words of a command that runs without a shell. */
function shellCall(input: Fields | undefined): ToolCall {
  const command = input?.['command'] ?? input?.['cmd'];
  const folder = text(input?.['workdir']);
  const where = folder === undefined || folder === '' ? {} : { cwd: folder };
  if (typeof command === 'string') return { kind: 'shell', command, ...where };
  if (!Array.isArray(command) || command.length === 0) return UNREADABLE;
  const argv = command.filter((word) => typeof word === 'string');
  return argv.length === command.length ? { kind: 'argv', argv, ...where } : UNREADABLE;
}

function patchCall(patch: string | undefined): ToolCall {
  const files = patchedFiles(patch ?? '');
  return files.length === 0 ? UNREADABLE : { kind: 'patch', files };
}

function answer(verdict: Verdict, event: GuardEvent): object | undefined {
  const specific = (content: object) => ({ hookSpecificOutput: { hookEventName: event.name, ...content } });
  const tell = (message: string) =>
    CONTEXT_EVENTS.has(event.name) ? specific({ additionalContext: message }) : { systemMessage: message };
  switch (verdict.kind) {
    case 'allow':
      return undefined;
    case 'context':
      return tell(verdict.text);
    case 'notice':
      return { systemMessage: verdict.text };
    case 'deny':
      return specific({ permissionDecision: 'deny', permissionDecisionReason: verdict.reason });
    case 'rewrite':
      return verdict.context === undefined ? undefined : tell(verdict.context);
  }
}
