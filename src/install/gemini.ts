import { join } from 'node:path';
import type { ClientInstaller, SettingsFolders } from './client.ts';
import { jsonHooks, userOrProject } from './client-hooks.ts';
import { extension } from './client-packages.ts';
import { isBlank, jsonValue, withoutComments } from './json-text.ts';

/** Tools that can change a file or run a command; anchored, because Gemini CLI tests a regex unanchored. */
const TOOL_MATCHER = '^(write_file|replace|run_shell_command|mcp_.*)$';

/** Milliseconds, unlike other clients' seconds; the guard ends itself long before. */
const TIMEOUT_MS = 10_000;

/** What Gemini CLI's `/hooks` shows, and what `hooksConfig.disabled` names. */
const NAME = 'git-handoff';

function folder(places: SettingsFolders): string {
  return join(places.env['GEMINI_CLI_HOME'] || places.home, '.gemini');
}

/** Gemini CLI: its `settings.json`. */
export const geminiInstaller: ClientInstaller = {
  ...jsonHooks({
    client: 'gemini',
    comments: true,
    // Without PreCompress: it comes before Gemini has found out whether there is anything to compress, at every turn.
    registrations: [
      ['SessionStart'],
      ['SessionEnd'],
      ['BeforeAgent'],
      ['AfterAgent'],
      ['BeforeTool', TOOL_MATCHER],
      ['AfterTool', TOOL_MATCHER],
    ],
    handler: (command) => ({ type: 'command', name: NAME, command, timeout: TIMEOUT_MS }),
  }),
  title: 'Gemini CLI',
  proven: '0.61.0',
  instructionsFile: 'GEMINI.md',
  hookShell: 'bash',
  programs: ['gemini'],
  packageFile: (places) =>
    extension(join(folder(places), 'extensions'), places.topLevel ?? places.cwd, 'gemini-extension.json'),
  settingsFile: (scope, places) =>
    userOrProject(scope, places, join(folder(places), 'settings.json'), '.gemini/settings.json'),
  warnings(text) {
    const settings = isBlank(text)
      ? undefined
      : (jsonValue(withoutComments(text)) as { hooksConfig?: unknown } | undefined);
    const { enabled, disabled } = (settings?.hooksConfig ?? {}) as { enabled?: unknown; disabled?: unknown };
    if (enabled === false) {
      return [
        '"hooksConfig.enabled" is false in these settings: Gemini CLI runs no hook, nothing is guarded',
      ];
    }
    return Array.isArray(disabled) && disabled.includes(NAME)
      ? [`"hooksConfig.disabled" names ${NAME} in these settings: Gemini CLI runs unguarded`]
      : [];
  },
  probe: ({ session, ...call }) => ({
    session_id: session,
    transcript_path: '',
    hook_event_name: 'BeforeTool',
    timestamp: new Date().toISOString(),
    ...call,
  }),
};
