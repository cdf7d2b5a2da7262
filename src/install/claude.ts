import { isAbsolute, join, resolve } from 'node:path';
import type { ClientInstaller, SettingsFolders, InstallScope } from './client.ts';
import { claudePlugin } from './client-packages.ts';
import { guardCommand, isGuardCommand } from './guard-command.ts';
import { type HookEntry, registerHooks, unregisterHooks } from './hook-settings.ts';
import { isBlank, jsonValue } from './json-text.ts';

/** Tools that can change a file or run a command; anchored, because Claude Code tests a regex unanchored. */
const TOOL_MATCHER = '^(Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|mcp__.*)$';

/** Seconds; the guard ends itself long before. Claude Code's own default would be ten minutes. */
const TIMEOUT_S = 10;

const REGISTRATIONS: readonly (readonly [event: string, matcher?: string])[] = [
  ['SessionStart'],
  ['SessionEnd'],
  ['Stop'],
  ['PreCompact'],
  ['SubagentStart'],
  ['SubagentStop'],
  ['PreToolUse', TOOL_MATCHER],
  ['PostToolUse', TOOL_MATCHER],
  ['PostToolUseFailure', 'Bash'],
];

const isOurs = isGuardCommand('claude');

function entries(scope: InstallScope, launcher: string): HookEntry[] {
  const handler = { type: 'command', command: guardCommand('claude', scope, launcher), timeout: TIMEOUT_S };
  return REGISTRATIONS.map(([event, matcher]) =>
    matcher === undefined ? { event, handler } : { event, matcher, handler },
  );
}

function settingsFile(scope: InstallScope, places: SettingsFolders): string | undefined {
  if (scope === 'user') {
    const folder = places.env['CLAUDE_CONFIG_DIR'] || join(places.home, '.claude');
    return join(isAbsolute(folder) ? folder : resolve(places.cwd, folder), 'settings.json');
  }
  if (places.topLevel === undefined) return undefined;
  return join(places.topLevel, '.claude', scope === 'project' ? 'settings.json' : 'settings.local.json');
}

/** Claude Code (hooks reference, "Hook configuration"). */
export const claudeInstaller: ClientInstaller = {
  client: 'claude',
  title: 'Claude Code',
  instructionsFile: 'CLAUDE.md',
  programs: ['claude'],
  settingsFile,
  packageFile(places) {
    const files = (['user', 'project', 'local'] as const).map((scope) => settingsFile(scope, places));
    return claudePlugin(files.filter((file) => file !== undefined));
  },
  register: (text, scope, launcher) => registerHooks(text, entries(scope, launcher), isOurs),
  unregister: (text) => unregisterHooks(text, isOurs),
  warnings(text) {
    const settings = isBlank(text) ? undefined : jsonValue(text);
    if ((settings as { disableAllHooks?: unknown } | undefined)?.disableAllHooks !== true) return [];
    return ['"disableAllHooks" is true in these settings: Claude Code runs no hook, so nothing is guarded'];
  },
};
