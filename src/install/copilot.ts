import { isAbsolute, join, resolve } from 'node:path';
import type { ClientInstaller, SettingsFolders, InstallScope } from './client.ts';
import { guardCommand, isGuardCommand } from './guard-command.ts';
import { type HookEntry, registerHooks, unregisterHooks } from './hook-settings.ts';
import { isBlank, jsonValue } from './json-text.ts';

/** Names joined by bars match Copilot CLI's own names of tools and Claude Code's, whichever an event goes by. */
const TOOL_MATCHER = 'Bash|bash|powershell|Write|create|Edit|edit|str_replace_editor|apply_patch';
const SHELL_MATCHER = 'Bash|bash|powershell';

/** Seconds; the guard ends itself long before. */
const TIMEOUT_S = 10;

/** Spelt like this, the events bring payloads that name them. */
const REGISTRATIONS: readonly (readonly [event: string, matcher?: string])[] = [
  ['SessionStart'],
  ['SessionEnd'],
  ['Stop'],
  ['PreCompact'],
  ['PreToolUse', TOOL_MATCHER],
  ['PostToolUse', TOOL_MATCHER],
  ['PostToolUseFailure', SHELL_MATCHER],
];

/** The version of the file's format. */
const FORMAT = { version: 1 } as const;

const isOurs = isGuardCommand('copilot');

/** Under `bash`: where there is only PowerShell, `command` would be run by it, fail, and so refuse every call. */
function entries(scope: InstallScope, launcher: string): HookEntry[] {
  const command = guardCommand('copilot', scope, launcher);
  const handler = { type: 'command', bash: command, timeoutSec: TIMEOUT_S };
  return REGISTRATIONS.map(([event, matcher]) =>
    matcher === undefined ? { event, handler, flat: true } : { event, matcher, handler, flat: true },
  );
}

function home(places: SettingsFolders): string {
  const folder = places.env['COPILOT_HOME'] || join(places.home, '.copilot');
  return isAbsolute(folder) ? folder : resolve(places.cwd, folder);
}

/** Copilot CLI: a file of ours in its folder of hooks, the user's or the project's. */
export const copilotInstaller: ClientInstaller = {
  client: 'copilot',
  title: 'Copilot CLI',
  instructionsFile: 'AGENTS.md',
  hookShell: 'bash',
  programs: ['copilot'],
  userFolder: home,
  switches(places) {
    const names = ['settings.json', 'settings.local.json'];
    const folder = places.topLevel === undefined ? undefined : join(places.topLevel, '.github', 'copilot');
    const project = folder === undefined ? [] : names.map((name) => join(folder, name));
    return [join(home(places), 'settings.json'), ...project];
  },
  settingsFile(scope, places) {
    if (scope === 'user') return join(home(places), 'hooks', 'git-handoff.json');
    if (scope === 'local' || places.topLevel === undefined) return undefined;
    return join(places.topLevel, '.github', 'hooks', 'git-handoff.json');
  },
  register: (text, scope, launcher) => registerHooks(text, entries(scope, launcher), isOurs, FORMAT),
  unregister: (text) => unregisterHooks(text, isOurs),
  warnings(text, isNew) {
    const settings = isBlank(text) ? undefined : jsonValue(text);
    const isOff = (settings as { disableAllHooks?: unknown } | undefined)?.disableAllHooks === true;
    return [
      ...(isOff ? ['"disableAllHooks" is true: Copilot CLI runs no hook of ours'] : []),
      ...(isNew ? ['Copilot CLI: made after its documentation, never tried with Copilot CLI itself'] : []),
    ];
  },
};
