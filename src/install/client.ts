/** Where a client's hooks are registered: for this user, for everybody in the project, for this user in it. */
export type InstallScope = 'user' | 'project' | 'local';

/** The folders that settings files lie in. */
export interface SettingsFolders {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the command was started; what a relative path in a variable is relative to. */
  readonly cwd: string;
  /** Top folder of the working tree; undefined in a bare repository. */
  readonly topLevel: string | undefined;
}

/**
 * One client's settings: where they lie, and how our hooks get in and out of them. Texts are binary strings
 * (one character a byte). Another client is one more object of this type in its own file.
 */
export interface ClientInstaller {
  readonly client: string;
  /** Its name as its makers write it. */
  readonly title: string;
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
  /** The text with our hooks in it; the same text when they stand there already. Throws SettingsError. */
  register(text: string, scope: InstallScope, launcher: string): string;
  /** The text without our hooks. Throws SettingsError. */
  unregister(text: string): string;
  /**
   * What the person should know about settings that keep the hooks from running.
   *
   * @param isNew whether the hooks are registered, or registered differently, just now
   */
  warnings(text: string, isNew: boolean): readonly string[];
}
