import { trace } from '../host/trace.ts';
import { FIXED_CONFIG, connecting, gitEnvironment } from './environment.ts';

/**
 * What brings objects over the wire. simple-git runs it, for it reads git's progress; everything else about it is as in
 * `run.ts`.
 */

/** How far a transfer is: git's own words for the stage, and percent of it. */
export interface TransferProgress {
  readonly stage: string;
  readonly percent: number;
}

export interface TransferOptions {
  readonly cwd: string;
  /** Called while something is under way; without it git is quiet. */
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

/** The refs of a remote are not what a crash may cost: they come again. A push of handoffs is judged by us, not by hooks. */
const CONFIG = FIXED_CONFIG.filter((word) => word !== '-c' && !word.startsWith('core.fsync='));

/**
 * What simple-git would refuse: the first two are our own settings, the others stand in the user's environment,
 * which is as good for this git as for one that is typed.
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

interface Extra {
  readonly input?: string;
  /** Variables on top of the environment. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Runs `git fetch` or `git push`. A non-zero exit is a value. */
export async function transfer(
  args: readonly string[],
  options: TransferOptions,
  { input, variables }: Extra = {},
): Promise<Ended> {
  const own = gitEnvironment(process.env, { ...connecting(options.mayAsk), ...variables });
  const env = Object.fromEntries(
    Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  // A sync that has nothing to do needs none of it.
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
      // What git says of an error goes on in the line of its progress.
      failed = { code: exitCode, stdout: text(stdOut), stderr: text(stdErr).replaceAll('\r', '\n') };
      return undefined;
    },
  }).env(env);
  const began = performance.now();
  const stdout = await git.raw([...args]);
  trace('git', () => `${args.join(' ')}: exit ${failed?.code ?? 0}`, began);
  return failed ?? { code: 0, stdout, stderr: '' };
}
