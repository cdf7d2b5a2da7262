import { join } from 'node:path';
import type { ClientInstaller, SettingsFolders } from './client.ts';
import { clientFolder, jsonHooks, userOrProject } from './client-hooks.ts';
import { codexPlugin } from './client-packages.ts';

/** Every shell tool of Codex is told as `Bash`; a pattern with other than word characters is a regex. */
const TOOL_MATCHER = '^(Bash|apply_patch|mcp__.*)$';

/** Seconds; the guard ends itself long before. */
const TIMEOUT_S = 10;
/** Codex's own limit for this event; it complains about more. Seconds. */
const SESSION_END_TIMEOUT_S = 3;

function folder(places: SettingsFolders): string {
  return clientFolder(places, 'CODEX_HOME', '.codex');
}

/** Codex CLI: `hooks.json` beside its `config.toml`. */
export const codexInstaller: ClientInstaller = {
  ...jsonHooks({
    client: 'codex',
    registrations: [
      ['SessionStart'],
      ['SessionEnd'],
      ['Stop'],
      ['PreCompact'],
      ['SubagentStart'],
      ['PreToolUse', TOOL_MATCHER],
      ['PostToolUse', TOOL_MATCHER],
    ],
    // The user must trust each hook, so a new one asks again.
    onNudge: ['UserPromptSubmit'],
    handler(command, event) {
      const timeout = event === 'SessionEnd' ? SESSION_END_TIMEOUT_S : TIMEOUT_S;
      return { type: 'command', command, timeout };
    },
  }),
  title: 'Codex CLI',
  proven: '0.169.0',
  note: 'Codex runs a hook only when you have trusted it: start codex, type /hooks, trust ours, once',
  instructionsFile: 'AGENTS.md',
  hookShell: 'login',
  programs: ['codex'],
  packageFile: (places) => codexPlugin(join(folder(places), 'config.toml')),
  settingsFile: (scope, places) =>
    userOrProject(scope, places, join(folder(places), 'hooks.json'), '.codex/hooks.json'),
  warnings: () => [],
  probe: ({ session, ...call }) => ({
    session_id: session,
    turn_id: session,
    transcript_path: null,
    model: '',
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_use_id: session,
    ...call,
  }),
};
