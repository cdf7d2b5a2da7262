import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ClientInstaller, Places, Scope } from './client.ts';

/** A command line of ours that a client's settings register. */
export interface RegisteredHook {
  readonly client: string;
  readonly scope: Scope;
  readonly file: string;
  readonly command: string;
}

const SCOPES: readonly Scope[] = ['user', 'project', 'local'];
/** Longer than the guard's own deadline by the start of a slow machine. Milliseconds. */
const TIMEOUT_MS = 5000;

/** Every command line with our guard in it, of all settings files that exist and parse. */
export function registeredHooks(installer: ClientInstaller, places: Places): RegisteredHook[] {
  const seen = new Set<string | undefined>();
  return SCOPES.flatMap((scope) => {
    const file = installer.settingsFile(scope, places);
    // The home folder may be a working tree itself.
    const commands = file === undefined || seen.has(file) ? [] : [...new Set(commandsIn(readJson(file)))];
    seen.add(file);
    return commands.map((command) => ({ client: installer.client, scope, file: file ?? '', command }));
  });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/** Copilot CLI's entries name the shell. */
const COMMAND_KEYS: ReadonlySet<string> = new Set(['command', 'bash']);

/** Command lines anywhere below, of entries that start our guard. */
function commandsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (!COMMAND_KEYS.has(key) || typeof inner !== 'string') return commandsIn(inner);
    const at = inner.indexOf('git-handoff');
    return at >= 0 && / guard\b/.test(inner.slice(at)) ? [inner] : [];
  });
}

/** Runs a registered command line as its client would, with a payload on stdin. Its exit status and output. */
export function fireHook(
  hook: RegisteredHook,
  payload: object,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): { status: number | null; stdout: string } {
  const { status, stdout } = spawnSync('/bin/sh', ['-c', hook.command], {
    ...options,
    input: JSON.stringify(payload),
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });
  return { status, stdout };
}
