import { join } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import { type SettingEntry, parseSettings } from '../../domain/settings.ts';
import type { SessionId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { type FoundRepository, discoverRepository } from '../../git/discover.ts';
import { configUnder, plainConfig } from '../../git/config-under.ts';
import { realPath } from '../../host/disk.ts';
import { isInitialised, knownWorktreeId } from '../../host/folders.ts';
import type { GitVerbCall, ShellEffects } from '../../shell/effects.ts';
import { type ConfigChange, commitsBy, configChanges, isJudging } from '../../shell/hook-ways.ts';
import { neighbours } from '../peers.ts';
import type { Scene } from '../scene.ts';
import { commitInstead } from './commit-instead.ts';
import { hookFile, hookRefusal, named } from './hook-files.ts';
import { hasInstalledHooks, hooksFolder, isHookPath, looksAtCommits } from './hook-state.ts';
import { typedAt } from './typed.ts';

/**
 * Refuses what would make a commit that no hook of ours looks at, or keep the hooks from looking at later ones, while
 * another session is at work. Alone it is allowed.
 */
export async function waysAround(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
): Promise<Verdict | undefined> {
  for (const call of scene.dialect.runsGitHooks ? commitsBy(effects.gitCalls) : []) {
    const refusal = await refuseUnchecked(scene, session, call, effects);
    if (refusal !== undefined) return refusal;
  }
  return hookRefusal(scene, session, hookChange(scene, effects));
}

/** A commit that goes past the hooks, in a worktree in which others are at work. */
async function refuseUnchecked(
  scene: Scene,
  session: SessionId,
  call: GitVerbCall,
  { gitCalls }: ShellEffects,
): Promise<Verdict | undefined> {
  // In a folder that nobody knows, after a repository was made: most probably in that one.
  if (call.cwd === undefined && gitCalls.some(({ verb }) => verb === 'init' || verb === 'clone'))
    return undefined;
  const cwd = call.cwd ?? scene.cwd;
  const found = discoverRepository(realPath(cwd));
  if (found === undefined || !isInitialised(found.commonDir)) return undefined;
  const why = await whyUnchecked(scene, call, cwd, found);
  if (why === undefined) return undefined;
  const { live } = await neighbours(scene, found, session);
  const here = knownWorktreeId(found.gitDir);
  const peers = live.filter(({ worktreeId }) => worktreeId === here).map(({ record }) => record.session);
  if (peers.length === 0) return undefined;
  return {
    kind: 'deny',
    reason:
      `No hook of git-handoff would look at this commit: ${escapeLine(why)}. Nothing would keep what others have changed ` +
      `out of it, and ${named(peers)} at work in this worktree. Nothing was run. Commit your own changes with this ` +
      `instead: ${commitInstead(call, { git: typedAt(scene, found).git, commonDir: found.commonDir, folder: cwd })}`,
    owners: peers,
  };
}

async function whyUnchecked(
  scene: Scene,
  { words, overrides }: GitVerbCall,
  cwd: string,
  found: FoundRepository,
): Promise<string | undefined> {
  const time = scene.budget.left();
  const isHere = found.gitDir === scene.place?.gitDir;
  const plain = isHere ? scene.entries : await plainConfig(cwd, time);
  const how = {
    home: scene.home,
    skips: words.some((word) => /^(?:--no-verify|-[a-zA-Z]*n[a-zA-Z]*)$/.test(word ?? '')),
  };
  const usually = looksAtCommits(plain, found, how);
  if (overrides === undefined || !usually) {
    const isLost = !usually && hasInstalledHooks(found.commonDir);
    return isLost ? lostBy(plain, found, scene.home) : undefined;
  }
  const seen = await configUnder(cwd, overrides, time);
  if (seen === undefined) return 'it is told settings that cannot be read from the command';
  const changed = changedKey(plain, seen);
  if (changed !== undefined && changed !== 'core.hookspath') return `it is told another ${changed}`;
  return looksAtCommits(seen, found, how) ? undefined : 'it is told another core.hooksPath';
}

/** Why the hooks that `init` made do not run. */
function lostBy(entries: readonly SettingEntry[], found: FoundRepository, home: string): string {
  const folder = hooksFolder(entries, found, home);
  if (folder === undefined) return 'core.hooksPath is empty';
  if (parseSettings(entries).enabled === false) return 'handoff.enabled is false';
  return folder === join(found.commonDir, 'hooks')
    ? `those in ${folder} are gone, changed or not executable (git handoff doctor)`
    : `core.hooksPath is ${folder} (git handoff doctor)`;
}

/** The first judging setting of ours that differs. */
function changedKey(plain: readonly SettingEntry[], seen: readonly SettingEntry[]): string | undefined {
  const last = (entries: readonly SettingEntry[], key: string) =>
    entries.findLast(([name]) => name === key)?.[1];
  const keys = new Set([...plain, ...seen].map(([key]) => key).filter((key) => key.startsWith('handoff.')));
  return [...keys].find((key) => isJudging(key) && last(plain, key) !== last(seen, key));
}

/** What in a command changes the hooks, or the settings by which they judge; in words. */
function hookChange(scene: Scene, effects: ShellEffects): string | undefined {
  const { place, entries, home } = scene;
  if (place === undefined) return undefined;
  if (effects.handoffCalls.some(({ verb, words }) => verb === 'uninstall' && !reads(words)))
    return '`git handoff uninstall`';
  for (const call of effects.gitCalls) {
    const isOurs = discoverRepository(realPath(call.cwd ?? scene.cwd))?.commonDir === place.commonDir;
    const change = configChanges(call).find((one) => (isOurs || one.isGlobal) && matters(one, entries));
    if (change !== undefined) return `\`git config ${escapeLine(change.key)}\``;
  }
  const written = hookFile(scene, effects.paths);
  if (written !== undefined) return `${escapeLine(written.by)} on ${escapeLine(written.path)}`;
  const folder = hooksFolder(entries, place, home);
  const hooks = folder === undefined ? undefined : realPath(folder);
  const isHook = (path: string) => hooks !== undefined && isHookPath(realPath(path), hooks, true);
  const mode = effects.modes.find(({ path, grants }) => !grants && isHook(path));
  return mode === undefined ? undefined : `a change of the mode of ${escapeLine(mode.path)}`;
}

const reads = (words: readonly (string | undefined)[]) =>
  words.some((word) => word === '--dry-run' || word === '-h' || word === '--help');

/** A value that counts already changes nothing, and a repository may be switched on. */
function matters({ key, value }: ConfigChange, entries: readonly SettingEntry[]): boolean {
  const name = key.toLowerCase();
  const present = entries.findLast(([known]) => known === name);
  if (value === undefined) return present !== undefined || !name.includes('.');
  return present?.[1] !== value && !(name === 'handoff.enabled' && /^(?:true|yes|on|1)$/i.test(value));
}
