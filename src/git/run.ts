import type { ChildProcess, ChildProcessByStdio, SpawnOptions } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { DISK_ERROR_HINT, Failure, NOT_WRITABLE_HINT, NO_SPACE_HINT } from '../domain/failure.ts';
import { isHung } from '../domain/hang.ts';
import { FIXED_CONFIG, gitEnvironment } from './environment.ts';
import { endTree, watchUse } from './child-use.ts';
import { gitTime, limitOf, noteAnswer, noteEnded, noteLateGit, waiting } from './limits.ts';

/** How a git child ended. `code` is 128 or above for git's own fatal errors (git(1)). */
export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitOptions {
  readonly cwd: string;
  readonly input?: string | Uint8Array;
  /** Variables on top of the scrubbed environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds until the child is asked to end (SIGTERM: SIGKILL leaves lock files for ever). Default: as long as we may. */
  readonly timeoutMs?: number | undefined;
}

/** Runs git with an argument array; the seam for tests and for the guard's deadline. */
export type GitRunner = (args: readonly string[], options: GitOptions) => Promise<GitResult>;

const TERMINATE_GRACE_MS = 2000;

/** A git child that was started before its input is known. Exactly one of the two ends it. */
export interface StartedGit {
  /** Gives the child its input and waits for its end. */
  finish(input: string | Uint8Array | undefined): Promise<GitResult>;
  /** Lets the child end without input; nobody looks at how. */
  abandon(): void;
}

/**
 * Starts one git process whose input comes later: what every write ends with is started while the rest
 * is still being read.
 */
export function startGit(args: readonly string[], options: Omit<GitOptions, 'input'>): StartedGit {
  const child = spawnGit(args, options, 'pipe');
  const result = collect(child, args[0] ?? '', options);
  // Looked at by `finish` only.
  result.catch(() => undefined);
  return {
    async finish(input) {
      goOn(args[0]);
      child.stdin?.end(input);
      return result;
    },
    abandon() {
      // Twice would make an error, which costs half a millisecond.
      if (child.stdin?.writableEnded === false) child.stdin.end();
    },
  };
}

let isOver: () => boolean = () => false;

/** From now on no git is started, or given its input, once this is true. */
export function startNothingWhen(over: () => boolean): void {
  isOver = over;
}

/** @throws Failure `environment` when it is */
function goOn(command: string | undefined): void {
  if (isOver()) throw new Failure('environment', `git ${command ?? ''}: the command was ended`);
}

let begun: ((args: readonly string[], options: GitOptions) => Buffer | undefined) | undefined;

/** From now on `runGit` takes what was asked already from there (begun.ts). */
export function takeAnswersFrom(source: typeof begun): void {
  begun = source;
}

/**
 * Runs one git process to its end. A non-zero exit is a value, not an exception.
 *
 * @throws Failure `environment` when git cannot be started or overran its time.
 */
export const runGit: GitRunner = async (args, options) => {
  goOn(args[0]);
  const answer = begun?.(args, options);
  if (answer !== undefined) return { code: 0, stdout: answer, stderr: '' };
  const child = spawnGit(args, options, options.input === undefined ? 'ignore' : 'pipe');
  const result = collect(child, args[0] ?? '', options);
  child.stdin?.end(options.input);
  return result;
};

type GitChild = ChildProcessByStdio<Writable | null, Readable, Readable>;

/** A pipe is a socket with streams on both ends: none where nothing is to be said. */
function spawnGit(args: readonly string[], options: GitOptions, stdin: 'pipe' | 'ignore'): GitChild {
  const child = startProcess([...FIXED_CONFIG, ...args], {
    cwd: options.cwd,
    env: gitEnvironment(process.env, options.env),
    stdio: [stdin, 'pipe', 'pipe'],
    windowsHide: true,
  }) as GitChild;
  // A child that ends before it has read everything (a full disk, a refusal) is told by its exit code.
  child.stdin?.on('error', () => undefined);
  endWithUs(child);
  return child;
}

/** Some errors (no memory, a failing disk) are thrown at once, the common ones are told by an event. */
function startProcess(args: readonly string[], options: SpawnOptions & { cwd: string }): ChildProcess {
  try {
    // Loaded with the first process: that takes longer than git, and many calls of a hook start none.
    return process.getBuiltinModule('node:child_process').spawn('git', args, options);
  } catch (error) {
    throw cannotStart(error as NodeJS.ErrnoException, options.cwd);
  }
}

/** Children of a process that has an end: they do not outlive it. */
const running = new Set<GitChild>();

function endWithUs(child: GitChild): void {
  if (gitTime() === undefined) return;
  if (running.size === 0) process.once('exit', endRunning);
  running.add(child);
  child.once('close', () => {
    running.delete(child);
    if (running.size === 0) process.removeListener('exit', endRunning);
  });
}

function endRunning(): void {
  for (const child of running) endTree(child);
}

