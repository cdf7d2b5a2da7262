import { parseClientSessionId } from '../domain/names.ts';
import type { Dialect, GuardEvent } from './dialect.ts';
import { type Fields, UNREADABLE, firstText, text } from './payload.ts';
import { PATH_KEYS, denial, dialectOf, lowerFirst, specific } from './protocol.ts';

/**
 * Cursor's hook protocol, as its vendor documents it; no real client was tested. A conversation is a session. The
 * payload does not name the calling sub-agent. The vendor does not document the input fields of file tools: we accept several.
 */
export const cursor: Dialect = dialectOf({
  client: 'cursor',

  tools: {
    shell: /^(?:Shell|Bash)$/,
    write: /^Write$/,
    edit: /^(?:Edit|MultiEdit|StrReplace|TabWrite|EditNotebook|NotebookEdit)$/,
    server: (tool) => (/^(?:MCP:|mcp__)/.test(tool) ? tool.replace(/^MCP:/, '') : undefined),
    own(tool, input) {
      if (tool !== 'Delete') return undefined;
      const path = firstText(input, PATH_KEYS);
      return path === undefined ? UNREADABLE : { kind: 'patch', files: [{ path, change: 'delete' }] };
    },
  },
  more: (event, name) => ({
    session: parseClientSessionId(event['conversation_id'] ?? event['session_id']),
    cwd: folder(event),
    agent: undefined,
    stopHookActive: Number(event['loop_count']) > 0,
    // A sub-agent's events do not say which sub-agent it is.
    ...(/^subagent/i.test(name) ? { kind: 'other' } : {}),
  }),

  /** Events whose answer may have `additional_context`. */
  contextEvents: new Set(['sessionStart', 'postToolUse']),

  deny: refusal,
  /** Only a refusal carries a text for the user alone (`user_message`), so notices are dropped. */
  tell: (message, { name }) =>
    cursor.contextEvents.has(lowerFirst(name)) ? { additional_context: message } : undefined,
});

/** Returns the folder that a tool event names; for other events, the workspace's first root. */
function folder(event: Fields): string | undefined {
  const roots = event['workspace_roots'];
  const [root] = Array.isArray(roots) ? (roots as readonly unknown[]) : [];
  return text(event['cwd']) || text(root);
}

function refusal(reason: string, event: GuardEvent): object {
  const own = {
    permission: 'deny',
    user_message: `git-handoff refused ${event.toolName ?? 'this'}; the agent is told why`,
    agent_message: reason,
  };
  // The vendor does not document which answer a hook in `.claude/settings.json` should give, so we give both.
  return event.name === lowerFirst(event.name) ? own : { ...own, ...specific(event, denial(reason)) };
}
