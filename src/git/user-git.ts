import { withoutStray } from './environment.ts';
import { type GitResult, startGit } from './run.ts';

/** Runs git with the user's configuration, hooks, filters, signing and editor, all of which run.ts switches off for us. */

interface UserGitOptions {
  readonly cwd: string;
  /** Variables on top of the user's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** `quiet` shows nothing; `terminal` gives git the terminal and reads no stdout; a function gets stderr, even that of hooks. */
  readonly show: 'quiet' | 'terminal' | ((output: Uint8Array) => void);
}

/** Runs one git process to its end. A non-zero exit is a value, not an exception. */
export async function userGit(
  args: readonly string[],
  { show, env, ...options }: UserGitOptions,
): Promise<GitResult> {
  // An interrupt is for the editor and git; we clean up what they leave.
  const ignore = () => undefined;
  if (show === 'terminal') process.on('SIGINT', ignore);
  try {
    return await startGit(args, {
      ...options,
      env: { ...userEnvironment(process.env), ...env },
      hasTerminal: show === 'terminal',
      onError: (output) => {
        if (typeof show === 'function' && !isLockMessage(output.toString('latin1'))) show(output);
      },
    });
  } finally {
    process.off('SIGINT', ignore);
  }
}

/** Whether git gave up because another git held the index. Understands git's message in any language. */
export function isLocked({ code, stderr }: GitResult): boolean {
  return code === 128 && isLockMessage(stderr);
}

function isLockMessage(text: string): boolean {
  return /^\S+: .*(?:index|handoff-index\.\d+\.[\w-]+)\.lock/m.test(text);
}

/** Settings that Gemini CLI empties for git in its shell. */
const GEMINI_EMPTIES = new Set([
  'core.hookspath',
  'core.fsmonitor',
  'core.sshcommand',
  'credential.helper',
  'core.editor',
  'sequence.editor',
  'diff.external',
]);

/**
 * The user's environment for git, without stray variables. Gemini CLI's shell hides the user's configuration from git and empties
 * `core.hooksPath`, so that no hook runs: we undo both where we recognise them.
 */
export function userEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const entries = configEntries(env);
  const scrubbed = entries.some(({ key, value }) => key.toLowerCase() === 'core.hookspath' && value === '');
  if (env['GEMINI_CLI'] !== '1' || !scrubbed) return withoutStray(env);
  const kept = entries.filter(({ key, value }) => value !== '' || !GEMINI_EMPTIES.has(key.toLowerCase()));
  const restored = Object.fromEntries(
    Object.entries(withoutStray(env)).filter(
      ([name]) => !/^GIT_CONFIG_(?:COUNT|(?:KEY|VALUE)_\d+)$/.test(name),
    ),
  );
  for (const name of ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM']) {
    if (restored[name] === '/dev/null') restored[name] = undefined;
  }
  restored['GIT_CONFIG_NOSYSTEM'] = undefined;
  if (kept.length > 0) restored['GIT_CONFIG_COUNT'] = String(kept.length);
  for (const [n, { key, value }] of kept.entries()) {
    restored[`GIT_CONFIG_KEY_${n}`] = key;
    restored[`GIT_CONFIG_VALUE_${n}`] = value;
  }
  return restored;
}

function configEntries(env: NodeJS.ProcessEnv): { key: string; value: string }[] {
  const count = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  if (!Number.isSafeInteger(count) || count < 0 || count > 1000) return [];
  return Array.from({ length: count }, (_, n) => ({
    key: env[`GIT_CONFIG_KEY_${n}`] ?? '',
    value: env[`GIT_CONFIG_VALUE_${n}`] ?? '',
  }));
}
