import type { ChildProcess, StdioOptions } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { DISK_ERROR_HINT, Failure, NO_SPACE_HINT, NOT_WRITABLE_HINT } from '../domain/messages.ts';
import { type RunningCall, processAge, runningCall } from '../host/io.ts';
import { trace } from '../host/log.ts';
import { FIXED_CONFIG, gitEnvironment } from './environment.ts';
import type { FileState } from '../domain/ledger/tree-status.ts';
import { type Oid, isZeroOid, parseOid } from '../domain/names.ts';

/** How a git child ended. `code` is 128 or above for git's own fatal errors (git(1)). */
export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Whether git was ended because it printed more than `mostPrinted`; `stdout` is then only a part. */
  readonly isCut?: boolean;
}

export interface GitOptions {
  readonly cwd: string;
  /** Of an array, each item is sent as a line. */
  readonly input?: string | Uint8Array | readonly string[];
  /** Variables on top of the scrubbed environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds until the child gets SIGTERM (SIGKILL would leave lock files for ever). Default: the call's own limit. */
  readonly timeoutMs?: number | undefined;
  /** Ends a child that prints more bytes than this. Default: no limit. */
  readonly mostPrinted?: number;
}

/** A function that runs git with an argument array: `runGit`, or that of a test or of a caller with a deadline. */
export type GitRunner = (args: readonly string[], options: GitOptions) => Promise<GitResult>;

const TERMINATE_GRACE_MS = 2000;

/**
 * Runs one git process to its end. A non-zero exit is a value, not an exception.
 *
 * @throws Failure `environment` when git cannot be started or overran its time.
 */
export const runGit: GitRunner = (args, options) =>
  startGit(args, { ...options, config: FIXED_CONFIG, env: gitEnvironment(process.env, options.env) });

interface StartOptions extends GitOptions {
  /** Options that come before the arguments. */
  readonly config?: readonly string[];
  /** The whole environment. */
  readonly env: NodeJS.ProcessEnv;
  /** Whether git gets the terminal: its standard output is then not read. */
  readonly hasTerminal?: boolean;
  /** Gets what git prints on stderr, as it comes. */
  readonly onError?: (output: Buffer) => void;
}

/** Starts git with nothing but what it is given here, and waits for its end. */
export async function startGit(args: readonly string[], options: StartOptions): Promise<GitResult> {
  const began = processAge();
  const { cwd, env, input, config = [], hasTerminal = false } = options;
  // Loaded with the first process, because loading takes longer than git, and many hook calls start no process.
  const { spawn } = process.getBuiltinModule('node:child_process');
  // Without input git gets no pipe, which would cost a socket with streams on both ends.
  const [noInput, output] = hasTerminal ? (['inherit', 'inherit'] as const) : (['ignore', 'pipe'] as const);
  const stdio: StdioOptions = [input === undefined ? noInput : 'pipe', output, output];
  let child: ChildProcess;
  try {
    child = spawn('git', [...config, ...args], { cwd, env, stdio, windowsHide: true });
  } catch (error) {
    // Node throws rare errors at once (no memory, a failing disk), and emits an event for common ones.
    throw cannotStart(error as NodeJS.ErrnoException, cwd);
  }
  // If a child ends before it has read everything (a full disk, a refusal), its exit code tells us.
  child.stdin?.on('error', () => undefined);
  endWithCall(child);
  const result = collect(child, args, options, began);
  child.stdin?.end(Array.isArray(input) ? input.map((line) => `${line}\n`).join('') : input);
  return result;
}

/** Registers a child, so that it does not outlive a call with a time limit (`endChildren`). */
function endWithCall(child: ChildProcess): void {
  const call = runningCall();
  if (call === undefined || call.budget.left() === Infinity) return;
  call.children.add(child);
  child.once('close', () => call.children.delete(child));
}

/** Ends the git children of a call that is over. */
export function endChildren({ children }: RunningCall): void {
  for (const child of children) endTree(child);
}

/** Milliseconds that a child may run, at most `given`; `Infinity`: no limit. */
function limitOf(given: number | undefined): number {
  const call = runningCall();
  const whole = call?.budget.left() ?? Infinity;
  const most = call?.hadToEndChild === true && whole < Infinity ? whole / 4 : whole;
  return Math.min(given ?? Infinity, most);
}

