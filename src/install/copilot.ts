import { join } from 'node:path';
import type { ClientInstaller, SettingsFolders } from './client.ts';
import { clientFolder, jsonHooks, userOrProject } from './client-hooks.ts';
import { enabledPlugin } from './client-packages.ts';
import { isBlank, jsonValue } from './json-text.ts';

/** The whole name has to fit: Copilot CLI's own names of tools, Claude Code's, and `<server>-<tool>` of an MCP server. */
const SHELL_MATCHER = 'Bash|bash|PowerShell|powershell';
const TOOL_MATCHER = `${SHELL_MATCHER}|Write|create|Edit|edit|str_replace_editor|apply_patch|.+-.+`;

/** Seconds; the guard ends itself long before. */
const TIMEOUT_S = 10;

function folder(places: SettingsFolders): string {
  return clientFolder(places, 'COPILOT_HOME', '.copilot');
}

/** Copilot CLI: a file of ours in its folder of hooks, the user's or the project's. */
export const copilotInstaller: ClientInstaller = {
  ...jsonHooks({
    client: 'copilot',
    failsClosed: true,
    flat: true,
    version: 1,
    // Spelt like this, the events bring payloads that name them.
    registrations: [
      ['SessionStart'],
      ['SessionEnd'],
      ['UserPromptSubmit'],
      ['Stop'],
      ['PreCompact'],
      ['SubagentStart'],
      ['PreToolUse', TOOL_MATCHER],
      ['PostToolUse', TOOL_MATCHER],
      ['PostToolUseFailure', SHELL_MATCHER],
    ],
    // Under `bash`: where there is only PowerShell, `command` would be run by it, fail, and so refuse every call.
    handler: (bash) => ({ type: 'command', bash, timeoutSec: TIMEOUT_S }),
  }),
  title: 'Copilot CLI',
  proven: '1.0.102',
  note: 'Copilot CLI runs the hooks of a project (--project) only in a folder that you have told it to trust',
  instructionsFile: 'AGENTS.md',
  hookShell: 'bash',
  programs: ['copilot'],
  userFolder: folder,
  packageFile: (places) => enabledPlugin([join(folder(places), 'settings.json')]),
  switches(places) {
    const names = ['settings.json', 'settings.local.json'];
    const settings = places.topLevel === undefined ? undefined : join(places.topLevel, '.github', 'copilot');
    const project = settings === undefined ? [] : names.map((name) => join(settings, name));
    return [join(folder(places), 'settings.json'), ...project];
  },
  settingsFile: (scope, places) =>
    userOrProject(
      scope,
      places,
      join(folder(places), 'hooks', 'git-handoff.json'),
      '.github/hooks/git-handoff.json',
    ),
  warnings(text) {
    const settings = isBlank(text) ? undefined : jsonValue(text);
    const isOff = (settings as { disableAllHooks?: unknown } | undefined)?.disableAllHooks === true;
    return isOff ? ['"disableAllHooks" is true: Copilot CLI runs no hook of ours'] : [];
  },
  probe: ({ session, ...call }) => ({
    hook_event_name: 'PreToolUse',
    session_id: session,
    timestamp: new Date().toISOString(),
    ...call,
  }),
};
