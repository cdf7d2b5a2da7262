import { isAbsolute, join, resolve } from 'node:path';
import type { GitRunner } from '../git/run.ts';
import { type InstallScope, guardCommand, isGuardCommand } from './guard-command.ts';
import { type HookEntry, hasHooks, registerHooks, unregisterHooks } from './hook-settings.ts';
import { isBlank, jsonValue, withoutComments } from './json-text.ts';

/** What to type where the program, or a part of it, is not installed. */
export const HOW_TO_INSTALL =
  'in a clone of git-handoff: npm ci && npm run build && npm i -g --install-links .';

/** The folders that settings files lie in. */
export interface SettingsFolders {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the command was started; what a relative path in a variable is relative to. */
  readonly cwd: string;
  /** Top folder of the working tree; undefined in a bare repository. */
  readonly topLevel: string | undefined;
}

/** A call that is made up, to see whether the guard is reached. */
interface ProbeCall {
  readonly session: string;
  readonly cwd: string;
  readonly tool_name: string;
  readonly tool_input: object;
}

/**
 * One row of the table of clients: where a client's settings lie, and how our hooks get in and out of them. Texts are
 * binary strings (one character a byte). How it speaks to a hook is its dialect's affair (src/agents/). `init`, `doctor`,
 * the packages and docs/clients.md are made from these rows.
 */
export interface ClientInstaller {
  readonly client: string;
  /** Its name as its makers write it. */
  readonly title: string;
  /** The version of the client itself that `npm run test:clients` drives; undefined: made after its documentation alone. */
  readonly proven?: string;
  /** What the person has to know once our hooks are registered. */
  readonly note?: string;
  /** It refuses a tool call when a hook ends with any status but 0, whatever the reason. */
  readonly failsClosed?: true;
  /** Its events that start the guard, as it spells them. */
  readonly events: readonly string[];
  /** The file at the top of a working tree whose text the client puts before every session. */
  readonly instructionsFile: string;
  /** Absolute path of the settings file, or undefined where that scope does not exist (no working tree, or not with this client). */
  settingsFile(scope: InstallScope, places: SettingsFolders): string | undefined;
  /** The folder that the client makes when it first runs, where that is not the one of its settings file. */
  userFolder?(places: SettingsFolders): string;
  /** Its settings are written by hand, and may hold comments. */
  readonly comments?: true;
  /** The shell that it hands its hooks to, where that is not the system's: `login`, the user's own as a login shell. */
  readonly hookShell?: 'bash' | 'login';
  /** The programs that it may be installed as. */
  readonly programs: readonly string[];
  /** The file that switches the client's own package of our hooks on (a plugin, an extension); undefined where none does. */
  packageFile?(places: SettingsFolders): string | undefined;
  /** Further files whose settings can switch the client's hooks off; `warnings` reads them, too. */
  switches?(places: SettingsFolders): readonly string[];
  /**
   * The text with our hooks in it; unchanged if it has them. Throws SettingsError.
   *
   * @param options `nudge`: also registers the user's prompts where that needs `--context-nudge`
   */
  register(
    text: string,
    scope: InstallScope,
    launcher: string,
    options?: { readonly nudge?: boolean },
  ): string;
  /** Whether the prompts are registered already, and stay so. Throws SettingsError. */
  isNudged?(text: string): boolean;
  /** The part of the file that is JSON, where not all of it is. */
  settingsIn?(text: string): string;
  /** The text without our hooks. Throws SettingsError. */
  unregister(text: string): string;
  /** What the person should know about settings that keep the hooks from running. */
  warnings(text: string): readonly string[];
  /**
   * A payload before a tool call with the fields that the client itself sends (`fixtures/payloads`): a command line that
   * names another client, or a dialect that cannot read this one's, is found by it.
   */
  probe(call: ProbeCall): object;
}

/** How we know that our hooks work in a client. */
export function testedWith({ title, proven }: Pick<ClientInstaller, 'title' | 'proven'>): string {
  return proven === undefined
    ? `made after its documentation, never tried with ${title} itself`
    : `tested with ${title} ${proven}`;
}

