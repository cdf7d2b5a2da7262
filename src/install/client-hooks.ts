import { isAbsolute, join, resolve } from 'node:path';
import type { ClientInstaller, InstallScope, SettingsFolders } from './client.ts';
import { guardCommand, isGuardCommand } from './guard-command.ts';
import { type HookEntry, hasHooks, registerHooks, unregisterHooks } from './hook-settings.ts';

/* What the rows of clients with hooks in a JSON file have in common. */

/** Of a client whose hooks are entries in a JSON file. */
interface JsonHooks extends Pick<ClientInstaller, 'client' | 'failsClosed' | 'comments'> {
  /** The events, with the tools that the guard is asked about, where an event has any. */
  readonly registrations: readonly (readonly [event: string, matcher?: string])[];
  /** Events that `init` registers only with `--context-nudge`. */
  readonly onNudge?: readonly string[];
  /** What the client runs at one of them. */
  readonly handler: (command: string, event: string) => HookEntry['handler'];
  /** Its lists hold handlers, not groups of them. */
  readonly flat?: true;
  /** What it wants to see as `"version"`. */
  readonly version?: number;
}

type Registered = Pick<
  ClientInstaller,
  'client' | 'failsClosed' | 'comments' | 'events' | 'register' | 'isNudged' | 'unregister'
>;

/** The part of a row that puts hooks into such a file, and takes them out. */
export function jsonHooks({
  registrations,
  onNudge = [],
  handler,
  flat,
  version,
  ...row
}: JsonHooks): Registered {
  const isOurs = isGuardCommand(row.client);
  const { comments } = row;
  const format = { ...(version === undefined ? {} : { version }), ...(comments ? { comments } : {}) };
  const entries = (scope: InstallScope, launcher: string, nudge: boolean) => {
    const command = guardCommand(row, scope, launcher);
    const nudges = onNudge.map((event): [string, string?] => [event]);
    return [...registrations, ...(nudge ? nudges : [])].map(([event, matcher]): HookEntry => {
      const more = { ...(matcher === undefined ? {} : { matcher }), ...(flat ? { flat } : {}) };
      return { event, handler: handler(command, event), ...more };
    });
  };
  return {
    ...row,
    events: registrations.map(([event]) => event),
    register: (text, scope, launcher, { nudge = false } = {}) =>
      registerHooks(text, entries(scope, launcher, nudge), isOurs, format),
    isNudged: (text) => onNudge.some((event) => hasHooks(text, event, isOurs, format)),
    unregister: (text) => unregisterHooks(text, isOurs, format),
  };
}

/** The folder of a client's own settings: the one that a variable names, or one in the home folder. */
export function clientFolder({ env, home, cwd }: SettingsFolders, variable: string, name: string): string {
  const folder = env[variable] || join(home, name);
  return isAbsolute(folder) ? folder : resolve(cwd, folder);
}

/** The file of a client that has no settings for one person in one project: the user's, or one in the working tree. */
export function userOrProject(
  scope: InstallScope,
  { topLevel }: SettingsFolders,
  user: string,
  project: string,
): string | undefined {
  if (scope === 'user') return user;
  return scope === 'local' || topLevel === undefined ? undefined : join(topLevel, project);
}