/** @param began when the child was started, as `processAge` tells it */
function collect(
  child: ChildProcess,
  args: readonly string[],
  options: StartOptions,
  began: number,
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const timers: NodeJS.Timeout[] = [];
    const settle = (outcome: string) => {
      timers.forEach(clearTimeout);
      trace('git', () => `${args.join(' ')}: ${outcome}`, began);
    };
    const terminate = () => {
      settle('took too long');
      const call = runningCall();
      if (call !== undefined) call.hadToEndChild = true;
      endTree(child);
      timers.push(setTimeout(() => child.kill('SIGKILL'), TERMINATE_GRACE_MS).unref());
      // We do not wait for the child's end: a process that it started may outlive it, and keep the pipes open.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      child.unref();
      reject(new Failure('environment', `git ${commandIn(args)} took too long and was stopped`));
    };
    const limit = limitOf(options.timeoutMs);
    // Node would fire an infinite timer at once.
    if (limit < Infinity) timers.push(setTimeout(terminate, limit));
    let left = options.mostPrinted ?? Infinity;
    child.stdout?.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left >= 0) stdout.push(chunk);
      else child.kill();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr.push(chunk);
      options.onError?.(chunk);
    });
    child.on('error', (error) => {
      settle(error.message);
      reject(cannotStart(error, options.cwd));
    });
    child.on('close', (code, signal) => {
      settle(`exit ${code ?? signal ?? ''}`);
      const killed = signal === null ? '' : `killed by ${signal}`;
      resolve({
        code: code ?? (signal === null ? 1 : 128),
        isCut: left < 0,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString('utf8') || killed,
      });
    });
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

const commandIn = (args: readonly string[]) =>
  args.find((word, at) => !word.startsWith('-') && args[at - 1] !== '-c') ?? '';

/**
 * Runs one git process that must succeed.
 *
 * @throws Failure classified from git's own message when it exits non-zero.
 */
export async function requireGit(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const result = await runGit(args, options);
  if (result.code !== 0) throw gitFailure(commandIn(args), result);
  return result;
}

/** Runs git, which must succeed, and returns its standard output as text. */
export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  return (await requireGit(args, options)).stdout.toString('utf8');
}

/** Runs git and returns its standard output without the last line end; `undefined` when it exits non-zero. */
export async function askGit(args: readonly string[], options: GitOptions): Promise<string | undefined> {
  const { code, stdout } = await runGit(args, options);
  return code === 0 ? stdout.toString('utf8').replace(/\n$/, '') : undefined;
}

/** Runs git and returns the object name that it prints; `undefined` when it prints none, or exits non-zero. */
export async function askForOid(args: readonly string[], options: GitOptions): Promise<Oid | undefined> {
  return parseOid((await askGit(args, options)) ?? '');
}

