import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { recordOf } from './session-record.ts';
import type { Shell } from './shells.ts';
import type { SessionId } from '../../src/domain/names.ts';
import { formatRecord } from '../../src/domain/session.ts';
import { processTable } from '../../src/host/processes.ts';
import { LauncherWorld } from '../sh/launcher-world.ts';

/** The session that commits here. Its process is the test's own. */
export const mine = '11111111-aaaa-4aaa-8aaa-111111111111';
/** Another session. */
export const other = '22222222-bbbb-4bbb-8bbb-222222222222';

/** What a git command did. */
export interface GitRun {
  status: number | null;
  stdout: string;
  stderr: string;
  /** The hooks for which Node was started. */
  asked: string[];
}

/** When a process began, as the process table prints it. */
export const startOf = (pid: number): string => processTable().startOf(pid) ?? '';

const DIST = join(import.meta.dirname, '..', '..', 'dist');

/** A repository with our hooks installed, and ways to commit in it. */
export class TrailerWorld {
  readonly base: LauncherWorld;
  readonly root: string;
  readonly gitDir: string;

  /**
   * @param shell runs the shims instead of the machine's /bin/sh
   * @param node what the shims start as Node; `real` runs our program, and notes each hook
   */
  constructor(shell?: Shell, node: 'real' | 'stand-in' = 'real') {
    this.base = new LauncherWorld(shell);
    if (node === 'real') this.useNode();
    this.root = join(this.base.dir, 'repo sitory');
    this.gitDir = join(this.root, '.git');
    this.base.repository('repo sitory', false);
    this.git(['config', 'handoff.enabled', 'true']);
    this.git(['config', 'user.name', 'a']);
    this.git(['config', 'user.email', 'a@b']);
    for (const hook of ['pre-commit', 'prepare-commit-msg', 'commit-msg']) {
      const shim = join(this.base.package, 'git-hooks', hook);
      const script = ['GIT_HANDOFF_GIT_PID=$PPID; export GIT_HANDOFF_GIT_PID', `"${shim}" "$@" || exit`];
      this.base.script(join(this.gitDir, 'hooks', hook), script);
    }
  }

  /** Adds an event to the journal of the session that commits here. */
  note(event: object): void {
    const folder = join(this.gitDir, 'handoff', 'sessions');
    mkdirSync(folder, { recursive: true });
    appendFileSync(join(folder, `${mine}.jsonl`), `${JSON.stringify({ ...event, at: Date.now() })}\n`);
  }

  private useNode(): void {
    rmSync(join(this.base.package, 'dist'), { recursive: true });
    symlinkSync(DIST, join(this.base.package, 'dist'));
    const line = `printf '%s\\n' "$4" >>"$RECORD"; exec '${process.execPath}' "$@"`;
    this.base.script(join(this.base.binaries, 'node'), [line]);
  }

  /** Leaves the files of `init`; with a pid, also those of a session that works alone in that process. */
  enable(pid?: number, start = pid === undefined ? '' : startOf(pid), gitDir = this.gitDir): void {
    mkdirSync(join(this.gitDir, 'handoff'), { recursive: true });
    if (pid === undefined) return;
    this.beat(mine);
    writeFileSync(join(gitDir, 'handoff-solo'), `${mine} ${pid} ${start}\n`);
  }

  /** Leaves the file that each call of a session leaves. */
  private beat(session: string): void {
    mkdirSync(join(this.gitDir, 'handoff', 'beat'), { recursive: true });
    writeFileSync(join(this.gitDir, 'handoff', 'beat', session), '');
  }

  /** Puts a session with this process on record, as its first call does. */
  register(pid: number, start = startOf(pid), session = mine): void {
    this.beat(session);
    const { bootId, pidNs } = processTable();
    const record = recordOf(session as SessionId, { pid, start, bootId, pidNs });
    const blob = spawnSync('git', ['hash-object', '-w', '--stdin'], {
      cwd: this.root,
      env: this.base.environment(),
      input: formatRecord(record),
      encoding: 'utf8',
    });
    this.git(['update-ref', `refs/handoffs-local/live/0123456789abcdef/${session}`, blob.stdout.trim()]);
  }

  /** Runs git, whether or not it succeeds. */
  try(args: string[], env: Record<string, string> = {}, cwd = this.root, command = 'git'): GitRun {
    const record = join(this.base.dir, 'record');
    rmSync(record, { force: true });
    const done = spawnSync(command, args, {
      cwd,
      env: this.base.environment({ GIT_MERGE_AUTOEDIT: 'no', ...env }),
      input: '',
      encoding: 'utf8',
    });
    const asked = existsSync(record) ? readFileSync(record, 'utf8').split('\n').slice(0, -1) : [];
    return { status: done.status, stdout: done.stdout, stderr: done.stderr, asked };
  }

  /** Runs git, which has to succeed. */
  git(args: string[], env: Record<string, string> = {}, cwd = this.root): GitRun {
    const run = this.try(args, env, cwd);
    if (run.status !== 0) throw new Error(`git ${args.join(' ')}: ${run.stdout}${run.stderr}`);
    return run;
  }

  /** Makes an empty commit. */
  commit(message: string, more: string[] = [], env: Record<string, string> = {}): GitRun {
    return this.git(['commit', '-q', '--allow-empty', '-m', message, ...more], env);
  }

  /** Commits a file without our hooks, with no session in the message, or with this one. */
  file(name: string, text: string, id?: string): void {
    writeFileSync(join(this.root, name), text);
    this.git(['add', '--', name]);
    const trailer = id === undefined ? [] : ['-m', `Claude-Session-Id: ${id}`];
    this.git(['commit', '-q', '-m', `add ${name}`, ...trailer], { GIT_HANDOFF: 'off' });
  }

  /** An editor that runs these sh lines with the message file as `$1`. */
  editor(...lines: string[]): Record<string, string> {
    const path = join(this.base.dir, 'editor');
    this.base.script(path, lines);
    return { GIT_EDITOR: `"${path}"` };
  }

  /** Ids that git itself reads from a commit's trailers. */
  ids(revision = 'HEAD'): string[] {
    const format = '%(trailers:key=Claude-Session-Id,valueonly,separator=%x2C)';
    const line = this.git(['log', '-1', `--format=${format}`, revision, '--']).stdout.trim();
    return line === '' ? [] : line.split(',');
  }

  /** The whole message of a commit. */
  message(revision = 'HEAD'): string {
    return this.git(['log', '-1', '--format=%B', revision, '--']).stdout.trimEnd();
  }

  /** Removes everything. */
  remove(): void {
    this.base.remove();
  }
}
