import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type SettingEntry, parseSettings } from '../../domain/settings.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { GIT_HOOKS, type GitHook } from '../../install/hook-block.ts';

/** Tells from git's configuration, as git lists it, whether git runs our hooks. */

/** Returns the folder whose hooks git runs; `undefined` when it runs none. */
export function hooksFolder(
  entries: readonly SettingEntry[],
  { workTree, commonDir }: FoundRepository,
  home: string,
): string | undefined {
  const configured = entries.findLast(([key]) => key === 'core.hookspath')?.[1];
  if (configured === undefined) return join(commonDir, 'hooks');
  return configured === '' ? undefined : resolve(workTree, configured.replace(/^~(?=\/|$)/, home));
}

/**
 * Whether a hook of ours would check a commit.
 *
 * @param skips whether the commit has `--no-verify`, which leaves out pre-commit but not prepare-commit-msg
 */
export function looksAtCommits(
  entries: readonly SettingEntry[],
  found: FoundRepository,
  { home, skips }: { readonly home: string; readonly skips: boolean },
): boolean {
  if (parseSettings(entries).enabled === false) return false;
  const folder = hooksFolder(entries, found, home);
  const runs = (hook: GitHook) =>
    (folder !== undefined && isOurs(join(folder, hook))) || runsByConfig(entries, hook);
  return runs('prepare-commit-msg') || (!skips && runs('pre-commit'));
}

/** Whether a hook is ours, or is the framework pre-commit's, which keeps ours beside it and runs it first. */
function isOurs(path: string): boolean {
  try {
    if ((statSync(path).mode & 0o111) === 0) return false;
    return [path, `${path}.legacy`].some((file) => /git-handoff|git-hooks\//.test(textOf(file)));
  } catch {
    return false;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function runsByConfig(entries: readonly SettingEntry[], hook: GitHook): boolean {
  const last = (name: string) => entries.findLast(([key]) => key === `hook.handoff-${hook}.${name}`)?.[1];
  const isOff = /^(?:false|no|off|0)$/i.test(last('enabled') ?? '');
  return !isOff && (last('command') ?? '') !== '' && (last('event') ?? '') !== '';
}

/** Whether `init` installed git hooks in this repository. */
export function hasInstalledHooks(commonDir: string): boolean {
  try {
    const { files } = JSON.parse(readFileSync(join(commonDir, 'handoff', 'install.json'), 'utf8')) as {
      files: unknown;
    };
    const listed = Array.isArray(files) ? (files as readonly { role?: unknown }[]) : [];
    return listed.some(({ role }) => role === 'git-hook');
  } catch {
    return false;
  }
}

/** Whether a path is one of our hooks; with `whole`, also whether it is a folder that holds them. */
export function isHookPath(path: string, folder: string, whole: boolean): boolean {
  if (GIT_HOOKS.some((hook) => path === join(folder, hook) || path === join(folder, `${hook}.legacy`)))
    return true;
  return whole && `${folder}/`.startsWith(`${path}/`);
}
