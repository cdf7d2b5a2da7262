import type { CommandTest } from './hook-settings.ts';

/** Where a client's hooks are registered: for this user, for everybody in the project, or for this user in the project. */
export type InstallScope = 'user' | 'project' | 'local';

interface GuardedClient {
  readonly client: string;
  /** Whether the client refuses a tool call when a hook ends with any status but 0, whatever the reason. */
  readonly failsClosed?: true;
}

/**
 * The command that a client starts for its events. It exits silently with 0 when the package is gone, because a client shows
 * any other status at every tool call, or takes it for a refusal. A project's settings are shared between machines, so their
 * command finds git-handoff on PATH. If a release changes the command, Codex asks its users to trust the hook again.
 */
export function guardCommand(
  { client, failsClosed }: GuardedClient,
  scope: InstallScope,
  launcher: string,
): string {
  const [find, program] =
    scope === 'project'
      ? ['command -v git-handoff >/dev/null 2>&1 || exit 0;', 'git-handoff']
      : [`p=${shellQuote(launcher)}; [ -x "$p" ] || exit 0;`, '"$p"'];
  const guard = `${program} guard --client ${client}`;
  // In a client that fails closed, a killed launcher or another program of our name must not block calls.
  return failsClosed === true ? `${find} ${guard} --client-pid $PPID || exit 0` : `${find} exec ${guard}`;
}

/** Returns a test for commands that any release's `guardCommand` has made for a client. */
export function isGuardCommand(client: string): CommandTest {
  return (command) => command.includes('git-handoff') && `${command} `.includes(` guard --client ${client} `);
}

/**
 * Whether `doctor` may run a registered command line. In the user's own settings it may run any command. In the working tree,
 * whose files come with the repository, it may run only the command that `init` writes.
 */
export function isHarmless(
  hook: { readonly scope: InstallScope; readonly command: string },
  client: GuardedClient,
  launcher: string,
): boolean {
  return hook.scope === 'user' || hook.command === guardCommand(client, hook.scope, launcher);
}

/**
 * Quotes any word for a POSIX shell, even one that needs no quotes, so that stored commands have one form. (Words that people
 * see go through `shellWord`, which writes control characters as bash does.)
 */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