function collect(child: GitChild, command: string, options: GitOptions): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const timers: NodeJS.Timeout[] = [];
    const limit = limitOf(options.timeoutMs);
    // A timer of no end would fire at once.
    const watched = limit < Infinity && child.pid !== undefined ? watchUse(child.pid, limit) : undefined;
    const ask = () => watched !== undefined && isHung(watched.use());
    if (limit < Infinity) {
      waiting.add(ask);
      const terminate = () => {
        noteLateGit();
        noteEnded(ask());
        waiting.delete(ask);
        endTree(child);
        timers.push(setTimeout(() => child.kill('SIGKILL'), TERMINATE_GRACE_MS).unref());
        // Its end is not waited for: a child of its own that outlives it would hold the pipes, and us.
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
        child.unref();
        reject(new Failure('environment', `git ${command} took too long and was stopped`));
      };
      timers.push(setTimeout(terminate, limit));
    }
    const settle = (finish: () => void) => {
      timers.forEach(clearTimeout);
      watched?.stop();
      if (waiting.delete(ask)) noteAnswer();
      finish();
    };
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', (error) => settle(() => reject(cannotStart(error, options.cwd))));
    child.on('close', (code, signal) =>
      settle(() =>
        resolve({
          code: code ?? (signal === null ? 1 : 128),
          stdout: Buffer.concat(stdout),
          stderr: Buffer.concat(stderr).toString('utf8') || (signal === null ? '' : `killed by ${signal}`),
        }),
      ),
    );
  });
}

function cannotStart(error: NodeJS.ErrnoException, cwd: string): Failure {
  if (error.code === 'ENOENT') {
    return new Failure('environment', `git could not be started in ${cwd}`, {
      hint: 'install git 2.39 or later and make sure it is on PATH',
      cause: error,
    });
  }
  return new Failure('environment', `git could not be started: ${error.message}`, { cause: error });
}

/**
 * Runs git and returns its standard output as text.
 *
 * @throws Failure classified from git's own message when it exits non-zero.
 */
export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  const result = await runGit(args, options);
  if (result.code !== 0) throw gitFailure(args[0] ?? 'git', result);
  return result.stdout.toString('utf8');
}

const CANNOT_WRITE =
  /(?:couldn't|could not|unable to|failed to|error) (?:append|close|create|flush|open|set|stream|writ)|(?:write|input\/output) error/i;

/** Turns git's fatal message into a failure with the next thing to do. */
export function gitFailure(command: string, result: GitResult): Failure {
  const text = result.stderr.trim();
  const firstLine = text.split('\n')[0] ?? '';
  const environment = (hint: string) => new Failure('environment', `git ${command}: ${firstLine}`, { hint });
  if (/not a git repository/.test(text)) return noRepository();
  if (/dubious ownership/.test(text)) {
    return environment('read the safe.directory entry of: git help config');
  }
  if (/cannot use bare repository/.test(text)) {
    return environment('read the safe.bareRepository entry of: git help config');
  }
  if (/inside quarantine environment/.test(text)) return environment('unset GIT_QUARANTINE_PATH');
  if (/No space left on device|Disk quota exceeded/.test(text)) return environment(NO_SPACE_HINT);
  if (/Read-only file system|Permission denied|insufficient permission/.test(text)) {
    return environment(NOT_WRITABLE_HINT);
  }
  if (/bad (?:numeric |boolean )?config|in GIT_CONFIG_|missing config (?:key|value)/.test(text))
    return environment('correct that setting, then try again');
  if (/\.lock'?: File exists/.test(text)) return environment('git handoff doctor');
  // git often names no cause when it is a lock, an object or a pipe that cannot be written.
  if (CANNOT_WRITE.test(text)) return environment(DISK_ERROR_HINT);
  if (text.startsWith('killed by SIG')) return environment('try again');
  if (/v1-only extension found/.test(text)) {
    return environment('read the extensions.* entries of: git help config');
  }
  if (/unknown repository extension|Expected git repo version|unknown option/.test(text)) {
    return environment('this repository needs a newer git: git --version');
  }
  if (/index file|index entry format/.test(text)) {
    return environment(
      'move the file away that this names, then type git reset: git rev-parse --git-path index',
    );
  }
  return new Failure('internal', `git ${command} failed (${result.code}): ${firstLine}`, {
    hint: 'git handoff doctor',
  });
}

/** Without a repository, or with one that a variable points away from. */
function noRepository(): Failure {
  const stray = ['GIT_DIR', 'GIT_OBJECT_DIRECTORY'].find((name) => process.env[name] !== undefined);
  if (stray !== undefined) {
    const message = `not a git repository, with ${stray}=${process.env[stray]}`;
    return new Failure('environment', message, { hint: `unset ${stray}` });
  }
  return new Failure('environment', 'not a git repository (or any of the parent directories)', {
    hint: 'cd into a repository, or run: git init',
  });
}
