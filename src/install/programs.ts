import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { quietly, readBeginning, realPath } from '../host/disk.ts';

const NAME = 'git-handoff';
/** The beginning of the launcher's second line in every release. */
const LAUNCHER_MARK = '\n# git-handoff: ';
const HEAD_BYTES = 4096;
const VERSION_TIMEOUT_MS = 2000;

type Environment = Readonly<Record<string, string | undefined>>;

/** The programs of this name on PATH, in PATH's order. Relative entries are skipped, as by the launcher. */
function onPath(name: string, env: Environment): string[] {
  const folders = new Set((env['PATH'] ?? '').split(':').filter(isAbsolute));
  return [...folders].map((folder) => join(folder, name)).filter(isExecutable);
}

/**
 * The programs that may run as `git-handoff` or `git handoff`; the first hides the others. Some may not be ours: a Go tool that
 * moves branches has the same name.
 */
export function programsOnPath(env: NodeJS.ProcessEnv): { path: string; isOurs: boolean }[] {
  return onPath(NAME, env).map((path) => ({ path, isOurs: isOurs(path, env) }));
}

/**
 * Returns a path of the same file that survives an update, else this path. Homebrew and mise keep each version in a folder of
 * its own, which an update removes. A link leads to the folder of the current version.
 */
export function lastingName(path: string): string {
  const names = [
    path.replace(/\/Cellar\/([^/]+)\/[^/]+\//, '/opt/$1/'),
    path.replace(/(\/installs\/[^/]+)\/[^/]+\//, '$1/latest/'),
  ];
  return names.find((name) => name !== path && realPath(name) === path) ?? path;
}

/** Whether one of these programs is on a PATH. */
export const isOnPath = (names: readonly string[], env: Environment): boolean =>
  names.some((name) => onPath(name, env).length > 0);

/** Whether the file is there and may be run. */
export function isExecutable(path: string): boolean {
  const found = quietly(() => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  });
  return found === true;
}

/**
 * Whether a program is ours, judging by its first bytes. A compiled program is never run. If it is a link to a program of
 * another name, it counts as ours: that program is a version manager, which starts ours. A script that is not our launcher may
 * also be a version manager, so it is run with `--version`, without input and outside of any repository.
 */
function isOurs(path: string, env: NodeJS.ProcessEnv): boolean {
  const head = readBeginning(path, HEAD_BYTES) ?? '';
  if (head.includes(LAUNCHER_MARK)) return true;
  if (!head.startsWith('#!')) return !basename(realPath(path)).startsWith(NAME);
  const { status, stdout } = spawnSync(path, ['--version'], {
    cwd: tmpdir(),
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: VERSION_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  return status === 0 && /^git-handoff version \d/.test(stdout);
}
