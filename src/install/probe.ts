import { spawnSync } from 'node:child_process';
import { CALL_MS } from '../host/io.ts';
import { type ClientInstaller, type SettingsFolders, settingsFile } from './client.ts';
import { readSettingsText } from './client-packages.ts';
import type { InstallScope } from './guard-command.ts';
import { SettingsError, guardHooks, jsonSettings } from './hook-settings.ts';

/** A command line of ours that a client's settings register. */
export interface RegisteredHook {
  readonly scope: InstallScope;
  readonly file: string;
  readonly command: string;
}

export interface ClientSettings {
  readonly scope: InstallScope;
  readonly file: string;
  /** A binary string. */
  readonly text: string;
  /** Why the file cannot be read; the client then runs no hook from it. */
  readonly broken?: string;
  readonly hooks: readonly RegisteredHook[];
  /** The events that `init` registers and that this file lacks; empty if the file has no hook of ours. */
  readonly missingEvents: readonly string[];
}

const SCOPES: readonly InstallScope[] = ['user', 'project', 'local'];

/** The settings files of a client that exist, with every command line of ours in them. */
export function readClientSettings(installer: ClientInstaller, places: SettingsFolders): ClientSettings[] {
  const seen = new Set<string>();
  return SCOPES.flatMap((scope) => {
    const file = settingsFile(installer, scope, places);
    // If the home folder is a working tree itself, two scopes have the same file.
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
  try {
    const found = guardHooks(jsonSettings(installer.settingsIn?.(text) ?? text, installer));
    const commands = [...new Set(found.map(({ command }) => command))];
    const hooks = commands.map((command) => ({ scope, file, command }));
    const isMissing = (event: string) => found.length > 0 && !found.some((one) => one.event === event);
    return { scope, file, text, hooks, missingEvents: installer.events.filter(isMissing) };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { scope, file, text, broken: error.message, hooks: [], missingEvents: [] };
  }
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
