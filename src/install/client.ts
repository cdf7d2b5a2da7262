import { join, resolve } from 'node:path';
import type { GitRunner } from '../git/run.ts';
import { type InstallScope, guardCommand, isGuardCommand } from './guard-command.ts';
import { type HookEntry, guardHooks, jsonSettings, registerHooks, unregisterHooks } from './hook-settings.ts';

/** The commands that install the program, for hints when it is missing or incomplete. */
export const HOW_TO_INSTALL =
  'in a clone of git-handoff: npm ci && npm run build && npm i -g --install-links .';

export interface SettingsFolders {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the command was started. A relative path in an environment variable is resolved against it. */
  readonly cwd: string;
  /** Top folder of the working tree; undefined in a bare repository. */
  readonly topLevel: string | undefined;
}

interface Row {
  readonly client: string;
  /** The client's name as its makers write it. */
  readonly title: string;
  /** The version of the client that `npm run test:clients` drives; undefined when we only have its documentation. */
  readonly proven?: string;
  /** What we tell a person after registering our hooks. */
  readonly note?: string;
  /** Whether the client refuses a tool call when a hook ends with any status but 0, whatever the reason. */
  readonly failsClosed?: true;
  /** The file at the top of a working tree whose text the client gives to every session. */
  readonly instructionsFile: string;
  /** Whether the client accepts comments in its settings file. */
  readonly comments?: true;
  /** The shell that runs the client's hooks, if not `/bin/sh`; `login` is the user's login shell. */
  readonly hookShell?: 'bash' | 'login';
  readonly programs: readonly string[];
  /** The folder of this user's settings and skills, which the client makes when it first runs. */
  readonly folder: (places: SettingsFolders) => string;
  /** The settings file's path: for `user` below `folder`, for `project` and `local` below the top of the working tree. */
  readonly files: { readonly user: string; readonly project: string; readonly local?: string };
  /** The file that switches on our plugin or extension for this client; undefined if none does. */
  readonly packageFile?: (folder: string, places: SettingsFolders) => string | undefined;
  /** Further files whose settings can switch the client's hooks off; `warnings` reads them, too. */
  readonly switches?: (folder: string, places: SettingsFolders) => readonly string[];
  /**
   * The fields that the client sends before a tool call (`fixtures/payloads`), except `cwd` and those of the tool. `doctor` sends
   * them to a registered hook, to see whether the guard takes them for a call of this client.
   */
  readonly probe: (session: string, cwd: string) => object;
}

/**
 * A row of the table of clients: where a client's settings lie, and how our hooks get in and out of them. Texts are binary
 * strings (one character per byte). The client's dialect (src/agents/) reads what the client sends.
 */
export interface ClientInstaller extends Row {
  /** The client's events that start the guard, as the client spells them. */
  readonly events: readonly string[];
  /**
   * The text with our hooks in it; unchanged if it has them already. With `nudge` (`--context-nudge`), also registers the
   * events that are registered only with that option. Throws SettingsError.
   */
  register(text: string, scope: InstallScope, launcher: string, nudge?: boolean): string;
  /** Whether the events of `--context-nudge` are registered already; `init` then keeps them. Throws SettingsError. */
  isNudged?(text: string): boolean;
  /** The hooks of a settings file as JSON, for a client whose file is not JSON. */
  settingsIn?(text: string): string;
  /** The text without our hooks. Throws SettingsError. */
  unregister(text: string): string;
  /** Notices for the person about settings that keep the hooks from running. Throws SettingsError. */
  warnings(text: string): readonly string[];
}

/** How we know that our hooks work in a client. */
export function testedWith({ title, proven }: Pick<ClientInstaller, 'title' | 'proven'>): string {
  return proven === undefined
    ? `written from its documentation, never tried with ${title} itself`
    : `tested with ${title} ${proven}`;
}

export interface InstallContext {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute folder that holds `bin/` and `git-hooks/`. */
  readonly packageRoot: string;
  /** Absolute path of the running Node. */
  readonly nodePath: string;
  /** Shows the plan and asks; undefined if nobody can answer (no terminal). */
  readonly confirm: ((plan: string) => Promise<boolean>) | undefined;
  readonly git: GitRunner;
  readonly platform: NodeJS.Platform;
}

/** The folder of a client's settings: named by an environment variable, or else in the home folder. */
export function clientFolder({ env, home, cwd }: SettingsFolders, variable: string, name: string): string {
  return resolve(cwd, env[variable] || join(home, name));
}

/** The settings file's absolute path; undefined if there is no working tree, or the client has no such scope. */
export function settingsFile(
  { folder, files }: Pick<Row, 'folder' | 'files'>,
  scope: InstallScope,
  places: SettingsFolders,
): string | undefined {
  if (scope === 'user') return join(folder(places), files.user);
  const name = files[scope];
  return name === undefined || places.topLevel === undefined ? undefined : join(places.topLevel, name);
}

/** The file that switches on our plugin or extension for a client; undefined if none does. */
export const packageFile = (
  installer: Pick<Row, 'folder' | 'packageFile'>,
  places: SettingsFolders,
): string | undefined => installer.packageFile?.(installer.folder(places), places);

interface JsonRow extends Row {
  /** The events that start the guard, besides those of tools. */
  readonly events: readonly string[];
  /** The events of tools, each with a matcher for the tools' names. */
  readonly toolEvents: Readonly<Record<string, string>>;
  /** Further events, registered only with `--context-nudge`. */
  readonly onNudge?: readonly string[];
  readonly handler: (command: string, event: string) => HookEntry['handler'];
  /** Whether the client lists handlers directly under an event, not in groups. */
  readonly flat?: true;
  /** The `"version"` that the client requires. */
  readonly version?: number;
  /** Returns why these settings keep the client's hooks from running; undefined if they do not. */
  readonly off?: (settings: Readonly<Record<string, unknown>>) => string | undefined;
}

export function jsonClient(json: JsonRow): ClientInstaller {
  const { events, toolEvents, onNudge = [], handler, flat, version, off, ...row } = json;
  const { client, comments } = row;
  const isOurs = isGuardCommand(client);
  const format = { version, comments };
  return {
    ...row,
    events: [...events, ...Object.keys(toolEvents)],
    register(text, scope, launcher, nudge = false) {
      const command = guardCommand(row, scope, launcher);
      const all = [...events, ...Object.keys(toolEvents), ...(nudge ? onNudge : [])];
      const entries = all.map((event) => {
        return { event, matcher: toolEvents[event], handler: handler(command, event), flat };
      });
      return registerHooks(text, entries, isOurs, format);
    },
    isNudged: (text) =>
      guardHooks(jsonSettings(text, format)).some(
        ({ event, command }) => onNudge.includes(event) && isOurs(command),
      ),
    unregister: (text) => unregisterHooks(text, isOurs, format),
    warnings(text) {
      const why = off?.(jsonSettings(text, format));
      return why === undefined ? [] : [why];
    },
  };
}
