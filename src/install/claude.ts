import { isAbsolute, join, resolve } from 'node:path';
import type { ClientInstaller, Places, Scope } from './client.ts';
import { type HookEntry, registerHooks, unregisterHooks } from './hook-settings.ts';
import { isBlank, jsonValue } from './json-text.ts';
import { shellQuote } from './shell-quote.ts';

/** Tools that can change a file or run a command; anchored, because Claude Code tests a regex unanchored. */
const TOOL_MATCHER = '^(Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|mcp__.*)$';

/** Seconds; the guard ends itself long before. Claude Code's own default would be ten minutes. */
const TIMEOUT_S = 10;

const REGISTRATIONS: readonly (readonly [event: string, matcher?: string])[] = [
  ['SessionStart'],
  ['SessionEnd'],
  ['Stop'],
  ['SubagentStart'],
  ['SubagentStop'],
  ['PreToolUse', TOOL_MATCHER],
  ['PostToolUse', TOOL_MATCHER],
  ['PostToolUseFailure', 'Bash'],
];

const GUARD = 'guard --client claude';

/**
 * The command that Claude Code starts. It exits 0 in silence when the package is gone: any other end of a
 * hook is shown to the person at every tool call. A project's settings are shared, so they look on PATH.
 */
export function claudeCommand(scope: Scope, launcher: string): string {
  if (scope === 'project')
    return `command -v git-handoff >/dev/null 2>&1 || exit 0; exec git-handoff ${GUARD}`;
  return `p=${shellQuote(launcher)}; [ -x "$p" ] || exit 0; exec "$p" ${GUARD}`;
}

function isOurs(command: string): boolean {
  return command.includes('git-handoff') && command.includes(` ${GUARD}`);
}

function entries(scope: Scope, launcher: string): HookEntry[] {
  const handler = { type: 'command', command: claudeCommand(scope, launcher), timeout: TIMEOUT_S };
  return REGISTRATIONS.map(([event, matcher]) =>
    matcher === undefined ? { event, handler } : { event, matcher, handler },
  );
}

function settingsFile(scope: Scope, places: Places): string | undefined {
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
  settingsFile,
  register: (text, scope, launcher) => registerHooks(text, entries(scope, launcher), isOurs),
  unregister: (text) => unregisterHooks(text, isOurs),
  warnings(text) {
    const settings = isBlank(text) ? undefined : jsonValue(text);
    if ((settings as { disableAllHooks?: unknown } | undefined)?.disableAllHooks !== true) return [];
    return ['"disableAllHooks" is true in these settings: Claude Code runs no hook, so nothing is guarded'];
  },
};
