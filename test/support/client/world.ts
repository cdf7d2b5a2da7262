import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { REPOSITORY } from './paths.ts';

/** What a command left behind. */
export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A machine of its own for one test: a home, a repository with one commit, and `git-handoff` on PATH. */
export interface World {
  readonly root: string;
  readonly home: string;
  readonly repository: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Runs a command line in the repository as a person would, by the shell. */
  shell(command: string): Promise<Outcome>;
  /** Runs a command line that must succeed, and returns its stdout without the last newline. */
  output(command: string): Promise<string>;
  /** The guard's log of this repository. It may explain a failure, since the guard allows what it cannot judge. */
  guardLog(): string;
  remove(): void;
}

/** Where the program under test comes from. */
export interface WorldOptions {
  /** The package's folder. Its `bin/git-handoff` goes on PATH, as npm would link it. */
  readonly packageRoot?: string;
  /** The folder in which npm has linked the program. It goes on PATH instead of the package's own program. */
  readonly programs?: string;
}

/** Makes a world, which the caller removes. Its environment is built from nothing: no key, setting or session id of ours is in it. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'git-handoff-world-')));
  const [home, repository, bin] = ['home', 'repository', 'bin'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [home, repository, bin, path.join(root, 'tmp')]) mkdirSync(folder);
  if (options.programs === undefined) {
    symlinkSync(
      path.join(options.packageRoot ?? REPOSITORY, 'bin', 'git-handoff'),
      path.join(bin, 'git-handoff'),
    );
  }
  const environment = environmentOf(home, options.programs ?? bin, path.join(root, 'tmp'));
  const shell = (command: string): Promise<Outcome> => runShell(command, repository, environment);
  const output = async (command: string): Promise<string> => {
    const { status, stdout, stderr } = await shell(command);
    if (status !== 0) throw new Error(`${command}: exit ${status}\n${stdout}${stderr}`);
    return stdout.replace(/\n$/, '');
  };
  await output('git init --quiet --initial-branch=main .');
  writeFileSync(path.join(repository, 'a.txt'), 'hello\n');
  await output('git add a.txt && git commit --quiet --message=start');
  const remove = (): void => rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  const guardLog = (): string => {
    const log = path.join(repository, '.git', 'handoff', 'guard.log');
    return existsSync(log) ? readFileSync(log, 'utf8') : '';
  };
  return { root, home, repository, environment, shell, output, guardLog, remove };
}

/** A world in whose repository somebody has typed `git handoff init`; it is removed after the test. */
export async function createInstalledWorld(options: WorldOptions = {}): Promise<World> {
  const world = await createWorld(options);
  onTestFinished(() => world.remove());
  await world.output('git handoff init --yes');
  return world;
}

function environmentOf(home: string, bin: string, tmp: string): Record<string, string> {
  return {
    HOME: home,
    PATH: [bin, path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    TMPDIR: tmp,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    USER: 'dev',
    NO_COLOR: '1',
    NO_PROXY: '127.0.0.1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Dev',
    GIT_AUTHOR_EMAIL: 'dev@example.com',
    GIT_COMMITTER_NAME: 'Dev',
    GIT_COMMITTER_EMAIL: 'dev@example.com',
  };
}

function runShell(command: string, cwd: string, env: Record<string, string>): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile('/bin/sh', ['-c', command], { cwd, env }, (_, stdout, stderr) => {
      resolve({ status: child.exitCode ?? -1, stdout, stderr });
    });
  });
}
