import { join } from 'node:path';
import type { ClientInstaller, SettingsFolders, InstallScope } from './client.ts';
import { geminiExtension } from './client-packages.ts';
import { guardCommand, isGuardCommand } from './guard-command.ts';
import { type HookEntry, registerHooks, unregisterHooks } from './hook-settings.ts';
import { isBlank, jsonValue, withoutComments } from './json-text.ts';

/** Tools that can change a file or run a command; anchored, because Gemini CLI tests a regex unanchored. */
const TOOL_MATCHER = '^(write_file|replace|run_shell_command|mcp_.*)$';

/** Milliseconds, unlike other clients' seconds; the guard ends itself long before. */
const TIMEOUT_MS = 10_000;

/** What Gemini CLI's `/hooks` shows, and what `hooksConfig.disabled` names. */
const NAME = 'git-handoff';

/** Without PreCompress: it comes before Gemini has found out whether there is anything to compress, at every turn. */
const REGISTRATIONS: readonly (readonly [event: string, matcher?: string])[] = [
  ['SessionStart'],
  ['SessionEnd'],
  ['AfterAgent'],
  ['BeforeTool', TOOL_MATCHER],
  ['AfterTool', TOOL_MATCHER],
];

/** Its settings are written by hand, and may hold comments. */
const FORMAT = { comments: true } as const;

const isOurs = isGuardCommand('gemini');

function entries(scope: InstallScope, launcher: string): HookEntry[] {
  const command = guardCommand('gemini', scope, launcher);
  const handler = { type: 'command', name: NAME, command, timeout: TIMEOUT_MS };
  return REGISTRATIONS.map(([event, matcher]) =>
    matcher === undefined ? { event, handler } : { event, matcher, handler },
  );
}

function folder(places: SettingsFolders): string {
  return join(places.env['GEMINI_CLI_HOME'] || places.home, '.gemini');
}

/** Gemini CLI: its `settings.json`. It has no settings for one person in one project. */
export const geminiInstaller: ClientInstaller = {
  client: 'gemini',
  title: 'Gemini CLI',
  instructionsFile: 'GEMINI.md',
  ...FORMAT,
  hookShell: 'bash',
  programs: ['gemini'],
  packageFile: (places) => geminiExtension(join(folder(places), 'extensions'), places.topLevel ?? places.cwd),
  settingsFile(scope, places) {
    if (scope === 'user') return join(folder(places), 'settings.json');
    if (scope === 'local' || places.topLevel === undefined) return undefined;
    return join(places.topLevel, '.gemini', 'settings.json');
  },
  register: (text, scope, launcher) => registerHooks(text, entries(scope, launcher), isOurs, FORMAT),
  unregister: (text) => unregisterHooks(text, isOurs, FORMAT),
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
};
