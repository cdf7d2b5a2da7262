/** What a client's own payload before a tool call looks like; the call is made up. */
interface ProbeCall {
  readonly cwd: string;
  readonly tool: string;
}

const SESSION = 'doctor';
const VERSION_FIELD = '3.0.0';

/**
 * A payload with the fields that the client itself sends (`fixtures/payloads`): a command line that names another client,
 * or a dialect that cannot read this one's, is found by it.
 */
export function probePayload(client: string, { cwd, tool }: ProbeCall): object {
  const call = { cwd, tool_name: tool, tool_input: {} };
  switch (client) {
    case 'gemini':
      return {
        session_id: SESSION,
        transcript_path: '',
        hook_event_name: 'BeforeTool',
        timestamp: new Date().toISOString(),
        ...call,
      };
    case 'cursor':
      return {
        conversation_id: SESSION,
        generation_id: SESSION,
        hook_event_name: 'preToolUse',
        cursor_version: VERSION_FIELD,
        workspace_roots: [cwd],
        tool_use_id: SESSION,
        ...call,
      };
    case 'copilot':
      return {
        hook_event_name: 'PreToolUse',
        session_id: SESSION,
        timestamp: new Date().toISOString(),
        ...call,
      };
    case 'codex':
      return {
        session_id: SESSION,
        turn_id: SESSION,
        transcript_path: null,
        model: '',
        permission_mode: 'default',
        hook_event_name: 'PreToolUse',
        tool_use_id: SESSION,
        ...call,
      };
    default:
      return {
        session_id: SESSION,
        transcript_path: '',
        permission_mode: 'default',
        hook_event_name: 'PreToolUse',
        tool_use_id: SESSION,
        ...call,
      };
  }
}
