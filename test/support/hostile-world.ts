import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LAUNCHER, type Run, type RunOptions } from './repository.ts';
import { A, B, C, type SharingOptions, SharingWorld, TEN } from './sharing-world.ts';

/** A case of `fixtures/hostile/git-config-env.json`. */
export interface SettingCase {
  readonly id: string;
  readonly why: string;
  readonly expect: string;
  readonly config?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

type Environment = NonNullable<RunOptions['env']>;

/** One call and what it said. */
export interface Output {
  readonly call: string;
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A call that takes longer hangs, even on a loaded machine. */
const HANGS_MS = 45_000;
/** Keep the test's own git from running programs that the repository configures, among them the hook of canaries.ts. */
export const PLAIN = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'hook.evil.enabled=false'].flatMap(
  (setting) => ['-c', setting],
);

/**
 * Two sessions share a working tree that holds work of both, notes of both, and every kind of file that settings
 * concern. `save` and `restore` let many cases begin at the same point.
 */
export class HostileWorld extends SharingWorld {
  /** The folder of the canaries: a program that a setting names leaves a file here if it runs. */
  readonly pwned: string;

  constructor(options: Pick<SharingOptions, 'calls'> = {}) {
    const attributes = { '.gitattributes': '*.fil filter=x diff=x\n' };
    super({ ...options, files: { 'src/c.ts': TEN, 'gone.txt': 'x\n', 'moved.txt': TEN, ...attributes } });
    this.pwned = join(this.root, 'pwned');
    this.run('mkdir', [this.pwned]);
    this.commit('A did this', { 'src/c.ts': `${TEN}A\n` });
    this.git(['commit', '-q', '--allow-empty', '-m', `of A\n\nClaude-Session-Id: ${A}`]);
    this.git(['stash', 'list']);
    this.git(['branch', 'side']);
    this.begin(A);
    this.begin(B);
    this.write(A, 'src/a.ts', TEN.replace('line 3', 'of A'));
    this.write(B, 'src/b.ts', TEN.replace('line 4', 'of B'));
    this.write(A, 'shared.md', TEN.replace('line 1\n', 'of A\n'));
    this.write(A, 'new of A.txt', 'untracked\n');
    this.write(A, 'SRC/A.TS', 'differs in case alone\n');
    writeFileSync(join(this.path, 'by hand.txt'), 'nobody’s\n');
    this.ok(['write', 'auth-refresh', '-m', '# Goal\n\nÜmläut of A'], { session: A });
    this.ok(['write', 'retry-queue', '-m', 'of B'], { session: B });
  }

  canary(name: string): string {
    return join(this.pwned, name);
  }

  /** Names of the canaries that exist. */
  canaries(): string[] {
    return readdirSync(this.pwned).sort();
  }

  save(): void {
    cpSync(this.path, `${this.path}.saved`, {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
    });
  }

