import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type InitOptions, type InstallResult, init } from '../../src/verbs/setup/init.ts';
import { type UninstallOptions, uninstall } from '../../src/verbs/setup/uninstall.ts';
import { type GitRunner, runGit } from '../../src/git/run.ts';
import type { InstallContext } from '../../src/install/client.ts';

const SHIM =
  '#!/bin/sh\nprintf \'%s\\n\' "shim $(basename "${handoff_shim:-$0}") $# $1 $GIT_HANDOFF_GIT_PID" >>"$HOME/calls"\n';

/** A temporary home, a repository in it, and a package with shims that leave a trace. */
export class World {
  readonly root: string;
  readonly home: string;
  readonly repository: string;
  readonly packageRoot: string;

  constructor(folder = 'world') {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'git-handoff-install-')));
    this.home = join(this.root, folder, 'home');
    this.repository = join(this.root, folder, 'repository');
    this.packageRoot = join(this.root, folder, 'node_modules', 'git-handoff');
    mkdirSync(this.home, { recursive: true });
    this.write(
      join(this.packageRoot, 'bin', 'git-handoff'),
      '#!/bin/sh\necho guard "$@" >>"$HOME/calls"\n',
      0o755,
    );
    for (const hook of ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'pre-push']) {
      this.write(join(this.packageRoot, 'git-hooks', hook), SHIM, 0o755);
    }
    this.git(['init', '-q', '-b', 'main', this.repository], this.root);
  }

  get env(): Record<string, string> {
    const { PATH } = process.env;
    return {
      PATH: PATH ?? '',
      HOME: this.home,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.org',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.org',
      // Without a session, our hooks do not start their shims.
      GIT_HANDOFF_SESSION: 'a-session',
    };
  }

  /**
   * The program's runner, in this world's environment. It always reports a git that runs no hooks from its config: those
   * hooks have their own test (install-config-hooks).
   */
  readonly runner: GitRunner = (args, options) => {
    const hidden = Object.keys(process.env).filter((name) => name.startsWith('GIT_'));
    const former = Object.fromEntries([...hidden, 'HOME'].map((name) => [name, process.env[name]]));
    for (const name of hidden) Reflect.deleteProperty(process.env, name);
    process.env['HOME'] = this.home;
    process.env['GIT_CONFIG_NOSYSTEM'] = '1';
    const running = runGit(args, options);
    delete process.env['GIT_CONFIG_NOSYSTEM'];
    Object.assign(process.env, former);
    if (args[0] !== '--version') return running;
    return running.then((result) => ({ ...result, stdout: Buffer.from('git version 2.39.5\n') }));
  };

  context(cwd = this.repository, more: Partial<InstallContext> = {}): InstallContext {
    const { env, home, packageRoot, runner: git } = this;
    const { execPath: nodePath, platform } = process;
    return { cwd, home, env, packageRoot, nodePath, confirm: undefined, git, platform, ...more };
  }

  init(
    options: Partial<InitOptions> = {},
    cwd?: string,
    more?: Partial<InstallContext>,
  ): Promise<InstallResult> {
    return init({ yes: true, scope: 'user', clients: ['claude'], ...options }, this.context(cwd, more));
  }

  uninstall(
    options: Partial<UninstallOptions> = {},
    cwd?: string,
    more?: Partial<InstallContext>,
  ): Promise<InstallResult> {
    return uninstall({ yes: true, user: false, ...options }, this.context(cwd, more));
  }

  git(args: string[], cwd = this.repository, env: Record<string, string> = {}): string {
    // No background maintenance after a commit, which would change a snapshot.
    return execFileSync('git', ['-c', 'maintenance.auto=false', ...args], {
      cwd,
      env: { ...this.env, ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Commits with an editor, because without one our part of commit-msg does nothing. */
  commit(message = 'a commit', cwd = this.repository): void {
    this.git(['commit', '-q', '--allow-empty', '-e', '-m', message], cwd, { GIT_EDITOR: 'true' });
  }

  write(path: string, content: string | Buffer, mode?: number): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    if (mode !== undefined) chmodSync(path, mode);
  }

  /** Lines that shims, hooks and the launcher left. */
  calls(): string[] {
    const file = join(this.home, 'calls');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    rmSync(file, { force: true });
    return lines;
  }

  /** Every path in the world with its kind, mode and bytes, without git's objects and logs. */
  snapshot(): Record<string, string> {
    const found: Record<string, string> = {};
    const visit = (path: string) => {
      const stat = lstatSync(path);
      const mode = (stat.mode & 0o7777).toString(8);
      const name = path.slice(this.root.length);
      if (stat.isSymbolicLink()) found[name] = `link ${readlinkSync(path)}`;
      else if (stat.isFile()) found[name] = `${mode} ${readFileSync(path).toString('latin1')}`;
      else if (stat.isDirectory()) {
        found[name] = `${mode} folder`;
        for (const entry of readdirSync(path)) visit(join(path, entry));
      }
    };
    visit(this.root);
    return found;
  }

  /** Runs a shell command as a client would. */
  shell(command: string, env: Record<string, string> = {}): { status: number; output: string } {
    try {
      const output = execFileSync('sh', ['-c', `{ ${command}\n} 2>&1`], {
        cwd: this.root,
        env: { ...this.env, ...env },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      return { status: 0, output };
    } catch (error) {
      const failed = error as { status: number; stdout: string };
      return { status: failed.status, output: failed.stdout };
    }
  }

  copyTo(path: string): void {
    cpSync(this.repository, path, { recursive: true });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
