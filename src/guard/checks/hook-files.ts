import { dirname, join, resolve } from 'node:path';
import { peerNames } from '../../domain/names.ts';
import { escapeLine } from '../../domain/messages.ts';
import { discoverRepository, type FoundRepository } from '../../git/discover.ts';
import { readText, realPath, statOf } from '../../host/disk.ts';
import type { PathEffect } from '../../shell/effects.ts';
import {
  type Call,
  type SessionCall,
  type TreeCall,
  isInTree,
  type Finding,
  type Refusal,
  refusedFor,
  toolPath,
  toolPaths,
} from '../call.ts';
import type { CallFacts } from '../facts.ts';
import type { People } from '../presence.ts';
import { callsAt } from '../visits.ts';
import { typedAt } from './typed.ts';
import { type SettingEntry, parseSettings } from '../../domain/settings.ts';
import { GIT_HOOKS, type GitHook } from '../../install/hook-block.ts';

/**
 * Refuses to let a file tool change one of our git hooks or git's configuration, in any repository in which another session
 * is at work: the hooks keep that session's work out of others' commits. A lone session may change them.
 */
export async function hookFiles(call: Call, { git }: CallFacts): Promise<readonly Finding[]> {
  const { session, event } = call;
  if (session === undefined) return [];
  const by = event.toolName ?? 'the tool';
  const paths = toolPaths(event.tool ?? { kind: 'other' }).map((path) => toolPath(call, path));
  const effects = paths.map((path): PathEffect => ({ path, kind: 'write', follows: true, by }));
  for (const there of await callsOf({ ...call, session }, paths)) {
    const written = hookFile(there, effects);
    const change = written === undefined ? undefined : `${escapeLine(by)} on ${escapeLine(written.path)}`;
    const refusal = await hookRefusal(there, change, () => git.people(there));
    if (refusal !== undefined) return [refusal];
  }
  return [];
}

/** Returns the first of the paths that is one of our hooks or the repository's configuration. */
export function hookFile(
  { tree, entries, machine }: TreeCall,
  paths: readonly PathEffect[],
): PathEffect | undefined {
  const folder = hooksFolder(entries, tree, machine.home);
  const hooks = folder === undefined ? undefined : realPath(folder);
  const config = [
    join(realPath(tree.commonDir), 'config'),
    join(realPath(tree.commonDir), 'config.worktree'),
    join(realPath(tree.gitDir), 'config.worktree'),
  ];
  return paths.find(({ path, kind, follows, by }) => {
    const real = realPath(path, follows);
    if (hooks !== undefined && isHookPath(real, hooks, kind === 'remove')) return true;
    return by !== 'git config' && config.includes(real);
  });
}

/** Writes the refusal of a change; `undefined` for a session that is alone. */
export async function hookRefusal(
  call: TreeCall,
  change: string | undefined,
  people: () => Promise<People>,
): Promise<Refusal | undefined> {
  if (change === undefined) return undefined;
  const beside = await people();
  const owners = beside.live.map(({ record }) => record.session);
  if (owners.length === 0) return undefined;
  const text =
    `${change} would keep git-handoff's hooks from judging commits, and ${areNamed(owners, beside)} at work in this repository. ` +
    `Nothing was changed. To commit your own changes: ${typedAt(call).git} handoff commit -m '<message>'. ` +
    'Only a person may change the hooks, in their own terminal.';
  return refusedFor(text, owners);
}

/** "claude aaaaaaaa is". */
export function areNamed(peers: readonly string[], people: People): string {
  return `${peerNames(peers, people)} ${peers.length === 1 ? 'is' : 'are'}`;
}

/** Returns the call as it concerns each repository with git-handoff: the one in which it is made, and those of the paths. */
async function callsOf(call: SessionCall, paths: readonly string[]): Promise<TreeCall[]> {
  const found = paths.flatMap((path) => {
    const real = realPath(path, true);
    const inside = real.lastIndexOf('/.git/');
    return discoverRepository(inside < 0 ? dirname(real) : real.slice(0, inside)) ?? [];
  });
  const others = found.filter(({ commonDir }) => commonDir !== call.repository?.commonDir);
  const own = isInTree(call) ? [call] : [];
  if (others.length === 0) return own;
  return [...own, ...(await callsAt(call, others))];
}

/* The rest of this file finds out from git's configuration whether git runs our hooks. */

/** Returns the folder whose hooks git runs; `undefined` if git runs none. */
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
 * Whether one of our hooks would check a commit.
 *
 * @param skips whether the commit has `--no-verify`, which skips pre-commit but not prepare-commit-msg
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

/** Whether git runs our hook through this file: it has our lines, or the pre-commit framework keeps ours as `.legacy`. */
function isOurs(path: string): boolean {
  const isRun = ((statOf(path)?.mode ?? 0) & 0o111) !== 0;
  return isRun && [path, `${path}.legacy`].some((file) => /git-handoff|git-hooks\//.test(readText(file)));
}

function runsByConfig(entries: readonly SettingEntry[], hook: GitHook): boolean {
  const last = (name: string) => entries.findLast(([key]) => key === `hook.handoff-${hook}.${name}`)?.[1];
  const isOff = /^(?:false|no|off|0)$/i.test(last('enabled') ?? '');
  return !isOff && (last('command') ?? '') !== '' && (last('event') ?? '') !== '';
}

/** Returns the git hooks that `init`'s receipt names; the receipt may be damaged. */
export function installedHooks(commonDir: string): string[] {
  try {
    const { files } = JSON.parse(readText(join(commonDir, 'handoff', 'install.json'))) as { files: unknown };
    const listed = Array.isArray(files) ? (files as readonly { path?: unknown; role?: unknown }[]) : [];
    return listed.flatMap(({ path, role }) =>
      role === 'git-hook' && typeof path === 'string' ? [path] : [],
    );
  } catch {
    return [];
  }
}

/** Whether a path is one of our hooks or, with `whole`, a folder that holds them. */
export function isHookPath(path: string, folder: string, whole: boolean): boolean {
  if (GIT_HOOKS.some((hook) => path === join(folder, hook) || path === join(folder, `${hook}.legacy`)))
    return true;
  return whole && `${folder}/`.startsWith(`${path}/`);
}