  restore(): void {
    if (!existsSync(`${this.path}.saved`)) throw new Error('nothing was saved');
    rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });
    this.run('cp', ['-a', `${this.path}.saved`, this.path], { cwd: this.root });
    for (const name of this.canaries()) rmSync(this.canary(name));
  }

  configure(config: Readonly<Record<string, string>>): void {
    for (const [key, value] of Object.entries(config)) this.run('git', ['config', '--local', key, value]);
  }

  /** Makes a call, and kills it if it hangs. Runs a process unless the world calls the program in a thread. */
  bounded(args: readonly string[], options: RunOptions = {}, program = LAUNCHER): Run {
    if (program === LAUNCHER && this.calls === 'thread') return this.handoff(args, options);
    const { session, env = {} } = options;
    const done = spawnSync(program, args, {
      cwd: options.cwd ?? this.path,
      env: this.env({ ...(session === undefined ? {} : { CLAUDE_CODE_SESSION_ID: session }), ...env }),
      input: options.input ?? '',
      timeout: HANGS_MS,
      killSignal: 'SIGKILL',
    });
    if (done.error !== undefined) throw done.error;
    const { status, stdout, stderr } = done;
    return { status, stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8'), bytes: stdout };
  }

  /** The calls that every session makes: its start, a file tool, and verbs that show and write notes. */
  brief(env: Environment = {}): Output[] {
    const calls = new Calls(this, env);
    calls.event(C, 'SessionStart', { source: 'startup' });
    calls.event(B, 'PreToolUse', { tool_name: 'Write', tool_input: calls.file('src/a.ts') });
    for (const words of [['list'], ['show', 'auth-refresh'], ['status']]) calls.verb(B, ...words);
    calls.verb(B, 'write', 'new-topic', '-m', 'ünïcode');
    calls.written('new-topic');
    return calls.said;
  }

  /** Every verb, every event and every git hook of ours, in an order in which each has something to do. */
  everything(env: Environment = {}): Output[] {
    const calls = new Calls(this, env);
    calls.event(C, 'SessionStart', { source: 'startup' });
    for (const words of [['list'], ['show', 'auth-refresh'], ['log', 'auth-refresh'], ['boot']])
      calls.verb(B, ...words, '--json');
    for (const words of [['list'], ['show', 'auth-refresh'], ['sessions'], ['status'], ['check', 'HEAD']])
      calls.verb(B, ...words);
    calls.event(B, 'PreToolUse', { tool_name: 'Write', tool_input: calls.file('src/a.ts') });
    calls.event(B, 'PreToolUse', { tool_name: 'Write', tool_input: calls.file('SRC/A.TS') });
    calls.event(B, 'PreToolUse', { tool_name: 'Bash', tool_input: { command: 'git checkout -- .' } });
    calls.event(B, 'PreToolUse', { tool_name: 'Bash', tool_input: { command: 'git clean -fd' } });
    calls.event(B, 'PreToolUse', {
      tool_name: 'Bash',
      tool_input: { command: 'make' },
      tool_use_id: 'toolu_1',
    });
    writeFileSync(join(this.path, 'made by make.txt'), 'x\n');
    writeFileSync(join(this.path, 'src/c.ts'), 'made\r\nby make\n');
    calls.event(B, 'PostToolUse', {
      tool_name: 'Bash',
      tool_input: { command: 'make' },
      tool_use_id: 'toolu_1',
    });
    calls.event(B, 'PostToolUse', { tool_name: 'Write', tool_input: calls.file('src/b.ts') });
    calls.verb(B, 'status');
    calls.verb(undefined, 'status', '--json');
    calls.event(A, 'Stop', {});
    this.#hooks(calls, env);
    calls.verb(B, 'write', 'new-topic', '-m', 'ünïcode');
    calls.written('new-topic');
    calls.verb(B, 'write', 'auth-refresh', '-m', 'refused');
    calls.verb(B, 'take', 'auth-refresh');
    calls.verb(B, 'close', 'auth-refresh');
    calls.verb(B, 'take', '--', 'src/a.ts');
    calls.verb(B, 'stage', '--mine');
    calls.verb(undefined, 'doctor');
    calls.event(C, 'SessionEnd', { reason: 'other' });
    return calls.said;
  }

  /** Runs our git hooks as git starts them, but without git: what git itself runs is not tested here. */
  #hooks(calls: Calls, env: Environment): void {
    const hooks = join(import.meta.dirname, '..', '..', 'git-hooks');
    const message = join(this.root, 'message');
    const options = { session: B, env: { ...env, GIT_INDEX_FILE: '.git/index', GIT_EDITOR: ':' } };
    // The test's own calls of git.
    const git = (...args: string[]) => this.run('git', [...PLAIN, ...args]);
    git('add', 'src/a.ts', 'src/b.ts');
    git('rm', '-q', '--cached', 'src/c.ts', 'gone.txt', 'a.txt');
    const hook = (name: string, ...args: string[]) => {
      writeFileSync(message, 'subject\n\n; body\n');
      calls.note(`hook ${name}`, this.bounded(args, options, join(hooks, name)));
      if (name !== 'pre-commit') calls.note(`message of ${name}`, this.run('cat', [message]));
    };
    hook('pre-commit');
    git('reset', '-q');
    hook('prepare-commit-msg', message, 'message');
    const commit = git('rev-parse', 'HEAD').stdout.trim();
    const input = `refs/heads/main ${commit} refs/heads/main ${'0'.repeat(commit.length)}\n`;
    calls.note(
      'hook pre-push',
      this.bounded(['origin', 'x'], { ...options, input }, join(hooks, 'pre-push')),
    );
    calls.note('identity', this.bounded(['hook', 'identity'], options));
  }
}

/** Makes calls and notes what they say. */
class Calls {
  readonly said: Output[] = [];
  readonly #world: HostileWorld;
  readonly #env: Environment;

  constructor(world: HostileWorld, env: Environment) {
    this.#world = world;
    this.#env = env;
  }

  note(call: string, { status, stdout, stderr }: Run): void {
    this.said.push({ call, status, stdout: normal(stdout), stderr: normal(stderr) });
  }

  verb(session: string | undefined, ...args: string[]): void {
    const who = session === undefined ? {} : { session };
    this.note(args.join(' '), this.#world.bounded(args, { env: this.#env, ...who }));
  }

  event(session: string, name: string, more: Readonly<Record<string, unknown>>): void {
    const { path, root } = this.#world;
    const payload = { cwd: path, session_id: session, hook_event_name: name, ...more };
    const options = { env: this.#env, input: JSON.stringify(payload) };
    const call = `${name} ${JSON.stringify(more).replaceAll(root, '')}`;
    this.note(call, this.#world.bounded(['guard', '--client', 'claude'], options));
  }

  file(path: string) {
    return { file_path: join(this.#world.path, path), content: 'x\n' };
  }

  /** Notes what a write left, read by a git without the settings. Omits the commit's name, which depends on the time. */
  written(topic: string): void {
    const ref = `refs/handoffs/main/${topic}`;
    const git = (...args: string[]) => this.#world.run('git', args, { cwd: this.#world.path });
    const { status, stdout, stderr } = git('rev-parse', '--verify', `${ref}^{tree}`);
    this.said.push({ call: `tree of ${topic}`, status, stdout, stderr });
    const raw = git('cat-file', 'commit', ref);
    this.note(`message of ${topic}`, { ...raw, stdout: raw.stdout.slice(raw.stdout.indexOf('\n\n')) });
  }
}

/**
 * Removes what differs from run to run: ages and the width of their column, random marks, the time, commits that the run
 * made. Also removes the warning about a locale that is not installed, which bash prints where it is sh.
 */
function normal(text: string): string {
  return text
    .replace(/^.*: warning: setlocale: .*\n/gm, '')
    .replace(/just now|\d+ (?:second|minute)s?(?: ago)?/g, '<age>')
    .replace(/ {2,}/g, '  ')
    .replace(/\b[0-9a-f]{16,32}\b(?![0-9a-f])/g, '<mark>')
    .replace(/(?<=^(?:left|took|closed) .* \()[0-9a-f]{7}(?=\))/, '<oid>')
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '<time>')
    .replace(/in the last \d+ lines?|\d+ refusals?|\d+ calls?/g, '<log>');
}
