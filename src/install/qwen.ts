import { join } from 'node:path';
import type { ClientInstaller, SettingsFolders } from './client.ts';
import { clientFolder, jsonHooks, userOrProject } from './client-hooks.ts';
import { extension } from './client-packages.ts';
import { isBlank, jsonValue, withoutComments } from './json-text.ts';

/** Tools that can change a file or run a command; anchored, because Qwen Code tests a regex unanchored. */
const TOOL_MATCHER = '^(write_file|edit|notebook_edit|run_shell_command|monitor|mcp__.*)$';

/** Milliseconds: so every version reads a number from 1,000 on. The guard ends itself long before. */
const TIMEOUT_MS = 10_000;

function folder(places: SettingsFolders): string {
  return clientFolder(places, 'QWEN_HOME', '.qwen');
}

/** Qwen Code: its `settings.json`. */
export const qwenInstaller: ClientInstaller = {
  ...jsonHooks({
    client: 'qwen',
    comments: true,
    registrations: [
      ['SessionStart'],
      ['SessionEnd'],
      ['UserPromptSubmit'],
      ['Stop'],
      ['PreCompact'],
      ['PreToolUse', TOOL_MATCHER],
      ['PostToolUse', TOOL_MATCHER],
      ['PostToolUseFailure', '^run_shell_command$'],
    ],
    handler: (command) => ({ type: 'command', name: 'git-handoff', command, timeout: TIMEOUT_MS }),
  }),
  title: 'Qwen Code',
  proven: '0.24.4',
  instructionsFile: 'AGENTS.md',
  hookShell: 'bash',
  programs: ['qwen'],
  packageFile: (places) =>
    extension(join(folder(places), 'extensions'), places.topLevel ?? places.cwd, 'qwen-extension.json'),
  settingsFile: (scope, places) =>
    userOrProject(scope, places, join(folder(places), 'settings.json'), '.qwen/settings.json'),
  warnings(text) {
    const settings = isBlank(text)
      ? undefined
      : (jsonValue(withoutComments(text)) as { disableAllHooks?: unknown } | undefined);
    return settings?.disableAllHooks === true
      ? ['"disableAllHooks" is true in these settings: Qwen Code runs no hook, nothing is guarded']
      : [];
  },
  probe: ({ session, ...call }) => ({
    session_id: session,
    transcript_path: '',
    hook_event_name: 'PreToolUse',
    timestamp: new Date().toISOString(),
    permission_mode: 'default',
    tool_use_id: session,
    ...call,
  }),
};
