import { isAbsolute, join, resolve } from 'node:path';
import type { ClientInstaller, SettingsFolders, InstallScope } from './client.ts';
import { codexPlugin } from './client-packages.ts';
import { guardCommand, isGuardCommand } from './guard-command.ts';
import { type HookEntry, registerHooks, unregisterHooks } from './hook-settings.ts';

/** Every shell tool of Codex is told as `Bash`; a pattern with other than word characters is a regex. */
const TOOL_MATCHER = '^(Bash|apply_patch|mcp__.*)$';

/** Seconds; the guard ends itself long before. */
const TIMEOUT_S = 10;
/** Codex's own limit for this event; it complains about more. Seconds. */
const SESSION_END_TIMEOUT_S = 3;

const REGISTRATIONS: readonly (readonly [event: string, matcher?: string])[] = [
  ['SessionStart'],
  ['SessionEnd'],
  ['Stop'],
  ['PreCompact'],
  ['SubagentStart'],
  ['PreToolUse', TOOL_MATCHER],
  ['PostToolUse', TOOL_MATCHER],
];

const isOurs = isGuardCommand('codex');

function entries(scope: InstallScope, launcher: string): HookEntry[] {
  const command = guardCommand('codex', scope, launcher);
  return REGISTRATIONS.map(([event, matcher]) => {
    const timeout = event === 'SessionEnd' ? SESSION_END_TIMEOUT_S : TIMEOUT_S;
    const handler = { type: 'command', command, timeout };
    return matcher === undefined ? { event, handler } : { event, matcher, handler };
  });
}

function home(places: SettingsFolders): string {
  const folder = places.env['CODEX_HOME'] || join(places.home, '.codex');
  return isAbsolute(folder) ? folder : resolve(places.cwd, folder);
}

/** Codex CLI: `hooks.json` beside its `config.toml`. It has no settings for one person in one project. */
export const codexInstaller: ClientInstaller = {
  client: 'codex',
  title: 'Codex CLI',
  instructionsFile: 'AGENTS.md',
  hookShell: 'login',
  programs: ['codex'],
  packageFile: (places) => codexPlugin(join(home(places), 'config.toml')),
  settingsFile(scope, places) {
    if (scope === 'user') return join(home(places), 'hooks.json');
    if (scope === 'local' || places.topLevel === undefined) return undefined;
    return join(places.topLevel, '.codex', 'hooks.json');
  },
  register: (text, scope, launcher) => registerHooks(text, entries(scope, launcher), isOurs),
  unregister: (text) => unregisterHooks(text, isOurs),
  warnings: (_, isNew) =>
    isNew
      ? ['Codex runs a hook only when you have trusted it: start codex, type /hooks, trust ours, once']
      : [],
};
