import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { inject } from 'vitest';
import { runBeside, runInProcess } from './in-process.ts';
import { copyTemplate, keepTemplate } from './template.ts';

const PACKAGE_ROOT = resolve(import.meta.dirname, '..', '..');

/** The built launcher; `npm test` builds it first. */
export const LAUNCHER = join(PACKAGE_ROOT, 'bin', 'git-handoff');
/** The launcher's arguments for Node, for tests that start many processes. */
export const START = [join(PACKAGE_ROOT, 'dist', 'start.cjs'), String(process.pid)] as const;

/** The tests run the first git on PATH, so that any version of git can be tested. */
const NODE = dirname(process.execPath);
const [GIT] = (process.env['PATH'] ?? '').split(delimiter).filter((dir) => existsSync(join(dir, 'git')));
const OWN = GIT === undefined || existsSync(join(GIT, 'node')) ? [NODE] : [GIT, NODE];
/** Programs that stand in for a Mac's (scripts/test-mac.mjs). */
const { GIT_HANDOFF_TEST_MAC: STAND_INS } = process.env;
/** Whether the tests run on a Mac, or on a machine that stands in for one. */
export const IS_MAC = process.platform === 'darwin' || STAND_INS !== undefined;
const PATH = [dirname(LAUNCHER), STAND_INS, ...OWN, '/usr/local/bin', '/usr/bin', '/bin']
  .filter((folder) => folder !== undefined)
  .join(delimiter);

/** What a finished process left behind. */
export interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The bytes of stdout, for notes that are no text. */
  readonly bytes: Buffer;
}

export interface RunOptions {
  /** Default: the repository's working tree. */
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  /** Merged into the world's environment; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The session of the process: sets its client's variable. */
  readonly session?: string;
  /** How git-handoff is called; default: the world's way. */
  readonly calls?: Calls;
}

export interface RepositoryOptions {
  readonly bare?: boolean;
  /** Default: git's, which `GIT_DEFAULT_HASH` can set (for `refFormat`, `GIT_DEFAULT_REF_FORMAT`). */
  readonly objectFormat?: 'sha1' | 'sha256';
  readonly refFormat?: 'reftable';
  /** `unborn` leaves out the first commit, `detached` checks it out by its name. */
  readonly head?: 'branch' | 'unborn' | 'detached';
  readonly branch?: string;
  /** Folder name in the world; blanks and quotes are allowed. */
  readonly folder?: string;
  /** Whose machine it is; default: Ada. */
  readonly person?: string;
  /** Clones the repository from this URL, with these options of `git clone`. */
  readonly cloneOf?: { readonly url: string; readonly words?: readonly string[] };
  /** How the program is called unless a call says otherwise. Default: set by vitest.config.ts for each project. */
  readonly calls?: Calls;
}

/**
 * `process`: through the launcher, as a client's shell does. `thread`: in a thread beside the test (in-process.ts), which
 * is several times as fast and has no time limits, but tests neither the launcher nor the start of Node.
 */
export type Calls = 'process' | 'thread';

declare module 'vitest' {
  interface ProvidedContext {
    /** Set by vitest.config.ts for each project; default: `process`. */
    calls: Calls | undefined;
  }
}

/** An answer of `--json`, typed for a program that does not know our types. */
export interface Json {
  readonly schema: number;
  readonly ok: boolean;
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly error: Readonly<Record<'code' | 'message' | 'hint' | 'otherHint' | 'lostRef', string | null>>;
  readonly [key: string]: unknown;
}

/** A process that runs for so long will not end by itself, and vitest's limits cannot interrupt `spawnSync`. */
const STUCK_MS = 600_000;

/** The name of a world's home. In `npm run test:mac`, it contains a blank. */
const HOME = STAND_INS === undefined ? 'home' : 'Ada Lovelace';

/** A time that every commit of a fixture carries, so that its object names repeat. */
const FIXED_DATE = '2026-01-02T03:04:05Z';

/** A folder without `handoff` in its name, so that the tests also cover the guard's fast path in sh. */
const newRoot = () => realpathSync(mkdtempSync(join(tmpdir(), 'git-notes-test-')));

/** Settings without which git might pack objects in the background, in a folder that the test removes. */
const IN_FOREGROUND = ['[gc]', 'autoDetach = false', '[maintenance]', 'autoDetach = false'];

/**
 * A machine of its own for a test: a home without anybody's settings, no inherited `GIT_*`, fixed
 * locale and commit dates, and one real repository. Call `remove()` when done.
 */
export class TestRepository {
  #root = newRoot();
  readonly #options: RepositoryOptions;
  /** How the program is called unless a call says otherwise. */
  readonly calls: Calls;
  /** Worlds with the same key are copies of the first one. If `undefined`, this world is not copied. */
  readonly #template: string | undefined;
  readonly #isCopy: boolean;

