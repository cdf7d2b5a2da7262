import { spawnSync } from 'node:child_process';
import { CALL_MS } from '../host/io.ts';
import type { ClientInstaller, SettingsFolders } from './client.ts';
import { readSettingsText } from './client-packages.ts';
import type { InstallScope } from './guard-command.ts';
import { isBlank, jsonValue, withoutComments } from './json-text.ts';

/** A command line of ours that a client's settings register. */
export interface RegisteredHook {
  readonly client: string;
  readonly scope: InstallScope;
  readonly file: string;
  readonly command: string;
}

/** One settings file of a client, as it is on the disk. */
export interface ClientSettings {
  readonly scope: InstallScope;
  readonly file: string;
  /** As a binary string, for the installers. */
  readonly text: string;
  /** Why the file cannot be read; the client then runs no hook from it. */
  readonly broken: string | undefined;
  readonly hooks: readonly RegisteredHook[];
  /** The events that `init` registers and that this file lacks; empty if the file has no hook of ours. */
  readonly missingEvents: readonly string[];
}

const SCOPES: readonly InstallScope[] = ['user', 'project', 'local'];

/** The settings files of a client that exist, with every command line of ours in them. */
export function readClientSettings(installer: ClientInstaller, places: SettingsFolders): ClientSettings[] {
  const seen = new Set<string>();
  return SCOPES.flatMap((scope) => {
    const file = installer.settingsFile(scope, places);
    // The home folder may be a working tree itself.
    if (file === undefined || seen.has(file)) return [];
    seen.add(file);
    const text = readSettingsText(file);
    return text === undefined ? [] : [settingsOf(installer, scope, file, text)];
  });
}

function settingsOf(
  installer: ClientInstaller,
  scope: InstallScope,
  file: string,
  text: string,
): ClientSettings {
  const { client, comments } = installer;
  const parsed = parse(comments === true ? withoutComments(text) : (installer.settingsIn?.(text) ?? text));
  const commands = [...new Set(commandsIn(parsed.value))];
  const hooks = commands.map((command) => ({ client, scope, file, command }));
  const wanted = hooks.length === 0 ? [] : installer.events;
  const present = eventsIn(parsed.value);
  const missingEvents = wanted.filter((event) => !present.includes(event));
  return { scope, file, text, broken: parsed.error, hooks, missingEvents };
}

function parse(text: string): { value: unknown; error: string | undefined } {
  try {
    return { value: isBlank(text) ? undefined : jsonValue(text), error: undefined };
  } catch (error) {
    return { value: undefined, error: (error as Error).message };
  }
}

/** The keys that hold a command line; Copilot CLI names the key after the shell. */
const COMMAND_KEYS: ReadonlySet<string> = new Set(['command', 'bash']);

/** The command lines that start our guard, at any depth of the settings. */
function commandsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (!COMMAND_KEYS.has(key) || typeof inner !== 'string') return commandsIn(inner);
    const at = inner.indexOf('git-handoff');
    return at >= 0 && / guard\b/.test(inner.slice(at)) ? [inner] : [];
  });
}

function eventsIn(settings: unknown): string[] {
  const hooks = (settings as { hooks?: unknown } | undefined)?.hooks;
  if (typeof hooks !== 'object' || hooks === null) return [];
  return Object.entries(hooks).flatMap(([event, groups]) => (commandsIn(groups).length > 0 ? [event] : []));
}

/** Runs a registered command line as its client would, with a payload on stdin, for at most ten seconds. Returns its status. */
export function fireHook(
  hook: RegisteredHook,
  { hookShell = '/bin/sh' }: { readonly hookShell?: string },
  payload: object,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): { status: number | null; shell: string } {
  const isLogin = hookShell === 'login';
  const shell = isLogin ? options.env['SHELL'] || '/bin/sh' : hookShell;
  const { status } = spawnSync(shell, [isLogin ? '-lc' : '-c', hook.command], {
    ...options,
    input: JSON.stringify(payload),
    encoding: 'utf8',
    timeout: CALL_MS + 2000,
  });
  return { status, shell };
}

/** The tool that `doctor` pretends to call, to see whether a registered command line reaches the guard. */
export const PROBE_TOOL = 'git-handoff-doctor-probe';
