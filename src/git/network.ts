import { processAge } from '../host/io.ts';
import { trace } from '../host/log.ts';
import { FIXED_CONFIG, connecting, gitEnvironment } from './environment.ts';

/**
 * Runs the git commands that transfer objects. simple-git starts them, because it parses git's progress; everything else
 * is as in `run.ts`.
 */

/** How far a transfer is: the stage in git's own words, and how much of it is done, in percent. */
export interface TransferProgress {
  readonly stage: string;
  readonly percent: number;
}

export interface TransferOptions {
  readonly cwd: string;
  /** Called while a transfer runs; without it git prints no progress. */
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined;
  /** Whether a person can answer when git asks for a password. */
  readonly mayAsk: boolean;
}

/** How a transfer ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Not synced to the disk: the next fetch brings what a crash loses. No hooks: we judge a push of handoffs ourselves. */
const CONFIG = FIXED_CONFIG.filter((word) => word !== '-c' && !word.startsWith('core.fsync='));

/**
 * What simple-git would refuse. The first two are our own settings; the others come from the user's environment, which
 * is as valid for this git as for one that the user types.
 */
const ALLOWED = {
  allowUnsafeHooksPath: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeSshCommand: true,
  allowUnsafeAskPass: true,
  allowUnsafeEditor: true,
  allowUnsafePager: true,
  allowUnsafeGitProxy: true,
  allowUnsafeExec: true,
  allowUnsafeTemplateDir: true,
  allowUnsafeProtocolOverride: true,
};

/** Runs `git fetch` or `git push`, with `variables` on top of the environment. A non-zero exit is a value. */
export async function transfer(
  args: readonly string[],
  options: TransferOptions,
  { input, variables }: { readonly input?: string; readonly variables?: Readonly<Record<string, string>> },
): Promise<Ended> {
  const own = gitEnvironment(process.env, { ...connecting(options.mayAsk), ...variables });
  const env = Object.fromEntries(
    Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  // Loaded late: a sync that has nothing to do does not need it.
  const { simpleGit } = await import('simple-git');
  const { onProgress } = options;
  let failed: Ended | undefined;
  const git = simpleGit({
    baseDir: options.cwd,
    config: [...CONFIG],
    // Without this each call waits 50 ms after git's end.
    completion: { onExit: false, onClose: true },
    allowEnvironment: Object.keys(env),
    unsafe: ALLOWED,
    ...(input === undefined ? {} : { input: () => input }),
    ...(onProgress === undefined
      ? {}
      : {
          progress: (event: { stage: string; progress: number }) =>
            onProgress({ stage: event.stage, percent: event.progress }),
        }),
    errors: (error, { exitCode, stdErr, stdOut }) => {
      if (exitCode === 0) return error;
      const text = (parts: readonly Buffer[]) => Buffer.concat(parts).toString('utf8');
      // git may print an error on the line of its progress.
      failed = { code: exitCode, stdout: text(stdOut), stderr: text(stdErr).replaceAll('\r', '\n') };
      return undefined;
    },
  }).env(env);
  const began = processAge();
  const stdout = await git.raw([...args]);
  trace('git', () => `${args.join(' ')}: exit ${failed?.code ?? 0}`, began);
  return failed ?? { code: 0, stdout, stderr: '' };
}