  /** @param kind names a subclass that adds more to the repository, with `build` */
  constructor(options: RepositoryOptions = {}, kind?: string) {
    this.#options = options;
    this.calls = options.calls ?? inject('calls') ?? 'process';
    this.#template = options.cloneOf === undefined ? `${kind ?? ''} ${JSON.stringify(options)}` : undefined;
    this.#isCopy = this.#template !== undefined && copyTemplate(this.#template, this.root);
    if (this.#isCopy) this.#refresh();
    else this.#make();
    if (kind === undefined) this.build(() => undefined);
  }

  get root(): string {
    return this.#root;
  }

  get home(): string {
    return join(this.#root, HOME);
  }

  /** The working tree, or the bare repository itself. */
  get path(): string {
    return join(this.#root, this.#options.folder ?? 'repository');
  }

  /**
   * Adds what a subclass needs, unless the world is a copy and has it already. Even the first world moves to a copy: if the
   * original folder stayed, the sessions of copies would be taken for sessions of that clone.
   */
  protected build(steps: () => void): void {
    if (this.#isCopy) return;
    steps();
    if (this.#template === undefined) return;
    keepTemplate(this.#template, this.root);
    const [built, copy] = [this.#root, newRoot()];
    const isCopied = copyTemplate(this.#template, copy);
    if (isCopied) this.#root = copy;
    rmSync(isCopied ? built : copy, { recursive: true, force: true, maxRetries: 6 });
    if (isCopied) this.#refresh();
  }

  /** The index also records the files' inodes, which a copy changes. */
  #refresh(): void {
    if (this.#options.bare !== true) this.run('git', ['update-index', '-q', '--refresh']);
  }

  #make(): void {
    for (const folder of [this.home, join(this.root, 'tmp')]) mkdirSync(folder);
    const { person = 'Ada' } = this.#options;
    const mail = `${person.toLowerCase()}@example.org`;
    const settings = ['[user]', `name = ${person}`, `email = ${mail}`, '[init]', 'defaultBranch = main'];
    writeFileSync(
      join(this.home, '.gitconfig'),
      [...settings, '[advice]', 'detachedHead = false', ...IN_FOREGROUND, ''].join('\n'),
    );
    this.#init();
  }

  #init(): void {
    const {
      bare = false,
      objectFormat,
      refFormat,
      head = 'branch',
      branch = 'main',
      cloneOf,
    } = this.#options;
    if (cloneOf !== undefined) {
      const words = [...(bare ? ['--bare'] : []), ...(cloneOf.words ?? [])];
      this.git(['clone', '-q', ...words, '--', cloneOf.url, this.path], { cwd: this.root });
      return;
    }
    const format = [`--initial-branch=${branch}`];
    if (objectFormat !== undefined) format.push(`--object-format=${objectFormat}`);
    if (refFormat !== undefined) format.push(`--ref-format=${refFormat}`);
    this.git(['init', '-q', ...format, ...(bare ? ['--bare'] : []), this.path], { cwd: this.root });
    if (bare) this.#seedBare(branch);
    else if (head !== 'unborn') this.commit('start', { 'a.txt': 'hello\n' });
    if (head === 'detached') this.git(['checkout', '-q', '--detach']);
  }

  #seedBare(branch: string): void {
    const tree = this.git(['mktree'], { input: '' });
    const commit = this.git(['commit-tree', tree, '-m', 'start']);
    this.git(['update-ref', `refs/heads/${branch}`, commit]);
  }

  /** The environment of every process here: built from nothing. */
  env(extra: Readonly<Record<string, string | undefined>> = {}): Record<string, string> {
    const all: Record<string, string | undefined> = {
      HOME: this.home,
      PATH,
      TMPDIR: join(this.root, 'tmp'),
      LC_ALL: 'C.UTF-8',
      TZ: 'UTC',
      TERM: 'dumb',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_DEFAULT_HASH: process.env['GIT_DEFAULT_HASH'],
      GIT_DEFAULT_REF_FORMAT: process.env['GIT_DEFAULT_REF_FORMAT'],
      GIT_AUTHOR_DATE: FIXED_DATE,
      GIT_COMMITTER_DATE: FIXED_DATE,
      ...extra,
    };
    return Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    );
  }

  /** Runs git, which must succeed, and returns its stdout without the last line feed. */
  git(args: readonly string[], options: RunOptions = {}): string {
    const done = this.run('git', args, options);
    if (done.status !== 0) throw new Error(`git ${args.join(' ')}: exit ${done.status}\n${done.stderr}`);
    return done.stdout.replace(/\n$/, '');
  }

  /** Runs any program to its end. */
  run(program: string, args: readonly string[], options: RunOptions = {}): Run {
    const done = spawnSync(program, args, {
      cwd: options.cwd ?? this.path,
      env: this.#envOf(options),
      input: options.input ?? '',
      maxBuffer: 64 * 1024 * 1024,
      timeout: STUCK_MS,
      killSignal: 'SIGKILL',
    });
    if (done.error !== undefined) throw done.error;
    const { status, stdout, stderr } = done;
    return { status, stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8'), bytes: stdout };
  }

  /** Runs a command line at its own terminal. `stdout` is the screen, so it also shows what `input` types. */
  atTerminal(command: string, options: RunOptions = {}): Run {
    const words =
      process.platform === 'linux'
        ? ['-qec', command, '/dev/null']
        : ['-q', '/dev/null', 'sh', '-c', command];
    return this.run('script', words, options);
  }

  /** Runs `git handoff <args>`. */
  handoff(args: readonly string[], options: RunOptions = {}): Run {
    const { cwd = this.path, input = '', calls = this.calls } = options;
    if (calls === 'process') return this.run(LAUNCHER, args, options);
    return runInProcess({ args, cwd, env: this.#envOf(options), input });
  }

  /** Starts `git handoff <args>` beside the test. */
  handoffBeside(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    const { cwd = this.path, input = '', calls = this.calls } = options;
    if (calls === 'process') return finished(this.start(LAUNCHER, args, options));
    return runBeside({ args, cwd, env: this.#envOf(options), input });
  }

  /** Like `handoff`, but it must succeed; returns stdout without the last line feed. */
  ok(args: readonly string[], options: RunOptions = {}): string {
    const { status, stdout, stderr } = this.handoff(args, options);
    if (status !== 0) throw new Error(`git handoff ${args.join(' ')}: exit ${status}\n${stdout}${stderr}`);
    return stdout.replace(/\n$/, '');
  }

  /** Writes a note, which must succeed; returns the object name of its commit. */
  noted(args: readonly string[], options: RunOptions = {}): string {
    const [verb = '', ...rest] = args;
    return (JSON.parse(this.ok([verb, '--json', ...rest], options)) as { oid: string }).oid;
  }

  /** Runs `git handoff <args> --json`, whatever its exit code, and returns the object. */
  json(args: readonly string[], options: RunOptions = {}): Json {
    return JSON.parse(this.handoff([...args, '--json'], options).stdout) as Json;
  }

  /** Starts a process beside the test; the caller waits for it (`finished`). */
  start(program: string, args: readonly string[], options: RunOptions = {}): ChildProcess {
    const child = spawn(program, args, { cwd: options.cwd ?? this.path, env: this.#envOf(options) });
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
    return child;
  }

  #envOf({ env = {}, session }: RunOptions): Record<string, string> {
    return this.env({ ...(session === undefined ? {} : { CLAUDE_CODE_SESSION_ID: session }), ...env });
  }

  /** Feeds one Claude Code hook payload to the guard, as the client's hook would. */
  guard(payload: Readonly<Record<string, unknown>>, options: RunOptions = {}): Run {
    const input = JSON.stringify({ cwd: options.cwd ?? this.path, ...payload });
    return this.handoff(['guard', '--client', 'claude'], { ...options, input });
  }

  /** Writes files and commits them; returns the commit. */
  commit(message: string, files: Readonly<Record<string, string>>, cwd = this.path): string {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), content);
    }
    this.git(['add', '-A'], { cwd });
    this.git(['commit', '-q', '--allow-empty', '-m', message], { cwd });
    return this.git(['rev-parse', 'HEAD'], { cwd });
  }

  /** Adds a linked worktree on a new branch and returns its path. */
  worktree(branch: string, folder = `worktree-${branch.replaceAll('/', '-')}`): string {
    const path = join(this.root, folder);
    this.git(['worktree', 'add', '-q', '-b', branch, path]);
    return path;
  }

  /** The value of a ref, or `undefined` when there is none. */
  ref(name: string): string | undefined {
    const { status, stdout } = this.run('git', ['rev-parse', '--verify', '--quiet', name]);
    return status === 0 ? stdout.trim() : undefined;
  }

  /** Names of all refs under a prefix, sorted. */
  refs(prefix = 'refs'): string[] {
    return this.git(['for-each-ref', '--format=%(refname)', prefix]).split('\n').filter(Boolean);
  }

  /** Lock files anywhere in the repository. */
  locks(): string[] {
    return this.run('find', [this.path, '-name', '*.lock']).stdout.split('\n').filter(Boolean);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 6 });
  }
}

/** Waits for a started process and collects what it wrote. */
export function finished(child: ChildProcess): Promise<Run> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (status) => {
      const bytes = Buffer.concat(out);
      done({ status, stdout: bytes.toString('utf8'), stderr: Buffer.concat(err).toString('utf8'), bytes });
    });
  });
}