/** Maps what git says about its environment to the next thing to do; the first match counts. */
const HINTS: readonly (readonly [said: RegExp, hint: string])[] = [
  [/dubious ownership/, 'read the safe.directory entry of: git help config'],
  [/cannot use bare repository/, 'read the safe.bareRepository entry of: git help config'],
  [/inside quarantine environment/, 'unset GIT_QUARANTINE_PATH'],
  [/No space left on device|Disk quota exceeded/, NO_SPACE_HINT],
  [/Read-only file system|Permission denied|insufficient permission/, NOT_WRITABLE_HINT],
  [
    /bad (?:numeric |boolean )?config|in GIT_CONFIG_|missing config (?:key|value)/,
    'correct that setting, then try again',
  ],
  [/\.lock'?: File exists/, 'git handoff doctor'],
  // git often names no cause when it cannot write a lock, an object or a pipe.
  [
    /(?:couldn't|could not|unable to|failed to|error) (?:append|close|create|flush|open|set|stream|writ)/i,
    DISK_ERROR_HINT,
  ],
  [/(?:write|input\/output) error/i, DISK_ERROR_HINT],
  [/^killed by SIG/, 'try again'],
  [/v1-only extension found/, 'read the extensions.* entries of: git help config'],
  [
    /unknown repository extension|Expected git repo version|unknown option/,
    'this repository needs a newer git: git --version',
  ],
  [
    /index file|index entry format/,
    'move away the file that this command prints, then run git reset: git rev-parse --git-path index',
  ],
];

/** Turns git's fatal message into a failure with the next thing to do. */
export function gitFailure(command: string, { code, stderr }: Pick<GitResult, 'code' | 'stderr'>): Failure {
  const text = stderr.trim();
  const firstLine = text.split('\n')[0] ?? '';
  if (/not a git repository/.test(text)) return noRepository();
  const [, hint] = HINTS.find(([said]) => said.test(text)) ?? [];
  if (hint !== undefined) return new Failure('environment', `git ${command}: ${firstLine}`, { hint });
  return new Failure('internal', `git ${command} failed (${code}): ${firstLine}`, {
    hint: 'git handoff doctor',
  });
}

/** The failure when there is no repository, or when a variable points away from it. */
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

/**
 * Ends a running child and everything that it has started: otherwise a git that is a script, or waits for another program, would
 * leave processes behind. Lists those processes first, because they lose their parent when the child ends.
 */
function endTree(child: ChildProcess): void {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  const below = allBelow(pid);
  child.kill('SIGTERM');
  for (const one of below) {
    try {
      process.kill(one, 'SIGTERM');
    } catch {
      // The process has already ended.
    }
  }
}

function allBelow(pid: number, childrenNow = parents()): number[] {
  return childrenNow(pid).flatMap((child) => [child, ...allBelow(child, childrenNow)]);
}

/** Returns a function that finds the children of a process, in /proc or (without /proc) in the output of one `ps`. */
function parents(): (pid: number) => number[] {
  if (existsSync('/proc/self/task')) return childrenOf;
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { stdout } = spawnSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'latin1', timeout: PS_MS });
  const rows = stdout.split('\n').map((row) => row.trim().split(/\s+/).map(Number));
  return (pid) => rows.flatMap(([above, below = 0]) => (above === pid ? [below] : []));
}

const PS_MS = 500;

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Placeholder of git-log(1) for the sessions that a commit's trailers name; `sessionsIn` reads its value. */
export const SESSIONS = '%(trailers:key=Claude-Session-Id,valueonly,separator=%x2C)';

/** Parses what git prints for `SESSIONS`. */
export const sessionsIn = (text: string): string[] =>
  text.split(',').flatMap((id) => (id.trim() === '' ? [] : [id.trim()]));

/** The object names that git printed, one per line. */
export const oidsIn = ({ stdout }: Pick<GitResult, 'stdout'>): Oid[] =>
  linesIn(stdout, '\n').flatMap((line) => parseOid(line) ?? []);

/** Splits what git printed with `-z`. */
export const entriesOf = ({ stdout }: Pick<GitResult, 'stdout'>): string[] =>
  linesIn(stdout, '\0').filter((entry) => entry !== '');

const linesIn = (output: Buffer, end: string) => output.toString('utf8').split(end);

/** Splits a text in which each record has `width` fields that end in NUL; fields may be empty. */
export function records(text: string, width: number): string[][] {
  const fields = text.split('\0');
  const found: string[][] = [];
  for (let at = 0; at + width <= fields.length; at += width) found.push(fields.slice(at, at + width));
  return found;
}

/** A mode of zeros means "no such entry"; a name of zeros means content that git has not read. */
export function listedState(mode: string, name: string): FileState {
  if (!/^[0-7]{6}$/.test(mode) || mode === '000000') return null;
  const oid = parseOid(name);
  return { mode, oid: oid === undefined || isZeroOid(oid) ? null : oid };
}

/** Bytes as a string, one character each (latin1). */
export type BinaryText = string;

// eslint-disable-next-line no-control-regex -- control characters are ASCII, too
const NOT_ASCII = /[^\u0000-\u007f]/;

/** The UTF-8 text of bytes; most of what git prints is ASCII and is returned as it is. */
export function utf8(bytes: BinaryText): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

/** Splits a list into parts of at most `size` items. */
export function inBatches<T>(all: readonly T[], size: number): (readonly T[])[] {
  const batches: (readonly T[])[] = [];
  for (let at = 0; at < all.length; at += size) batches.push(all.slice(at, at + size));
  return batches;
}

/** Acts on each item, two at a time, because a git process keeps one core busy. The results keep the list's order. */
export async function twoAtOnce<T, R>(all: readonly T[], act: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = all.entries();
  const lane = async () => {
    for (const [at, one] of left) results[at] = await act(one);
  };
  await Promise.all([lane(), lane()]);
  return results;
}