/** What `init` and `uninstall` need to know of the world around them. */
export interface InstallContext {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute folder that holds `bin/` and `git-hooks/`. */
  readonly packageRoot: string;
  /** Absolute path of the running Node. */
  readonly nodePath: string;
  /** Shows the plan and asks; undefined where nobody can answer (no terminal). */
  readonly confirm: ((plan: string) => Promise<boolean>) | undefined;
  readonly git: GitRunner;
  readonly platform: NodeJS.Platform;
}

/** The folder of a client's own settings: the one that a variable names, or one in the home folder. */
export function clientFolder({ env, home, cwd }: SettingsFolders, variable: string, name: string): string {
  const folder = env[variable] || join(home, name);
  return isAbsolute(folder) ? folder : resolve(cwd, folder);
}

/** What a row says of where its client looks. */
interface Row extends Pick<
  ClientInstaller,
  'client' | 'title' | 'proven' | 'note' | 'instructionsFile' | 'comments' | 'hookShell' | 'programs'
> {
  /** The folder of this user's settings. */
  readonly folder: (places: SettingsFolders) => string;
  /** That folder is the one that the client makes when it first runs, and its settings lie in one below. */
  readonly isDeep?: true;
  /** The settings file: below that folder, below the top of a working tree, and for one person there. */
  readonly files: { readonly user: string; readonly project: string; readonly local?: string };
  readonly packageFile?: (folder: string, places: SettingsFolders) => string | undefined;
  readonly probe: (session: string, cwd: string) => object;
}

/** The part of every row that follows from its data. */
export function placesOf({ folder, isDeep, files, packageFile, probe, ...row }: Row) {
  return {
    ...row,
    ...(isDeep ? { userFolder: folder } : {}),
    settingsFile(scope: InstallScope, places: SettingsFolders) {
      if (scope === 'user') return join(folder(places), files.user);
      const name = files[scope];
      return name === undefined || places.topLevel === undefined ? undefined : join(places.topLevel, name);
    },
    ...(packageFile === undefined
      ? {}
      : { packageFile: (places: SettingsFolders) => packageFile(folder(places), places) }),
    probe: ({ session, ...call }: ProbeCall) => ({ ...probe(session, call.cwd), ...call }),
  };
}

/** A row of a client whose hooks are entries in a JSON file. */
interface JsonRow extends Row {
  readonly failsClosed?: true;
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
  /** What keeps its hooks from running, in settings that were read. */
  readonly off?: (settings: Readonly<Record<string, unknown>>) => string | undefined;
  readonly switches?: (folder: string, places: SettingsFolders) => readonly string[];
}

export function jsonClient({
  registrations,
  onNudge = [],
  handler,
  flat,
  version,
  off,
  switches,
  failsClosed,
  ...row
}: JsonRow): ClientInstaller {
  const { client, comments } = row;
  const isOurs = isGuardCommand(client);
  const format = { ...(version === undefined ? {} : { version }), ...(comments ? { comments } : {}) };
  const guarded = { client, ...(failsClosed ? { failsClosed } : {}) };
  const entries = (scope: InstallScope, launcher: string, nudge: boolean) => {
    const command = guardCommand(guarded, scope, launcher);
    const nudges = onNudge.map((event): [string, string?] => [event]);
    return [...registrations, ...(nudge ? nudges : [])].map(([event, matcher]): HookEntry => {
      const more = { ...(matcher === undefined ? {} : { matcher }), ...(flat ? { flat } : {}) };
      return { event, handler: handler(command, event), ...more };
    });
  };
  return {
    ...placesOf(row),
    ...guarded,
    ...(switches === undefined ? {} : { switches: (places) => switches(row.folder(places), places) }),
    events: registrations.map(([event]) => event),
    register: (text, scope, launcher, { nudge = false } = {}) =>
      registerHooks(text, entries(scope, launcher, nudge), isOurs, format),
    isNudged: (text) => onNudge.some((event) => hasHooks(text, event, isOurs, format)),
    unregister: (text) => unregisterHooks(text, isOurs, format),
    warnings(text) {
      const settings = isBlank(text) ? undefined : jsonValue(comments ? withoutComments(text) : text);
      const why = off?.((settings ?? {}) as Record<string, unknown>);
      return why === undefined ? [] : [why];
    },
  };
}
