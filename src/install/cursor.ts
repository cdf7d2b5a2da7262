import { join } from 'node:path';
import type { ClientInstaller, InstallScope } from './client.ts';
import { guardCommand, isGuardCommand } from './guard-command.ts';
import { type HookEntry, registerHooks, unregisterHooks } from './hook-settings.ts';

/** Tools that can change a file or run a command. Not anchored: names joined by bars are the form that is documented. */
const TOOL_MATCHER = 'Shell|Write|Edit|MultiEdit|StrReplace|TabWrite|EditNotebook|NotebookEdit|Delete|MCP:.*';

/** Seconds; the guard ends itself long before. */
const TIMEOUT_S = 10;

const REGISTRATIONS: readonly (readonly [event: string, matcher?: string])[] = [
  ['sessionStart'],
  ['sessionEnd'],
  ['stop'],
  ['preCompact'],
  ['preToolUse', TOOL_MATCHER],
  ['postToolUse', TOOL_MATCHER],
  ['postToolUseFailure', 'Shell'],
];

/** The version of the file's format. */
const FORMAT = { version: 1 } as const;

const isOurs = isGuardCommand('cursor');

function entries(scope: InstallScope, launcher: string): HookEntry[] {
  const handler = { command: guardCommand('cursor', scope, launcher), timeout: TIMEOUT_S };
  return REGISTRATIONS.map(([event, matcher]) =>
    matcher === undefined ? { event, handler, flat: true } : { event, matcher, handler, flat: true },
  );
}

/** Cursor: `hooks.json` in its folder, the user's or the project's. It has no settings for one person in one project. */
export const cursorInstaller: ClientInstaller = {
  client: 'cursor',
  title: 'Cursor',
  instructionsFile: 'AGENTS.md',
  programs: ['cursor', 'cursor-agent'],
  settingsFile(scope, places) {
    if (scope === 'user') return join(places.home, '.cursor', 'hooks.json');
    if (scope === 'local' || places.topLevel === undefined) return undefined;
    return join(places.topLevel, '.cursor', 'hooks.json');
  },
  register: (text, scope, launcher) => registerHooks(text, entries(scope, launcher), isOurs, FORMAT),
  unregister: (text) => unregisterHooks(text, isOurs),
  warnings: (_, isNew) =>
    isNew ? ['Cursor: made after its documentation, never tried with Cursor itself'] : [],
};
