import { join } from 'node:path';
import type { ClientInstaller } from './client.ts';
import { jsonHooks, userOrProject } from './client-hooks.ts';

/** Tools that can change a file or run a command. Not anchored: names joined by bars are the form that is documented. */
const TOOL_MATCHER = 'Shell|Write|Edit|MultiEdit|StrReplace|TabWrite|EditNotebook|NotebookEdit|Delete|MCP:.*';

/** Seconds; the guard ends itself long before. */
const TIMEOUT_S = 10;

/** Cursor: `hooks.json` in its folder, the user's or the project's. */
export const cursorInstaller: ClientInstaller = {
  ...jsonHooks({
    client: 'cursor',
    flat: true,
    version: 1,
    registrations: [
      ['sessionStart'],
      ['sessionEnd'],
      ['stop'],
      ['preCompact'],
      ['preToolUse', TOOL_MATCHER],
      ['postToolUse', TOOL_MATCHER],
      ['postToolUseFailure', 'Shell'],
    ],
    handler: (command) => ({ command, timeout: TIMEOUT_S }),
  }),
  title: 'Cursor',
  instructionsFile: 'AGENTS.md',
  programs: ['cursor', 'cursor-agent'],
  settingsFile: (scope, places) =>
    userOrProject(scope, places, join(places.home, '.cursor', 'hooks.json'), '.cursor/hooks.json'),
  warnings: () => [],
  probe: ({ session, cwd, ...call }) => ({
    conversation_id: session,
    generation_id: session,
    hook_event_name: 'preToolUse',
    cursor_version: '3.0.0',
    workspace_roots: [cwd],
    tool_use_id: session,
    cwd,
    ...call,
  }),
};
