import { shellQuote } from './guard-command.ts';
import { type GitHook, GIT_HOOKS, shimPath } from './hook-block.ts';

/**
 * Hooks in git's config (git-config(1), `hook.<name>.command` and `.event`, since git 2.54): used where we may not change the
 * hook's file. git runs all of them, even if one fails, and then the hook's file; `-n` skips both. Pure.
 */

/** Whether a git with this output of `--version` runs hooks from its config; older ones ignore the keys. */
export function runsConfigHooks(version: string): boolean {
  const [, major = '0', minor = '0'] = /(\d{1,6})\.(\d{1,6})/.exec(version) ?? [];
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 54);
}

/** The `<name>` in `hook.<name>`; git rejects one that is also the name of an event. */
export function configHookName(hook: GitHook): string {
  return `handoff-${hook}`;
}

/**
 * The command that git runs: a shell function, because git appends the hook's arguments. It first checks that the package still
 * exists: git treats a missing command as a refusal, but a removed package must not stop a commit.
 */
export function configHookCommand(hook: GitHook, packageRoot: string): string {
  const shim = shellQuote(shimPath(packageRoot, hook));
  const run = `GIT_HANDOFF_GIT_PID=$PPID ${shim} "$@"`;
  if (hook !== 'prepare-commit-msg') return `handoff_hook() { [ ! -x ${shim} ] || ${run}; }; handoff_hook`;
  const notice = `printf '%s\\n' "git-handoff is not at "${shim}" any more; going on without it" >&2`;
  return `handoff_hook() { if [ -x ${shim} ]; then ${run}; else ${notice}; fi; }; handoff_hook`;
}

export type ConfigHooks = ReadonlyMap<
  GitHook,
  { readonly commands: readonly string[]; readonly events: readonly string[] }
>;

/** Reads what `git config -z --get-regexp '^hook\.handoff-'` printed. */
export function parseConfigHooks(output: string): ConfigHooks {
  const found = new Map<GitHook, { commands: string[]; events: string[] }>();
  for (const entry of output.split('\0').slice(0, -1)) {
    const end = entry.indexOf('\n');
    const [key, value] = end < 0 ? [entry, ''] : [entry.slice(0, end), entry.slice(end + 1)];
    const hook = GIT_HOOKS.find((name) => key.startsWith(`hook.${configHookName(name)}.`));
    if (hook === undefined) continue;
    const entries = found.get(hook) ?? { commands: [], events: [] };
    if (key.endsWith('.command')) entries.commands.push(value);
    if (key.endsWith('.event')) entries.events.push(value);
    found.set(hook, entries);
  }
  return found;
}

/** Whether the config holds a hook exactly as we would write it now. */
export function isConfigHookCurrent(present: ConfigHooks, hook: GitHook, packageRoot: string): boolean {
  const { commands = [], events = [] } = present.get(hook) ?? {};
  return commands.join('\0') === configHookCommand(hook, packageRoot) && events.join('\0') === hook;
}
