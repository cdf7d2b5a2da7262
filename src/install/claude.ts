import { join } from 'node:path';
import type { ClientInstaller, SettingsFolders, InstallScope } from './client.ts';
import { clientFolder, jsonHooks } from './client-hooks.ts';
import { enabledPlugin } from './client-packages.ts';
import { isBlank, jsonValue } from './json-text.ts';

/** Tools that can change a file or run a command; anchored, because Claude Code tests a regex unanchored. */
const TOOL_MATCHER = '^(Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|mcp__.*)$';

/** Seconds; the guard ends itself long before. Claude Code's own default would be ten minutes. */
const TIMEOUT_S = 10;

function settingsFile(scope: InstallScope, places: SettingsFolders): string | undefined {
  if (scope === 'user') return join(clientFolder(places, 'CLAUDE_CONFIG_DIR', '.claude'), 'settings.json');
  if (places.topLevel === undefined) return undefined;
  return join(places.topLevel, '.claude', scope === 'project' ? 'settings.json' : 'settings.local.json');
}

/** Claude Code (hooks reference, "Hook configuration"). */
export const claudeInstaller: ClientInstaller = {
  ...jsonHooks({
    client: 'claude',
    registrations: [
      ['SessionStart'],
      ['SessionEnd'],
      ['UserPromptSubmit'],
      ['Stop'],
      ['PreCompact'],
      ['SubagentStart'],
      ['SubagentStop'],
      ['PreToolUse', TOOL_MATCHER],
      ['PostToolUse', TOOL_MATCHER],
      ['PostToolUseFailure', 'Bash'],
    ],
    handler: (command) => ({ type: 'command', command, timeout: TIMEOUT_S }),
  }),
  title: 'Claude Code',
  proven: '2.1.197',
  instructionsFile: 'CLAUDE.md',
  programs: ['claude'],
  settingsFile,
  packageFile(places) {
    const files = (['user', 'project', 'local'] as const).map((scope) => settingsFile(scope, places));
    return enabledPlugin(files.filter((file) => file !== undefined));
  },
  warnings(text) {
    const settings = isBlank(text) ? undefined : jsonValue(text);
    if ((settings as { disableAllHooks?: unknown } | undefined)?.disableAllHooks !== true) return [];
    return ['"disableAllHooks" is true in these settings: Claude Code runs no hook, so nothing is guarded'];
  },
  probe: ({ session, ...call }) => ({
    session_id: session,
    transcript_path: '',
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_use_id: session,
    ...call,
  }),
};
