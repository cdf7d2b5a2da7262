import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interpretBy, shellFolder, shellUnderTest } from '../../scripts/shells.mjs';
import { type Shell, isYash } from '../support/shells.ts';

const repositoryRoot = join(import.meta.dirname, '..', '..');

/** The session that `handoff-solo` names in these tests. */
export const loneSession = '00893aaf-19fa-41d2-8238-13269b9b3ca0';

/** What one run of the launcher did. `node`: what the stand-in for Node got; undefined if it never ran. */
export interface LauncherRun {
  status: number | null;
  stdout: string;
  stderr: string;
  node: { argv: string[]; stdin: string; bytes: Buffer } | undefined;
}

/** A separate package, home and PATH, with a `node` that only records how it was called. */
export class LauncherWorld {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'git launcher ')));
  readonly home = join(this.dir, 'home');
  readonly package = join(this.dir, 'the package');
  readonly launcher = join(this.package, 'bin', 'git-handoff');
  readonly binaries = join(this.dir, 'bin');
  private readonly record = join(this.dir, 'record');
  private readonly shellFolder: string | undefined;
  private readonly isYash: boolean;

  /** @param shell what runs all scripts instead of the machine's /bin/sh */
  constructor(shell: Shell | undefined = shellUnderTest) {
    this.isYash = isYash(shell);
    if (shell !== undefined) this.shellFolder = shellFolder(shell);
    mkdirSync(this.home);
    mkdirSync(this.binaries);
    mkdirSync(join(this.package, 'dist'), { recursive: true });
    cpSync(join(repositoryRoot, 'bin'), join(this.package, 'bin'), { recursive: true });
    cpSync(join(repositoryRoot, 'git-hooks'), join(this.package, 'git-hooks'), { recursive: true });
    if (this.shellFolder !== undefined) {
      for (const folder of ['bin', 'git-hooks']) interpretBy(join(this.package, folder), this.sh);
    }
    writeFileSync(join(this.package, 'dist', 'start.cjs'), '');
    this.script(join(this.binaries, 'node'), [
      `printf '%s\\n' "$@" > "$RECORD"`,
      'cat > "$RECORD.stdin"',
      'printf %s "$FAKE_STDOUT"',
      'exit "${FAKE_STATUS:-0}"',
    ]);
  }

  /** The interpreter in the first lines of scripts. */
  private get sh(): string {
    return `${this.shellFolder ?? '/bin'}/sh`;
  }

  /** Writes an executable sh script. */
  script(path: string, lines: string[]): void {
    writeFileSync(path, [`#!${this.sh}`, ...lines, ''].join('\n'));
    chmodSync(path, 0o755);
  }

  /** The environment of a run, which inherits only PATH. */
  environment(extra: Record<string, string> = {}): Record<string, string> {
    const folders = [this.binaries, ...(this.shellFolder === undefined ? [] : [this.shellFolder])];
    return {
      PATH: [...folders, process.env['PATH'] ?? ''].join(':'),
      HOME: this.home,
      RECORD: this.record,
      FAKE_STDOUT: '',
      GIT_CONFIG_NOSYSTEM: '1',
      // Yash interprets texts by its locale.
      ...(this.isYash ? { LC_ALL: 'C.UTF-8' } : {}),
      ...extra,
    };
  }

  /** Runs the launcher, or another command, and tells what reached Node. */
  run(
    args: string[],
    input: string | Buffer = '',
    options: { env?: Record<string, string>; command?: string[]; cwd?: string } = {},
  ): LauncherRun {
    rmSync(this.record, { force: true });
    const [command = '', ...first] = options.command ?? [this.launcher];
    const done = spawnSync(command, [...first, ...args], {
      input,
      env: this.environment(options.env),
      cwd: options.cwd ?? this.dir,
      encoding: 'utf8',
    });
    const bytes = existsSync(this.record) ? readFileSync(`${this.record}.stdin`) : undefined;
    const node = bytes && {
      argv: readFileSync(this.record, 'utf8').split('\n').slice(0, -1),
      stdin: bytes.toString(),
      bytes,
    };
    return { status: done.status, stdout: done.stdout, stderr: done.stderr, node };
  }

  /** A repository. With `lone`, `init` was run in it, and {@link loneSession} works alone there. */
  repository(name: string, lone: boolean): string {
    const root = join(this.dir, name);
    mkdirSync(root, { recursive: true });
    this.git(root, 'init', '-q', '-b', 'main');
    mkdirSync(join(root, 'src'));
    if (lone) this.enable(join(root, '.git'), join(root, '.git'));
    return root;
  }

  /** Leaves the files that `init` and the first session of a worktree make. */
  enable(gitDir: string, commonDir: string): void {
    mkdirSync(join(commonDir, 'handoff', 'beat'), { recursive: true });
    writeFileSync(join(gitDir, 'handoff-solo'), `${loneSession} 1 2\n${gitDir}\n`);
  }

  /** Runs git, which must succeed, and returns its output. */
  git(cwd: string, ...args: string[]): string {
    const done = spawnSync('git', args, { cwd, env: this.environment(), encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
    return done.stdout;
  }

  /** Removes everything. */
  remove(): void {
    for (const folder of [this.dir, this.shellFolder]) {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** A tool call as Claude Code sends it. */
export function toolCall(
  cwd: string,
  tool: string,
  input: object,
  more: object = {},
): Record<string, unknown> {
  return {
    session_id: loneSession,
    transcript_path: '/home/u/.claude/projects/-home-u-p/t.jsonl',
    cwd,
    permission_mode: 'default',
    effort: { level: 'high' },
    hook_event_name: 'PreToolUse',
    tool_name: tool,
    tool_input: input,
    tool_use_id: 'toolu_01',
    ...more,
  };
}
