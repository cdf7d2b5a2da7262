import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type GitRunner, gitFailure } from '../git/run.ts';
import { entries, isFolder, realPath } from '../host/disk.ts';
import { type ConfigHooks, parseConfigHooks, runsConfigHooks } from './config-hooks.ts';
import { followLinks, isInside, readBytes } from './disk.ts';

/** The folder that git takes hooks from in this worktree (githooks(5), `core.hooksPath`). */
export interface HooksFolder {
  readonly path: string;
  /** Whether `core.hooksPath` is relative: then every worktree has a folder of its own. */
  readonly perWorktree: boolean;
  /** Whether the folder is outside of this repository's git folder and working trees, so that other repositories may use it. */
  readonly shared: boolean;
  /** Whether the folder is in a working tree, where we only make files that git ignores. */
  readonly inWorkTree: boolean;
}

/** What one repository looks like before a plan is made; read once. */
export interface RepositoryFacts {
  readonly cwd: string;
  readonly gitDir: string;
  readonly commonDir: string;
  /** Undefined in a bare repository and inside the git folder. */
  readonly topLevel: string | undefined;
  readonly configPath: string;
  readonly config: Buffer;
  /** Values of `handoff.enabled` in the repository's own config. */
  readonly enabled: readonly string[];
  readonly hooksFolder: HooksFolder | undefined;
  readonly configHooks: ConfigHooks;
  readonly runsConfigHooks: boolean;
  /** The git folders of all worktrees, the main one first. */
  readonly worktreeGitDirs: readonly string[];
}

/**
 * Reads the repository that `cwd` lies in.
 *
 * @throws Failure `environment` when there is none or git refuses it
 */
export async function readRepository(git: GitRunner, cwd: string): Promise<RepositoryFacts> {
  const ask = async (flag: string): Promise<string | undefined> => {
    const result = await git(['rev-parse', '--path-format=absolute', flag], { cwd });
    if (result.code === 0) return result.stdout.toString('utf8').replace(/\n$/, '');
    if (flag === '--show-toplevel') return undefined;
    throw gitFailure('rev-parse', result);
  };
  const gitDir = (await ask('--git-dir')) ?? '';
  const commonDir = realPath((await ask('--git-common-dir')) ?? '');
  const topLevel = await ask('--show-toplevel');
  const configPath = await followLinks(join(commonDir, 'config'));
  const printed = async (...args: string[]) => (await git(args, { cwd })).stdout.toString('utf8');
  const enabled = await printed('config', '--local', '-z', '--get-all', 'handoff.enabled');
  const configHooks = await printed('config', '--local', '-z', '--get-regexp', '^hook\\.handoff-');
  return {
    cwd,
    gitDir,
    commonDir,
    topLevel,
    configPath,
    config: (await readBytes(configPath)) ?? Buffer.alloc(0),
    enabled: enabled.split('\0').slice(0, -1),
    hooksFolder: await readHooksFolder(git, { cwd, gitDir, commonDir, topLevel }),
    configHooks: parseConfigHooks(configHooks),
    runsConfigHooks: runsConfigHooks(await printed('--version')),
    worktreeGitDirs: listGitDirs(commonDir),
  };
}

/** Whether `handoff.enabled` has exactly one value, and that value is true. */
export function isEnabled(values: readonly string[]): boolean {
  return values.length === 1 && /^(?:true|yes|on|1)$/i.test(values[0] ?? '');
}

/** Returns the git folders of all worktrees, the main one first. */
export function listGitDirs(commonDir: string): string[] {
  const names = entries(join(commonDir, 'worktrees')).sort();
  return [commonDir, ...names.map((name) => join(commonDir, 'worktrees', name))];
}

/**
 * Reads `core.hooksPath` from the config, because we run git with another value, which `rev-parse --git-path hooks` would print.
 * Resolves a relative path as git does: against the folder in which the hook would run.
 */
async function readHooksFolder(
  git: GitRunner,
  at: { cwd: string; gitDir: string; commonDir: string; topLevel: string | undefined },
): Promise<HooksFolder | undefined> {
  const args = ['config', '--type=path', '--show-scope', '-z', '--get-all', 'core.hooksPath'];
  const result = await git(args, { cwd: at.cwd });
  if (result.code > 1) return undefined;
  const fields = result.stdout.toString('utf8').split('\0').slice(0, -1);
  const values = fields.filter((_, index) => index % 2 === 1 && fields[index - 1] !== 'command');
  const configured = values.at(-1);
  if (configured === '') return undefined;
  const runsIn = at.topLevel ?? at.gitDir;
  const path = configured === undefined ? join(at.commonDir, 'hooks') : resolve(runsIn, configured);
  const real = realPath(path);
  const inGitDir = isInside(real, at.commonDir);
  const inWorkTree = !inGitDir && (await workTreeOf(git, real, at.commonDir));
  const perWorktree = configured !== undefined && !isAbsolute(configured);
  return { path, perWorktree, shared: !inGitDir && !inWorkTree, inWorkTree };
}

/** Whether a path lies in a working tree of this repository. */
async function workTreeOf(git: GitRunner, path: string, commonDir: string): Promise<boolean> {
  const cwd = presentFolder(path);
  const result = await git(['rev-parse', '--path-format=absolute', '--git-common-dir'], { cwd });
  if (result.code !== 0) return false;
  return realPath(result.stdout.toString('utf8').replace(/\n$/, '')) === commonDir;
}

const presentFolder = (path: string): string => (isFolder(path) ? path : presentFolder(dirname(path)));

/** Whether git ignores a path of a working tree (a tracked path is not ignored). */
export async function isIgnored(git: GitRunner, path: string): Promise<boolean> {
  const cwd = presentFolder(dirname(path));
  return (await git(['check-ignore', '-q', '--', path], { cwd })).code === 0;
}
